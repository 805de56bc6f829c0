// A bucket of an S3-compatible server (s3rver, which checks signatures): what is published there
// is what comes from there, and an error of the store says its code.

import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  type Service,
  startObjectStore,
  storeEnvironment,
} from '../../../bench/faults/fleet/services.ts'
import { openReleaseSource } from '../../../src/publish/fetch/release-source.ts'
import { createSigningKey, readSigningKey } from '../../../src/publish/form/signing-key.ts'
import { openObjectPlace } from '../../../src/publish/places/object-place.ts'
import { publishTable } from '../../../src/publish/publish-table.ts'
import { joinTableParts } from '../../../src/publish/pull/join-table-parts.ts'
import { newTable, otherTable } from '../../serve/small-tables.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-objects-'))
createSigningKey(join(folder, 'key.pem'))
const key = readSigningKey(join(folder, 'key.pem'))
let store: Service

async function startStore(): Promise<void> {
  store = await startObjectStore(join(folder, 'store'))
  const environment = storeEnvironment(store.port)
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
}

const url = 's3://tables/world/daily'
const options = () => ({
  place: openObjectPlace(url),
  key,
  stages: [],
  keepMs: 86_400_000,
  force: false,
  now: Date.now(),
})

describe('published tables', () => {
  beforeAll(startStore)
  afterAll(async () => {
    await store.kill()
    vi.unstubAllEnvs()
  })

  it('a bucket gives back what was published, and is asked by its etag', async () => {
    const [first, second] = [newTable(), otherTable('2026-08-23')]
    await publishTable(first, options())
    const { release, moved } = await publishTable(second, options())
    const source = openReleaseSource(url)
    const job = { source, release, near: [first], parts: join(folder, 'p'), folder, name: 'out' }
    const pulled = await joinTableParts(job)
    expect(readFileSync(join(folder, 'out')).equals(readFileSync(second))).toBe(true)
    expect(pulled.bytes).toBe(moved.bytes)
    const { etag } = await source.get('manifest.json', { bytesMax: 1e6 })
    const again = await source.get('manifest.json', { bytesMax: 1e6, etag })
    expect(again.bytes).toBeUndefined()
  })

  it('a bucket loses what is old and unnamed', async () => {
    const place = openObjectPlace(url)
    await place.keep('parts/stray', Buffer.from('x'))
    const later = { ...options(), now: Date.now() + 4 * 86_400_000 }
    const { pruned } = await publishTable(otherTable('2026-08-25'), later)
    expect(pruned).toBeGreaterThan(0)
    expect((await place.list('parts')).map(({ name }) => name)).not.toContain('parts/stray')
  })

  it('a place says what the store says', async () => {
    const nowhere = openObjectPlace('s3://elsewhere')
    await expect(nowhere.keep('x', Buffer.from('x'))).rejects.toThrow(/NoSuchBucket/)
  })
})
