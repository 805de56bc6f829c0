// An import that is killed at random points leaves whole days and nothing half-written; run again,
// it completes to the same content. IPRISK_KILL_RUNS asks for more runs than the 20 of every test.

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { contentOf } from '../../build/history/content.ts'
import { dayPath, storedDays, storedFeeds } from '../../build/history/days.ts'
import { openDuck } from '../../build/history/duck.ts'
import { readRows, readStatements } from '../../build/history/file.ts'
import { formatDay } from '../../src/base/day.ts'
import { newRandom } from '../../bench/random.ts'
import { today } from './sample.ts'

const runs = Number(process.env['IPRISK_KILL_RUNS'] ?? 20)
const child = fileURLToPath(new URL('../../dist/test/history/import-child.js', import.meta.url))
const feedIds = ['vpn-x4b', 'tor-exits-onionoo', 'block-threatfox'] as const
const dayCount = 12
const random = newRandom(11)

let folder = ''
let from = ''
let expected: ReadonlyMap<string, string>
let whole: Awaited<ReturnType<typeof run>>

/** Runs the import; kills it after so many lines of output and some milliseconds more. */
async function run(store: string, kill?: { readonly lines: number; readonly ms: number }) {
  const started = spawn(process.execPath, [child, from, store], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let lines = 0
  let killing: Promise<void> | undefined
  started.stdout.on('data', (chunk: Buffer) => {
    lines += chunk.toString().split('\n').length - 1
    if (kill === undefined || lines < kill.lines) return
    killing ??= sleep(kill.ms).then(() => void started.kill('SIGKILL'))
  })
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    started.on('close', (code, signal) => resolve([code, signal]))
  })
  await killing
  return { code, signal }
}

/** Hash by `feed/day` of every day's file, each read whole and recounted. */
async function contentsOf(store: string): Promise<ReadonlyMap<string, string>> {
  const contents = new Map<string, string>()
  const duck = await openDuck({ spill: folder })
  try {
    for (const feed of await storedFeeds(store)) {
      for (const day of await storedDays(store, feed)) {
        const path = dayPath(store, feed, day)
        const { hash, rows } = contentOf(await readRows(duck, path))
        const said = (await readStatements(duck, [path])).get(path)
        expect(said).toMatchObject({ feed, day, hash, rowCount: rows.length })
        contents.set(`${feed}/${formatDay(day)}`, hash)
      }
    }
  } finally {
    await duck.close()
  }
  return contents
}

const filesOf = (store: string): readonly string[] =>
  readdirSync(store, { recursive: true, encoding: 'utf8' }).sort()

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iprisk-history-kill-'))
  from = join(folder, 'from')
  for (const feed of feedIds) {
    mkdirSync(join(from, feed), { recursive: true })
    for (let age = 0; age < dayCount; age++) {
      const line = (): string => `45.${random.below(256)}.${random.below(256)}.${random.below(256)}`
      const lines = Array.from({ length: 1500 }, line)
      const name = `${new Date((today - age) * 86_400_000).toISOString().slice(0, 10)}.txt.gz`
      writeFileSync(join(from, feed, name), gzipSync(lines.join('\n')))
    }
  }
  whole = await run(join(folder, 'whole'))
  expected = await contentsOf(join(folder, 'whole'))
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

it(
  'leaves whole days and completes to the same content',
  async () => {
    expect(whole).toEqual({ code: 0, signal: null })
    expect(expected.size).toBe(feedIds.length * dayCount)
    const done: number[] = []
    for (let n = 0; done.length < runs && n < 2 * runs; n++) {
      const store = join(folder, `store-${n}`)
      mkdirSync(store)
      const lines = 1 + random.below(feedIds.length * dayCount)
      const killed = await run(store, { lines, ms: random.below(12) })
      if (killed.signal !== 'SIGKILL') continue
      const there = await contentsOf(store)
      for (const [day, hash] of there) expect(expected.get(day)).toBe(hash)
      done.push(there.size)
      expect(await run(store)).toEqual({ code: 0, signal: null })
      expect(await contentsOf(store)).toEqual(expected)
      expect(filesOf(store)).toEqual(filesOf(join(folder, 'whole')))
      rmSync(store, { recursive: true })
    }
    // The kills must have met imports in the middle, or this shows nothing.
    expect(done.length).toBe(runs)
    expect(new Set(done).size).toBeGreaterThan(3)
  },
  60_000 + runs * 15_000,
)
