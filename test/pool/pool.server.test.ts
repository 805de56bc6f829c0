// The pool with real threads: results, cancelled requests, a full queue, threads that die, tables
// that are retired while a task uses them.

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { threadsOf } from '../../bench/harness/cpu.ts'
import { writeTable } from '../../build/write/write-table.ts'
import { parseDay } from '../../src/base/day.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { type Pool, type PoolOptions, createPool } from '../../src/pool/pool.ts'
import type { TaskItem, ItemResult, TaskTable } from '../../src/pool/pool-task.ts'
import { answerBatchPiece } from '../../src/pool/run-task.ts'
import { answerWithInsights } from '../../src/table/explain/insights.ts'
import { openTable } from '../../src/table/open-table.ts'
import { smallContent, writeSmallTable } from '../table/small-table.ts'
import type { LineTask } from '../../src/bulk/answer-lines.ts'
import { eventually } from '../eventually.ts'

const path = writeSmallTable()
const table: TaskTable = { number: 1, path, builtMs: 0 }
const opened = openTable(path)
const pools: Pool[] = []

afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close()
})

function newPool(options: Partial<PoolOptions> = {}): Pool {
  const pool = createPool({ threads: 2, queue: 100, ...options })
  pools.push(pool)
  return pool
}

const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
const textOf = (result: ItemResult): string =>
  result.kind === 'answered' ? Buffer.from(result.json).toString() : result.kind

const texts = Array.from({ length: 100 }, (_, i) => `9.1.2.${i}`)
const piece = bytesOf(texts).slice(1, -1)
const checks: TaskItem = { kind: 'checks', texts: piece }
const expected = Buffer.from(answerBatchPiece(opened, piece).json).toString()

/** The real program, but that `die` ends the thread. */
const mortal = `${path}.mortal.mjs`
writeFileSync(
  mortal,
  `import { run as work } from ${JSON.stringify(join(packageRoot, 'dist/src/pool/pool-thread.js'))}
export function run(task) {
  if (task.items.some(({ text }) => text === 'die')) process.exit(3)
  return work(task)
}
`,
)
const deadly: TaskItem = { kind: 'insights', text: 'die' }

async function one(pool: Pool, item: TaskItem, of = table): Promise<ItemResult> {
  const ticket = pool.enter(of)!
  try {
    return await ticket.run(item)
  } finally {
    ticket.close()
  }
}

/** How often this process has mapped the file. */
function mapsOf(file: string): number {
  const lines = readFileSync('/proc/self/maps', 'utf8').split('\n')
  return lines.filter((line) => line.endsWith(file)).length
}

