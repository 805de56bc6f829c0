// Publishing to a folder and putting together from it: the same bytes, few of them twice, and what
// becomes of tables that are replaced, withdrawn or broken off.

import {
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { openReleaseSource } from '../../src/publish/fetch/release-source.ts'
import { type Manifest, type Release, sealManifest } from '../../src/publish/form/manifest.ts'
import { createSigningKey, readSigningKey } from '../../src/publish/form/signing-key.ts'
import { openFolderPlace } from '../../src/publish/places/folder-place.ts'
import {
  type PublishOptions,
  publishRollback,
  publishTable,
} from '../../src/publish/publish-table.ts'
import { type PulledBytes, joinTableParts } from '../../src/publish/pull/join-table-parts.ts'
import { parseDay } from '../../src/base/day.ts'
import { chooseRelease } from '../../src/publish/pull/choose-release.ts'
import { newTable, otherTable } from '../serve/small-tables.ts'
import { listed } from '../table/small-table.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-publish-'))
createSigningKey(join(folder, 'key.pem'))
const key = readSigningKey(join(folder, 'key.pem'))
const dayMs = 86_400_000
const first = newTable()
const second = otherTable('2026-08-23', [...listed, ['9.9.9.10', 'proxy', '']])
let at = ''

beforeEach(() => {
  at = mkdtempSync(join(folder, 'place-'))
})

const options = (more: Partial<PublishOptions> = {}): PublishOptions => ({
  place: openFolderPlace(at),
  key,
  stages: [],
  keepMs: dayMs,
  force: false,
  now: Date.now(),
  ...more,
})

const partNames = (): readonly string[] => readdirSync(join(at, 'parts')).toSorted()

async function pull(
  release: Release,
  near: readonly string[] = [],
): Promise<PulledBytes & { readonly table: Buffer }> {
  const to = mkdtempSync(join(folder, 'pulled-'))
  const source = openReleaseSource(pathToFileURL(at).href)
  const job = { source, release, near, parts: join(to, 'parts'), folder: to, name: 'table' }
  const moved = await joinTableParts(job)
  return { ...moved, table: readFileSync(join(to, 'table')) }
}

