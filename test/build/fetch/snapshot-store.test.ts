// The snapshot store: old or new, never between. A kill is tried at every single step of putting a
// set in place, by stopping there and reading as the next run would.

import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Day } from '../../../src/base/day.ts'
import type { SnapshotRecord, SnapshotSet } from '../../../build/fetch/snapshot-record.ts'
import { formatSnapshotSet, parseSnapshotSet } from '../../../build/fetch/snapshot-record.ts'
import {
  commitSnapshotSet,
  readStoredSnapshots,
  recoverSnapshots,
} from '../../../build/fetch/snapshot-store.ts'
import { newFolder, today } from './site.ts'

function record(content: string, day: Day = today): SnapshotRecord {
  return {
    sha256: createHash('sha256').update(content).digest('hex'),
    bytes: Buffer.byteLength(content),
    day,
    from: 'publisher',
    url: 'https://a.example/',
    etag: '"1"',
    fetchedAt: '2026-08-22T12:00:00.000Z',
  }
}

/** A folder with feed `f`: the old set in place, the new one's files under temporary names. */
async function newStore(): Promise<{
  readonly folder: string
  readonly home: string
  readonly next: SnapshotSet
}> {
  const folder = newFolder()
  const home = join(folder, 'f')
  mkdirSync(home)
  writeFileSync(join(home, 'a.txt'), 'old a')
  writeFileSync(join(home, 'b.txt'), 'same')
  writeFileSync(join(home, 'gone.txt'), 'old gone')
  const yesterday = (today - 1) as Day
  const old = ['a.txt', 'b.txt', 'gone.txt'].map(
    (name) => [name, record(readFileSync(join(home, name), 'utf8'), yesterday)] as const,
  )
  await commitSnapshotSet(folder, 'f', Object.fromEntries(old))
  writeFileSync(join(home, '.a.txt.1.tmp'), 'new a')
  writeFileSync(join(home, '.c.txt.1.tmp'), 'new c')
  const next = {
    'a.txt': { ...record('new a'), temporary: '.a.txt.1.tmp' },
    'b.txt': record('same'),
    'c.txt': { ...record('new c'), temporary: '.c.txt.1.tmp' },
  }
  return { folder, home, next }
}

const oldContent = { 'a.txt': 'old a', 'b.txt': 'same', 'gone.txt': 'old gone' }
const newContent = { 'a.txt': 'new a', 'b.txt': 'same', 'c.txt': 'new c' }

async function contentOf(folder: string): Promise<Record<string, string>> {
  const problems: string[] = []
  const stored = await readStoredSnapshots(folder, 'f', (text) => problems.push(text))
  expect(problems).toEqual([])
  expect(new Set(stored.map(({ day }) => day)).size).toBe(1)
  return Object.fromEntries(stored.map((each) => [each.file, readFileSync(each.path, 'utf8')]))
}

describe('commitSet', () => {
  it('puts a set in place and leaves nothing else', async () => {
    const { folder, home, next } = await newStore()
    expect(await contentOf(folder)).toEqual(oldContent)
    await commitSnapshotSet(folder, 'f', next)
    expect(await contentOf(folder)).toEqual(newContent)
    expect(readdirSync(home).sort()).toEqual(['a.txt', 'b.txt', 'c.txt', 'snapshots.json'])
    const [first] = await readStoredSnapshots(folder, 'f')
    expect(first).toEqual({
      feedId: 'f',
      file: 'a.txt',
      path: join(home, 'a.txt'),
      ...record('new a'),
    })
  })

  // The steps of commitSet, by hand, so that it can be stopped between any two.
  const steps: readonly ((home: string, next: SnapshotSet) => void)[] = [
    (home, next) =>
      writeFileSync(join(home, '.snapshots.next.json.9.tmp'), formatSnapshotSet(next)),
    (home) =>
      renameSync(join(home, '.snapshots.next.json.9.tmp'), join(home, 'snapshots.next.json')),
    (home) => renameSync(join(home, '.a.txt.1.tmp'), join(home, 'a.txt')),
    (home) => renameSync(join(home, '.c.txt.1.tmp'), join(home, 'c.txt')),
    (home, next) => {
      const placed = Object.entries(next).map(([name, one]) => {
        return [name, { ...one, temporary: undefined }]
      })
      const set = Object.fromEntries(placed) as SnapshotSet
      writeFileSync(join(home, 'snapshots.json'), formatSnapshotSet(set))
    },
    (home) => rmSync(join(home, 'snapshots.next.json')),
    (home) => rmSync(join(home, 'gone.txt')),
  ]

  it.each(steps.map((_, index) => index))('survives a kill before step %i', async (index) => {
    const { folder, home, next } = await newStore()
    for (const step of steps.slice(0, index)) step(home, next)
    const expected = index < 2 ? oldContent : newContent
    // Read as it is, by an offline build that may write nothing …
    expect(await contentOf(folder)).toEqual(expected)
    // … and after the next run has cleared up.
    await recoverSnapshots(folder, 'f')
    expect(await contentOf(folder)).toEqual(expected)
    const left = readdirSync(home).filter((name) => /tmp$|next/.test(name))
    expect(left).toEqual([])
  })

  it('falls back to the old set where the new one is not whole', async () => {
    const { folder, home, next } = await newStore()
    steps[0]?.(home, next)
    steps[1]?.(home, next)
    writeFileSync(join(home, '.c.txt.1.tmp'), 'new?c')
    expect(await contentOf(folder)).toEqual(oldContent)
    await recoverSnapshots(folder, 'f')
    expect(await contentOf(folder)).toEqual(oldContent)
    expect(existsSync(join(home, 'snapshots.next.json'))).toBe(false)
  })
})