describe('a pool', () => {
  it('starts no thread before it is needed, and then does the work of the worker itself', async () => {
    const pool = newPool()
    expect(pool.counts()).toMatchObject({ threads: 0, requests: 0 })
    expect(textOf(await one(pool, checks))).toBe(expected)
    const insights = await one(pool, { kind: 'insights', text: '11.1.1.1' })
    expect(textOf(insights)).toBe(
      JSON.stringify(answerWithInsights({ ...opened, builtMs: 0 }, '11.1.1.1')),
    )
    const read = await one(pool, { kind: 'read', body: bytesOf({ ips: [...texts, 'x', 1] }) })
    expect(read).toMatchObject({ kind: 'read', count: 102, valid: 100 })
    expect(pool.counts()).toMatchObject({ threads: 2, requests: 0, waiting: 0, deaths: 0 })
  })

  it('puts insights that wait into few tasks, and answers each its own', async () => {
    const pool = newPool({ threads: 1 })
    const all = await Promise.all(texts.map((text) => one(pool, { kind: 'insights', text })))
    all.forEach((result, i) => {
      expect(textOf(result)).toContain(`"ip":"${texts[i]}"`)
    })
    const { tasks, items } = pool.counts()
    expect(items).toBe(100)
    expect(tasks).toBeLessThan(20)
  })

  it('refuses at once where it is full, and takes the next when one has left', async () => {
    const pool = newPool({ queue: 2 })
    const tickets = [pool.enter(table)!, pool.enter(table)!]
    expect(pool.enter(table)).toBeUndefined()
    tickets[0]!.close()
    tickets[0]!.close()
    const next = pool.enter(table)
    expect(next).toBeDefined()
    expect(pool.enter(table)).toBeUndefined()
    expect(pool.counts()).toMatchObject({ requests: 2, refused: 2 })
  })

  it('gives no owner more than half of its room', () => {
    const pool = newPool({ queue: 5 })
    const [one, other] = ['one', 'other']
    const tickets = [one, one, one].map((owner) => pool.enter(table, owner)!)
    expect(pool.enter(table, one)).toBeUndefined()
    expect(pool.enter(table, other)).toBeDefined()
    tickets[0]!.close()
    tickets[0]!.close()
    expect(pool.enter(table, one)).toBeDefined()
    expect(pool.enter(table, one)).toBeUndefined()
    // One place is one owner's.
    expect(newPool({ queue: 1 }).enter(table, one)).toBeDefined()
  })

  it('drops what waits when its request is over, and nothing else', async () => {
    const pool = newPool({ threads: 1 })
    const gone = pool.enter(table)!
    const stays = pool.enter(table)!
    const dropped = Array.from({ length: 300 }, () => gone.run(checks))
    const kept = Array.from({ length: 5 }, () => stays.run(checks))
    gone.close()
    const outcomes = await Promise.allSettled(dropped)
    const failures = outcomes.filter(({ status }) => status === 'rejected')
    // Two tasks were on their way already.
    expect(failures.length).toBeGreaterThanOrEqual(297)
    for (const result of await Promise.all(kept)) expect(textOf(result)).toBe(expected)
    await expect(gone.run(checks)).rejects.toMatchObject({ code: 'pool_failed' })
    expect(pool.counts().items).toBeLessThan(10)
    expect(pool.counts()).toMatchObject({ requests: 1, waiting: 0 })
  })

  it('says what failed of an item whose table cannot be opened, and goes on', async () => {
    const pool = newPool()
    const missing = { number: 9, path: `${path}.gone`, builtMs: 0 }
    await expect(one(pool, checks, missing)).rejects.toMatchObject({ code: 'file_unreadable' })
    expect(textOf(await one(pool, checks))).toBe(expected)
    expect(pool.counts().deaths).toBe(0)
  })

  it('settles everything when it is closed', async () => {
    const pool = newPool({ threads: 1 })
    const ticket = pool.enter(table)!
    const runs = Array.from({ length: 50 }, () => ticket.run(checks))
    const outcomes = Promise.allSettled(runs)
    await Promise.all([pool.close(), pool.close()])
    const all = (await outcomes).map(({ status }) => status)
    // What had begun is answered, what waited is rejected.
    const answered = all.lastIndexOf('fulfilled') + 1
    expect(answered).toBeGreaterThan(0)
    expect(all).toEqual(all.map((_, i) => (i < answered ? 'fulfilled' : 'rejected')))
    expect(all).toContain('rejected')
    expect(pool.enter(table)).toBeUndefined()
  })

  it('ends no thread that still loads: the process could abort of it', async () => {
    const loaded = `${path}.loaded`
    const program = `${path}.loads.mjs`
    writeFileSync(
      program,
      `import { appendFileSync } from 'node:fs'
await new Promise((resolve) => setTimeout(resolve, 200))
appendFileSync(${JSON.stringify(loaded)}, 'x')
export const run = () => undefined
`,
    )
    const pool = newPool({ program })
    pool.start()
    await pool.close()
    expect(readFileSync(loaded, 'utf8')).toBe('xx')
  })

  it('ends no successor that still loads either', async () => {
    // The first two die of their start, when the pool has been closed; two others begin.
    const marks = `${path}.successors`
    const program = `${path}.succeeds.mjs`
    writeFileSync(
      program,
      `import { appendFileSync, readFileSync } from 'node:fs'
await new Promise((resolve) => setTimeout(resolve, 100))
appendFileSync(${JSON.stringify(marks)}, 'x')
if (readFileSync(${JSON.stringify(marks)}, 'utf8').length <= 2) throw new Error('no start')
export const run = () => undefined
`,
    )
    const pool = newPool({ program })
    pool.start()
    await pool.close()
    expect(readFileSync(marks, 'utf8')).toBe('xxxx')
  })

  it('waits for no thread that does not load', async () => {
    const program = `${path}.never.mjs`
    writeFileSync(program, 'setInterval(() => {}, 1000)\nawait new Promise(() => {})\n')
    const pool = newPool({ program })
    pool.start()
    await pool.close()
    expect(pool.counts().threads).toBe(0)
  })
})