describe('a published table', () => {
  it('is put together as it was, from nothing and from the table before it', async () => {
    const { release: one } = await publishTable(first, options())
    const whole = await pull(one)
    expect(whole.table.equals(readFileSync(first))).toBe(true)
    const { release: two, moved } = await publishTable(second, options({ now: Date.now() + 1 }))
    const part = await pull(two, [first])
    expect(part.table.equals(readFileSync(second))).toBe(true)
    expect(part.bytes).toBe(moved.bytes)
    expect(part.parts).toBe(moved.parts)
    expect(part.reusedBytes).toBeGreaterThan(0.8 * two.bytes)
    // Tables that are no tables give nothing, and harm nothing.
    const from = await pull(two, [join(at, 'manifest.json'), '/nowhere'])
    expect(from.reusedBytes).toBe(0)
    expect(from.table.equals(part.table)).toBe(true)
  })

  it('is of no day yet to come, unless by force', async () => {
    const now = Date.parse('2026-08-21T23:00:00Z')
    const early = publishTable(second, options({ now }))
    await expect(early).rejects.toMatchObject({
      code: 'publish_refused',
      message: expect.stringMatching(/is dated 2026-08-23, and today is 2026-08-21: .* --force /),
    })
    expect(readdirSync(at)).toEqual([])
    await publishTable(first, options({ now }))
    await publishTable(second, options({ now, force: true }))
  })

  it('is the same parts for the same table', async () => {
    await publishTable(first, options())
    const before = partNames()
    const again = await publishTable(first, options())
    expect(again.moved.parts).toBe(0)
    expect(partNames()).toEqual(before)
  })

  it('goes on where it was broken off', async () => {
    const { release } = await publishTable(first, options())
    const to = mkdtempSync(join(folder, 'broken-'))
    const inner = openReleaseSource(pathToFileURL(at).href)
    let left = 5
    const source: typeof inner = {
      get: (name, how) => {
        if (left-- === 0) return Promise.reject(new Error('cut'))
        return inner.get(name, how)
      },
    }
    const job = { release, near: [], parts: join(to, 'parts'), folder: to, name: 'table' }
    await expect(joinTableParts({ ...job, source })).rejects.toThrow('cut')
    expect(readdirSync(to)).toEqual(['parts'])
    const kept = readdirSync(join(to, 'parts')).length
    expect(kept).toBeGreaterThan(0)
    // One of what was kept has been damaged meanwhile.
    writeFileSync(join(to, 'parts', readdirSync(join(to, 'parts'))[0]!), 'x')
    const { parts } = await joinTableParts({ ...job, source: inner })
    const { parts: all } = await pull(release)
    expect(parts).toBe(all - kept + 1)
    expect(readdirSync(to)).toEqual(['table'])
  })

  it('has a manifest that its key alone continues', async () => {
    await publishTable(first, options())
    createSigningKey(join(at, 'other.pem'))
    const other = readSigningKey(join(at, 'other.pem'))
    await expect(publishTable(second, options({ key: other }))).rejects.toThrow(/Cannot continue/)
    await publishTable(second, options({ key: other, force: true }))
  })

  it('is not replaced by an older one, but withdrawn by going back', async () => {
    await publishTable(first, options())
    const { manifest: before } = await publishTable(second, options())
    await expect(publishTable(first, options())).rejects.toThrow(/older than/)
    const [two, one] = before.releases
    await expect(publishRollback('20260101-000000000000', options())).rejects.toThrow(/It has:/)
    const { manifest } = await publishRollback(one!.id, options())
    expect(manifest.releases.map(({ id }) => id)).toEqual([one!.id])
    expect(manifest.withdrawn).toEqual([two!.id])
    expect(manifest.serial).toBeGreaterThan(before.serial)
    await expect(publishTable(second, options())).rejects.toThrow(/withdrawn/)
    const { manifest: again } = await publishTable(second, options({ force: true }))
    expect(again.withdrawn).toEqual([])
  })

  it('is replaced by an older one by force, which withdraws it, so that servers go back', async () => {
    const { release: one } = await publishTable(first, options())
    const { release: two } = await publishTable(second, options())
    const { manifest, release } = await publishTable(first, options({ force: true }))
    expect(release.id).toBe(one.id)
    expect(manifest.releases.map(({ id }) => id)).toEqual([one.id])
    expect(manifest.withdrawn).toEqual([two.id])
    const current = { id: two.id, asOf: parseDay(two.as_of)! }
    const ground = { current, machine: 'one', now: Date.now() }
    expect(chooseRelease(manifest, ground)).toEqual({ kind: 'take', release })
  })

  it('takes its parts with it, when it is old and no release names them', async () => {
    await publishTable(first, options())
    const third = otherTable('2026-08-24', [])
    const old = new Date(Date.now() - 3 * dayMs)
    const stray = join(at, 'parts', '.stray.tmp')
    writeFileSync(stray, '')
    for (const name of partNames()) utimesSync(join(at, 'parts', name), old, old)
    const now = Date.now()
    expect((await publishTable(second, options())).pruned).toBe(1)
    // The first release stays for its time, and is gone with the next table after it.
    const { pruned, manifest } = await publishTable(third, options({ now: now + 4 * dayMs }))
    expect(manifest.releases).toHaveLength(2)
    expect(pruned).toBeGreaterThan(0)
    for (const release of manifest.releases) await pull(release)
  })

  it('leaves those of other formats as they are', async () => {
    const { manifest } = await publishTable(first, options())
    const [own] = manifest.releases
    const later = { ...own!, id: '20260825-0123456789ab', format: { major: 99, minor: 0 } }
    const both = { ...manifest, releases: [later, own!] }
    writeFileSync(join(at, 'manifest.json'), sealManifest(both, key))
    const { manifest: after } = await publishTable(second, options())
    expect(after.releases.map(({ format }) => format.major)).toEqual([1, 99, 1])
    expect(after.withdrawn).toEqual([])
  })

  it('stays, where another publisher was there meanwhile, with a higher serial', async () => {
    await publishTable(first, options())
    const third = otherTable('2026-08-24', [])
    const place = openFolderPlace(at)
    let other: Manifest | undefined
    const meanwhile = (table: string): typeof place => ({
      ...place,
      keep: async (name, bytes) => {
        other ??= (await publishTable(table, options({ now: Date.now() + 5000 }))).manifest
        await place.keep(name, bytes)
      },
    })
    const { manifest } = await publishTable(third, options({ place: meanwhile(second) }))
    const days = manifest.releases.map((release) => release.as_of)
    expect(days).toEqual(['2026-08-24', '2026-08-23', '2026-08-22'])
    expect(manifest.serial).toBeGreaterThan(other!.serial)
    // And nothing older than what the other one has published.
    other = undefined
    const late = otherTable('2026-08-25', [])
    const latest = otherTable('2026-08-26', [])
    await expect(publishTable(late, options({ place: meanwhile(latest) }))).rejects.toThrow(/older/)
  })

  it('leaves a table of another format, however many come after it', async () => {
    const { manifest } = await publishTable(first, options())
    const [own] = manifest.releases
    const many = Array.from({ length: 15 }, (_, i) => ({
      ...own!,
      id: `202608${10 + i}-0123456789ab`,
    }))
    const foreign = { ...own!, id: '20260809-0123456789ab', format: { major: 99, minor: 0 } }
    writeFileSync(
      join(at, 'manifest.json'),
      sealManifest({ ...manifest, releases: [...many, foreign] }, key),
    )
    const { manifest: after } = await publishTable(second, options())
    expect(after.releases).toHaveLength(16)
    expect(after.releases.at(-1)?.format.major).toBe(99)
  })

  it('is made whole where parts of it were lost or torn, by publishing it again', async () => {
    const { release } = await publishTable(first, options())
    const names = partNames().filter((name) => !release.index.sha256.endsWith(name))
    const all = names.length
    rmSync(join(at, 'parts', names[0]!))
    writeFileSync(join(at, 'parts', names[1]!), '')
    await expect(pull(release)).rejects.toThrow(/part|size|status/)
    const { moved, release: again } = await publishTable(first, options())
    expect(moved.parts).toBe(2)
    expect((await pull(again)).table.equals(readFileSync(first))).toBe(true)
    // By force all of them, for what has its length may be torn, too.
    expect((await publishTable(first, options({ force: true }))).moved.parts).toBe(all)
  })

  it('keeps its stages where a build makes it again', async () => {
    const stages = [{ percent: 10, afterMs: 0 }]
    const { release } = await publishTable(first, options({ stages }))
    const later = { stages, now: Date.now() + dayMs }
    const kept = await publishTable(first, options({ ...later, keepStages: true }))
    expect(kept.release.stages).toEqual(release.stages)
    const anew = await publishTable(first, options(later))
    expect(anew.release.stages[0]!.from).toBe(later.now)
  })

  it('that is published again leaves the one before it to go back to, however old that is', async () => {
    const now = Date.now()
    const { release } = await publishTable(first, options({ now: now - 20 * dayMs }))
    await publishTable(second, options({ now, stages: [{ percent: 10, afterMs: 0 }] }))
    const { manifest } = await publishTable(second, options({ now: now + 1 }))
    expect(manifest.releases.map(({ as_of: day }) => day)).toEqual(['2026-08-23', '2026-08-22'])
    await publishRollback(release.id, options({ now: now + 2 }))
    await pull(release)
  })

  it('goes to no place where a file lies, which is said before anything is built', () => {
    writeFileSync(join(at, 'file'), '')
    symlinkSync('loop', join(at, 'loop'))
    for (const path of [join(at, 'file'), join(at, 'file', 'below'), join(at, 'loop')]) {
      expect(() => openFolderPlace(path)).toThrow(/cannot be a folder/)
    }
  })

  it('is published also where old parts cannot be removed', async () => {
    await publishTable(first, options())
    const old = new Date(Date.now() - 3 * dayMs)
    writeFileSync(join(at, 'parts', 'stray'), '')
    utimesSync(join(at, 'parts', 'stray'), old, old)
    const place = { ...openFolderPlace(at), remove: () => Promise.reject(new Error('status 403')) }
    const { release, pruned, pruneTrouble } = await publishTable(second, options({ place }))
    expect({ pruned, pruneTrouble }).toEqual({ pruned: 0, pruneTrouble: 'status 403' })
    await pull(release)
  })

  it('is published also where old parts take their time to go; the next run goes on', async () => {
    await publishTable(first, options())
    const old = new Date(Date.now() - 3 * dayMs)
    for (const name of ['one', 'two']) {
      writeFileSync(join(at, 'parts', name), '')
      utimesSync(join(at, 'parts', name), old, old)
    }
    const { remove, ...place } = openFolderPlace(at)
    const now = performance.now.bind(performance)
    const removeSlowly = async (name: string): Promise<void> => {
      await remove(name)
      performance.now = () => now() + 300_001
    }
    try {
      const { pruned } = await publishTable(
        second,
        options({ place: { ...place, remove: removeSlowly } }),
      )
      expect(pruned).toBe(1)
    } finally {
      performance.now = now
    }
    expect((await publishTable(second, options())).pruned).toBe(1)
  })

  it('that was swapped for another one in the place is not put together', async () => {
    const { release: one } = await publishTable(first, options())
    const copy = `${at}.copy`
    cpSync(at, copy, { recursive: true })
    const { release: two } = await publishTable(second, options())
    rmSync(join(at, 'parts', two.index.sha256))
    cpSync(join(copy, 'parts', one.index.sha256), join(at, 'parts', two.index.sha256))
    await expect(pull(two)).rejects.toMatchObject({
      code: expect.stringMatching(/^pull_(part|size)$/),
    })
    // Signed, but for other bytes: a publisher gone wrong.
    await expect(pull({ ...two, index: one.index })).rejects.toMatchObject({
      code: expect.stringMatching(/^pull_(part|table)$/),
    })
  })
})
