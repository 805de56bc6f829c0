// A small table from its publication to a server: the same bytes, counted, and none that the
// signed index does not name.

import { mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { type ReleaseSource, openReleaseSource } from '../../../src/publish/fetch/release-source.ts'
import { createSigningKey, readSigningKey } from '../../../src/publish/form/signing-key.ts'
import { openFolderPlace } from '../../../src/publish/places/folder-place.ts'
import { publishRollback, publishTable } from '../../../src/publish/publish-table.ts'
import { joinTableParts } from '../../../src/publish/pull/join-table-parts.ts'
import { newTable, otherTable } from '../../serve/small-tables.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-join-'))
const at = join(folder, 'place')
createSigningKey(join(folder, 'key.pem'))
const table = newTable()
const options = {
  place: openFolderPlace(at),
  key: readSigningKey(join(folder, 'key.pem')),
  stages: [],
  keepMs: 86_400_000,
  force: false,
  now: Date.now(),
}
const published = await publishTable(table, options)
const { release } = published
const source = openReleaseSource(pathToFileURL(at).href)

function pull(more: { readonly source?: ReleaseSource; readonly release?: typeof release } = {}) {
  const to = mkdtempSync(join(folder, 'pulled-'))
  const job = { source, release, near: [], parts: join(to, 'parts'), folder: to, name: 'table' }
  return { file: join(to, 'table'), moved: joinTableParts({ ...job, ...more }) }
}

it('is the same bytes, each part once', async () => {
  const { file, moved } = pull()
  // The index is a part, too.
  expect((await moved).parts).toBe(readdirSync(join(at, 'parts')).length)
  expect((await moved).reusedBytes).toBe(0)
  expect(readFileSync(file).equals(readFileSync(table))).toBe(true)
})

it('is not made of other bytes than the hash of a part says, though they are as many', async () => {
  const forging: ReleaseSource = {
    get: async (name, how) => {
      const got = await source.get(name, how)
      if (got.bytes === undefined) return got
      const bytes = Buffer.from(got.bytes)
      bytes[bytes.length - 1]! ^= 1
      return { ...got, bytes }
    },
  }
  const message = expect.stringMatching(/^.*the part \w+ does not match its hash/)
  await expect(pull({ source: forging }).moved).rejects.toMatchObject({
    code: 'pull_part',
    message,
  })
})

it('has as many bytes as the release says', async () => {
  const bytes = release.bytes + 8
  const message = expect.stringContaining(`states ${release.bytes} bytes, not ${bytes}`)
  const pulled = pull({ release: { ...release, bytes } })
  await expect(pulled.moved).rejects.toMatchObject({ code: 'pull_part', message })
})

it('names the table that was withdrawn by going back', async () => {
  const second = await publishTable(otherTable('2026-08-23'), options)
  const { manifest } = await publishRollback(release.id, options)
  expect(manifest.withdrawn).toEqual([second.release.id])
})