describe('a thread that dies', () => {
  it('takes no other request with it; what kills two is given up', async () => {
    const pool = newPool({ program: mortal })
    const ticket = pool.enter(table)!
    const before = Array.from({ length: 40 }, () => ticket.run(checks))
    const killing = pool.enter(table)!.run(deadly)
    const after = Array.from({ length: 40 }, () => ticket.run(checks))
    await expect(killing).rejects.toMatchObject({ code: 'pool_failed' })
    for (const result of await Promise.all([...before, ...after])) {
      expect(textOf(result)).toBe(expected)
    }
    expect(pool.counts().deaths).toBe(2)
    expect(textOf(await one(pool, checks))).toBe(expected)
    expect(pool.counts().threads).toBe(2)
    // The dead are not waited for.
    const from = performance.now()
    ticket.close()
    await pool.close()
    expect(performance.now() - from).toBeLessThan(3000)
  })

  it('gives the room back that it was lent, and its piece is answered in fresh room', async () => {
    // The first thread dies of the first lines; the next answers them.
    const flag = `${path}.dead`
    const program = `${path}.once.mjs`
    const source = readFileSync(mortal, 'utf8')
    const once = `if (task.items[0].kind === 'lines' && !existsSync(${JSON.stringify(flag)})) {
    writeFileSync(${JSON.stringify(flag)}, '')
    process.exit(3)
  }
  return work`
    writeFileSync(
      program,
      `import { existsSync, writeFileSync } from 'node:fs'\n${source.replace('return work', once)}`,
    )
    const pool = newPool({ threads: 1, program })
    const lines = new TextEncoder().encode(`${texts.join('\n')}\n`)
    const how: LineTask = { form: { kind: 'plain' }, output: 'json', fields: [] }
    const result = await one(pool, { kind: 'lines', lines, how, into: new Uint8Array(1 << 16) })
    expect(result).toMatchObject({ kind: 'lined', addresses: texts.length, bad: 0 })
    expect(pool.counts().deaths).toBe(1)
  })

  it('does not hold up the retirement of a table that it had mapped', async () => {
    const pool = newPool({ threads: 1, program: mortal })
    expect(textOf(await one(pool, checks))).toBe(expected)
    await expect(one(pool, deadly)).rejects.toMatchObject({ code: 'pool_failed' })
    const from = performance.now()
    await pool.retire(1)
    expect(performance.now() - from).toBeLessThan(3000)
  })
})

describe('threads that cannot start', () => {
  const ways = [
    ['throw', 'throw new Error("no start")'],
    ['exit', 'process.exit(3)'],
  ] as const

  it.each(ways)('because they %s: what runs is given up, and said why', async (how, end) => {
    const flag = `${path}.broken.${how}`
    const program = `${path}.starts.${how}.mjs`
    const broken = `if (existsSync(${JSON.stringify(flag)})) ${end}\n`
    const source = readFileSync(mortal, 'utf8')
    writeFileSync(program, `import { existsSync } from 'node:fs'\n${broken}${source}`)
    const deaths: unknown[] = []
    const pool = newPool({ program, onDeath: (error) => deaths.push(error) })
    writeFileSync(flag, '')
    const ticket = pool.enter(table)!
    for (let round = 0; round < 2; round++) {
      const outcomes = await Promise.allSettled([ticket.run(checks), ticket.run(checks)])
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    }
    expect(deaths.length).toBeGreaterThan(0)
    // Once they can, all is as before.
    rmSync(flag)
    expect(textOf(await ticket.run(checks))).toBe(expected)
    ticket.close()
    await pool.retire(table.number)
  })
})