describe('readStored', () => {
  it('says nothing of a feed that was never stored', async () => {
    const problems: string[] = []
    expect(await readStoredSnapshots(newFolder(), 'f', (text) => problems.push(text))).toEqual([])
    expect(problems).toEqual([])
  })

  it.each([
    ['changed', (path: string) => writeFileSync(path, 'olD a')],
    ['longer', (path: string) => writeFileSync(path, 'old a\n')],
    ['removed', (path: string) => rmSync(path)],
    ['a folder', (path: string) => (rmSync(path), mkdirSync(path))],
  ])('does not trust a file that was %s', async (_what, damage) => {
    const { folder, home } = await newStore()
    damage(join(home, 'a.txt'))
    const problems: string[] = []
    const stored = await readStoredSnapshots(folder, 'f', (text) => problems.push(text))
    expect(stored.map(({ file }) => file)).toEqual(['b.txt', 'gone.txt'])
    expect(problems).toEqual([expect.stringContaining(join(home, 'a.txt'))])
  })

  it.each(['', '{', '[]', '{"version":2,"files":{}}', '{"version":1,"files":{"../x":{}}}'])(
    'does not trust records like %j',
    async (text) => {
      const { folder, home } = await newStore()
      writeFileSync(join(home, 'snapshots.json'), text)
      const problems: string[] = []
      expect(await readStoredSnapshots(folder, 'f', (each) => problems.push(each))).toEqual([])
      expect(problems).toHaveLength(1)
    },
  )

  it('sees only whole sets while another puts sets in place', async () => {
    const { folder, home } = await newStore()
    const writes = { stop: false }
    const writing = (async () => {
      for (let turn = 0; !writes.stop; turn++) {
        const content = `turn ${turn}`
        const set = ['a.txt', 'b.txt'].map((name) => {
          const temporary = `.${name}.${turn}.tmp`
          writeFileSync(join(home, temporary), content)
          return [name, { ...record(content, (today + turn) as Day), temporary }]
        })
        await commitSnapshotSet(folder, 'f', Object.fromEntries(set) as SnapshotSet)
      }
    })()
    for (let turn = 0; turn < 100; turn++) {
      const problems: string[] = []
      const stored = await readStoredSnapshots(folder, 'f', (text) => problems.push(text))
      expect(problems).toEqual([])
      expect(new Set(stored.map(({ day }) => day)).size).toBe(1)
      expect(stored.length).toBeGreaterThanOrEqual(2)
    }
    writes.stop = true
    await writing
  })
})

describe('record', () => {
  it('reads what it writes, and none that lacks a member', () => {
    const set = { 'a.txt': { ...record('a'), temporary: '.a.tmp' } }
    expect(parseSnapshotSet(formatSnapshotSet(set))).toEqual(set)
    const { files } = JSON.parse(formatSnapshotSet(set)) as { files: Record<string, object> }
    for (const member of ['sha256', 'bytes', 'day', 'from', 'url', 'fetchedAt']) {
      const short = { ...files['a.txt'], [member]: undefined }
      expect(
        parseSnapshotSet(JSON.stringify({ version: 1, files: { 'a.txt': short } })),
      ).toBeUndefined()
    }
  })
})

describe('a copy of the store', () => {
  it('is a store', async () => {
    const { folder } = await newStore()
    const copy = join(newFolder(), 'copy')
    cpSync(folder, copy, { recursive: true })
    expect(await contentOf(copy)).toEqual(oldContent)
  })
})