describe('the map of a table, when a thread dies', () => {
  const ends = [
    ['exits', 'process.exit(3)'],
    ['throws outside of its task', 'setImmediate(() => { throw new Error("late") })'],
  ] as const

  it.each(ends)('that %s: stays one, and goes with the pool', async (_how, end) => {
    const file = `${path}.freed`
    writeTable(file, smallContent())
    const program = `${path}.ends.mjs`
    const source = readFileSync(mortal, 'utf8')
    writeFileSync(program, source.replace('process.exit(3)', end))
    const pool = newPool({ program })
    const own: TaskTable = { number: 1, path: file, builtMs: 0 }
    const before = mapsOf(file)
    const all = Array.from({ length: 40 }, () => one(pool, checks, own))
    await Promise.all(all)
    expect(mapsOf(file) - before).toBe(1)
    for (let round = 0; round < 3; round++) {
      const { deaths } = pool.counts()
      await one(pool, deadly, own).catch(() => undefined)
      await one(pool, checks, own)
      // One that throws late may still answer; its end is awaited, or it would take two at once.
      await eventually(() => pool.counts().deaths > deaths)
    }
    expect(mapsOf(file) - before).toBe(1)
    await pool.close()
    expect(mapsOf(file)).toBe(before)
  })
})

describe('the times of a pool', () => {
  it('count what waits at a thread behind another task as waiting', async () => {
    const pool = newPool({ threads: 1 })
    await one(pool, checks)
    const before = pool.counts()
    // Tens of milliseconds of JSON.parse.
    const slow: TaskItem = { kind: 'read', body: bytesOf({ ips: Array<number>(2e6).fill(1) }) }
    const fromMs = performance.now()
    await Promise.all([one(pool, slow), one(pool, slow)])
    const tookMs = performance.now() - fromMs
    const { waitMs, runMs } = pool.counts()
    expect((runMs - before.runMs) / tookMs).toBeGreaterThan(0.5)
    expect((runMs - before.runMs) / tookMs).toBeLessThanOrEqual(1)
    // The second waits for the first: half of the time, and both for their way there.
    expect((waitMs - before.waitMs) / (runMs - before.runMs)).toBeGreaterThan(0.4)
    expect(waitMs - before.waitMs).toBeLessThan(tookMs)
  })
})

describe.runIf(process.platform === 'linux')('threads that yield', () => {
  const niceThreads = (): number =>
    (threadsOf(process.pid) ?? []).filter(({ nice }) => nice === 19).length

  it('have the lowest priority, all of them and nobody else', async () => {
    const before = niceThreads()
    const pool = newPool({ threads: 2, yielding: true })
    pool.start()
    await Promise.all(Array.from({ length: 20 }, () => one(pool, checks)))
    await expect.poll(niceThreads).toBe(before + 2)
  })

  it('are as all others unless they are told to yield', async () => {
    const before = niceThreads()
    const pool = newPool()
    await Promise.all(Array.from({ length: 20 }, () => one(pool, checks)))
    expect(niceThreads()).toBe(before)
  })
})

describe('a retired table', () => {
  it('is unmapped after the last request that began with it', async () => {
    const pool = newPool()
    const second = `${path}.second`
    writeTable(second, { ...smallContent(), asOf: parseDay('2026-08-25')! })
    const next: TaskTable = { number: 2, path: second, builtMs: 0 }
    const maps = (): number => mapsOf(second)
    const long = pool.enter(next)!
    const runs = Array.from({ length: 60 }, () => long.run(checks))
    let retired = false
    const retiring = pool.retire(2).finally(() => {
      retired = true
    })
    for (let i = 0; i < 20; i++) expect(textOf(await one(pool, checks))).toBe(expected)
    const results = await Promise.all(runs)
    for (const result of results) expect(textOf(result)).toContain('20260825-')
    expect(maps()).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(retired).toBe(false)
    long.close()
    await retiring
    expect(maps()).toBe(0)
    expect(textOf(await one(pool, checks))).toBe(expected)
  })
})
