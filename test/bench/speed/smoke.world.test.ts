// The benchmark programs as they are run, from dist, short: they work, find no error, and leave no
// process behind. How fast anything is, is not asked here.

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { BulkReport } from '../../../bench/speed/bulk.ts'
import type { Comparison } from '../../../bench/speed/report/comparison.ts'
import type { ConditionsReport } from '../../../bench/speed/features/conditions.ts'
import type { FeaturesReport } from '../../../bench/speed/features/features.ts'
import type { LimitsReport } from '../../../bench/speed/features/limits.ts'
import type { ListsReport } from '../../../bench/speed/features/lists.ts'
import type { LimitReport } from '../../../bench/speed/features/limiter.ts'
import type { LookupReport } from '../../../bench/speed/lookup.ts'
import { policyStepsMax } from '../../../src/base/limits.ts'
import { operations } from '../../../bench/speed/lookups/operation.ts'
import type { ClientReport } from '../../../bench/speed/client.ts'
import type { PoolReport } from '../../../bench/speed/pool.ts'
import { type HttpReport, faultCount } from '../../../bench/speed/report/http-report.ts'
import type { StartReport } from '../../../bench/speed/start.ts'
import type { RehearsalReport } from '../../../bench/speed/features/rehearsal.ts'
import { scenarios } from '../../../bench/speed/lookups/scenario.ts'
import { variantNames } from '../../../bench/speed/servers/variant.ts'
import type { WorldReport } from '../../../bench/speed/world.ts'
import { writeMmdb } from '../../build/mmdb/mmdb-writer.ts'
import { writeSmallTable } from '../../table/small-table.ts'

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs `dist/bench/speed/<name>.js` in a process group of its own, so that what it leaves can be seen.
 */
function runBench(
  name: string,
  flags: readonly string[],
  onError: (text: string, pid: number) => void = () => undefined,
): Promise<Ended & { readonly pid: number }> {
  const program = fileURLToPath(new URL(`../../../dist/bench/speed/${name}.js`, import.meta.url))
  const child = spawn(process.execPath, [program, ...flags], { detached: true, timeout: 120_000 })
  const pid = child.pid ?? 0
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    onError(text, pid)
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr, pid }))
  })
}

/** Whether any process of a group is left; a worker may need a moment to see its primary gone. */
async function groupIsGone(pid: number): Promise<boolean> {
  for (let look = 0; look < 50; look++) {
    try {
      process.kill(-pid, 0)
    } catch {
      return true
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return false
}

describe('the benchmark `http`', () => {
  it('reports all servers without an error', async () => {
    const table = writeSmallTable()
    const { code, stdout, stderr, pid } = await runBench('http', [
      ...'--smoke --rounds 1 --json --connections 8 --table'.split(' '),
      table,
    ])
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const report = JSON.parse(stdout) as HttpReport
    expect(faultCount(report.variants)).toBe(0)
    // What is not installed is skipped with its reason, and never in CI.
    const measured = report.variants.map(({ name }) => name)
    const skipped = report.skipped.map(({ peer }) => peer)
    expect([...measured, ...skipped].toSorted()).toEqual(variantNames.toSorted())
    expect(process.env['CI'] === undefined ? [] : report.skipped).toEqual([])
    for (const variant of report.variants) {
      expect(variant.requests).toBeGreaterThan(100)
      expect(variant.p50Us).toBeGreaterThan(0)
      expect(variant.p99Us).toBeGreaterThanOrEqual(variant.p50Us)
      expect(variant.samples.checked).toBeGreaterThan(300)
      expect(variant.cpuUsPerRequest !== null).toBe(process.platform === 'linux')
    }
    expect(report.rounds.map(({ variant }) => variant)).toEqual(measured)
    expect(report.few.rounds.map(({ variant }) => variant)).toEqual(['iprisk', 'bare'])
    const { steady } = report
    expect(process.env['CI'] === undefined ? null : steady.reason).toBeNull()
    for (const { load } of steady.rounds) {
      expect(load.sent).toBeGreaterThan(0)
      expect(load.answered).toBe(load.sent)
      expect(load.status).toBe(0)
    }
    expect(steady.alike?.loads.every(({ sent, answered }) => answered === sent)).toBe(
      steady.reason === null ? true : undefined,
    )
    expect(report.connections).toBe(8)
    expect(report.answerBytes).toBeGreaterThan(300)
    expect(stderr).not.toContain('irk_')
    expect(await groupIsGone(pid)).toBe(true)
  })

  it('leaves no process behind when it is told to end under load', async () => {
    let told = false
    const flags = [
      ...'--smoke --own --seconds 60 --rounds 60 --table'.split(' '),
      writeSmallTable(),
    ]
    const { code, pid } = await runBench('http', flags, (text, pid) => {
      if (told || !text.includes('round 1')) return
      told = true
      process.kill(pid, 'SIGTERM')
    })
    expect(told).toBe(true)
    expect(code).toBe(143)
    expect(await groupIsGone(pid)).toBe(true)
  })

  it.each([
    [['--rounds', '0'], '--rounds must be'],
    [['--table', 'no/such.iprisk'], 'no table at no/such.iprisk'],
    [['--scenario', 'x'], '--scenario must be one of ipv4-uniform'],
    [['--fast'], "Unknown option '--fast'"],
  ])('refuses %j in a sentence', async (flags, message) => {
    const { code, stdout, stderr } = await runBench('http', flags)
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('    at ')
  })
})

describe('the lookup benchmark', () => {
  it('reports every subject on every scenario, with the same checksums each time', async () => {
    const table = writeSmallTable()
    const run = async (asked: string, ...how: readonly string[]): Promise<LookupReport> => {
      const flags = ['--smoke', '--scenarios', asked, '--json', '--table', table, ...how]
      const { code, stdout, stderr } = await runBench('lookup', flags)
      expect({ code, stderr }).toMatchObject({ code: 0 })
      return JSON.parse(stdout) as LookupReport
    }
    const report = await run('uniform')
    const asked = scenarios.filter(({ name }) => name.includes('uniform'))
    expect(report.rows).toHaveLength(report.subjects.length * asked.length)
    expect(report.faults).toEqual([])
    expect(process.env['CI'] === undefined ? [] : report.skipped).toEqual([])
    const names = report.subjects.map(({ name }) => name)
    for (const { name } of operations) expect(names).toContain(name)
    expect(names).toContain('maxmind')
    expect(names).toContain('mmdb-lib')
    for (const row of report.rows) expect(row.nsMedian).toBeGreaterThan(0)
    const sums = report.rows.filter(({ scenario }) => scenario === 'ipv4-uniform')
    expect(sums.every(({ checksum }) => checksum > 0)).toBe(true)
    const own: readonly string[] = operations.map(({ name }) => name)
    const checksums = (from: LookupReport) =>
      from.rows
        .filter(({ scenario, subject }) => scenario === 'ipv4-uniform' && own.includes(subject))
        .map(({ checksum }) => checksum)
    const again = checksums(await run('ipv4-uniform', '--own'))
    expect(again).toHaveLength(own.length)
    expect(again).toEqual(checksums(report))
  })

  it('prints columns for people', async () => {
    const flags = ['--smoke', '--own', '--scenarios', 'ipv6-zipf', '--table', writeSmallTable()]
    const { code, stdout } = await runBench('lookup', flags)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^scenario +parse +search .* check$/m)
    expect(stdout).toMatch(/^ipv6-zipf( +[\d,.]+){6}$/m)
    expect(stdout).toContain('skipped: all other implementations')
  })
})

describe('the whole benchmark', () => {
  it('runs its parts and makes a report of them', async () => {
    const only = ['--only', 'allocation,memory,growth']
    const flags = ['--smoke', ...only, '--table', writeSmallTable()]
    const { code, stdout, stderr, pid } = await runBench('all', flags)
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stdout).toContain('A short run')
    expect(stdout).toContain('not measured: lookup (not asked for)')
    expect(stdout).toMatch(/^\| private memory a worker \| ≤ 60 MB \| ≤ 40 MB \| [\d.]+ MB/m)
    expect(stdout).toMatch(/^\| `answerCheck|^\| `\w+` \| src\//m)
    // Some of the drawn boundaries are the same one.
    expect(stdout).toMatch(/^\| IPv4 \| (19,9\d\d|20,000) \|/m)
    const folder = /raw data are in (\S+)\.$/m.exec(stderr)?.[1] ?? ''
    expect(readdirSync(folder).toSorted()).toEqual([
      'REPORT.md',
      'all.json',
      'allocation.json',
      'growth.json',
      'growth.svg',
      'memory.json',
      'memory.svg',
    ])
    expect(await groupIsGone(pid)).toBe(true)
  })

  it('compares two commits', async () => {
    const flags = 'HEAD --smoke --only lookup --scenarios ipv4-hot-miss --json --table'.split(' ')
    const { code, stdout, stderr } = await runBench('compare', [...flags, writeSmallTable()])
    // One round says nothing of a difference.
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stderr).toContain('head: compiling the working tree')
    const rows = JSON.parse(stdout) as readonly Comparison[]
    const hot = scenarios.filter(({ name }) => name.includes('ipv4-hot-miss'))
    expect(rows).toHaveLength(hot.length * operations.length)
    for (const { base, head, ratio } of rows) expect(ratio).toBeCloseTo(head / base, 6)
  })

  it.each([
    ['compare', [], 'Name the commit'],
    ['compare', ['no-such-commit'], 'no-such-commit is no commit'],
    ['all', ['--only', 'x'], '--only must be some of lookup'],
    ['memory', ['--workers', '0'], '--workers must be'],
    ['world', ['--feeds', 'no/such'], 'There is no mirror at'],
  ])('refuses wrong usage of %s %j in a sentence', async (name, flags, message) => {
    const { code, stdout, stderr } = await runBench(name, flags)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })
})

describe('the benchmark of a build', () => {
  it('tells time, peak memory and size', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'iprisk-bench-'))
    const publisher = join(folder, 'publisher')
    mkdirSync(publisher)
    writeFileSync(join(publisher, 'feeds.json'), '[]')
    writeFileSync(join(folder, 'networks.csv'), '9.0.0.0,9.255.255.255,64496,Example\n')
    const place = { country_code: 'NO', city: 'Oslo', latitude: 59.9, longitude: 10.7 }
    const record = { ...place, postcode: '', state1: '', state2: '', timezone: '' }
    const places = { ipVersion: 4, recordBits: 28, entries: [['9.0.0.0/8', record]] } as const
    writeFileSync(join(folder, 'places.mmdb'), writeMmdb(places))
    const ids = readdirSync('data/feeds').flatMap((name) => /^(.*)\.json$/.exec(name)?.[1] ?? [])
    const feeds = Object.fromEntries(ids.map((id) => [id, false]))
    const config = join(folder, 'iprisk.json')
    const build = { feeds, networks: ['networks.csv'], locations: ['places.mmdb'] }
    writeFileSync(config, JSON.stringify({ build }))
    const flags = ['--json', '--rounds', '2', '--feeds', publisher, '--config', config]
    const { code, stdout, stderr } = await runBench('world', flags)
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const report = JSON.parse(stdout) as WorldReport
    expect(report.rounds).toHaveLength(2)
    expect(report.seconds).toBeGreaterThan(0.1)
    expect(report.peakBytes).toBeGreaterThan(30e6)
    expect(report.tableBytes).toBeGreaterThan(4e6)
    expect(report).toMatchObject({ ownConfig: true, importSeconds: null, historyDays: 0 })
  })
})

describe('the benchmark `limiter`', () => {
  it('grants every request of every operation', async () => {
    const { code, stdout, stderr } = await runBench('features/limiter', [
      '--smoke',
      '--json',
      '--keys',
      '20',
    ])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { rows, keys } = JSON.parse(stdout) as LimitReport
    expect(keys).toBe(20)
    expect(rows.map(({ operation }) => operation)).toContain(
      'authenticate + admit + spend, the same',
    )
    expect(rows.every(({ refused, nsMedian }) => refused === 0 && nsMedian > 0)).toBe(true)
  })
})

describe('the benchmark `lists`', () => {
  it('measures look-ups and answers of both families', async () => {
    const flags = ['--smoke', '--json', '--table', writeSmallTable()]
    const { code, stdout } = await runBench('features/lists', flags)
    expect(code).toBe(0)
    const { rows, entries, fileBytes } = JSON.parse(stdout) as ListsReport
    expect(entries).toBe(10_000)
    expect(fileBytes).toBeGreaterThan(100_000)
    expect(rows).toHaveLength(8)
    expect(rows.every(({ ns }) => ns > 0)).toBe(true)
  })
})

describe('the benchmark `conditions`', () => {
  it('measures policies up to the limit of steps', async () => {
    const { code, stdout } = await runBench('features/conditions', ['--smoke', '--json'])
    expect(code).toBe(0)
    const { ordinary, slow, checkMs } = JSON.parse(stdout) as ConditionsReport
    expect(ordinary).toHaveLength(3)
    expect(slow.length).toBeGreaterThan(5)
    expect(slow.every(({ steps }) => steps > 10_000 && steps <= policyStepsMax)).toBe(true)
    expect(checkMs).toBeGreaterThan(0)
  })
})

describe('the benchmark `features`', () => {
  it('loads a server with each, imports a list and keeps tabs open', async () => {
    const flags = ['--smoke', '--json', '--table', writeSmallTable()]
    const { code, stdout } = await runBench('features/features', flags)
    expect(code).toBe(0)
    const report = JSON.parse(stdout) as FeaturesReport
    const features = new Set(report.rows.map(({ feature }) => feature))
    expect([...features]).toEqual(['policies', 'lists', 'console'])
    expect(report.importMs).toBeGreaterThan(0)
    expect(report.primaryShare).toBeLessThan(1)
    expect(report.tabAnswers).toBeGreaterThan(0)
    expect(report.rows).toHaveLength(6)
    expect(report.rows.every(({ ratio }) => ratio > 0)).toBe(true)
  })
})

describe('the benchmark `start`', () => {
  it('starts the library and a server, beside an empty process', async () => {
    const flags = ['--smoke', '--json', '--table', writeSmallTable()]
    const { code, stdout, pid } = await runBench('start', flags)
    expect(code).toBe(0)
    const report = JSON.parse(stdout) as StartReport
    const subjects = ['node', 'inPlace', 'library', 'firstCopy', 'serve']
    expect(report.rounds.map(({ subject }) => subject)).toEqual(subjects)
    expect(report.rounds.every(({ ms, cpuMs }) => ms > 0 && (cpuMs ?? 1) > 0)).toBe(true)
    expect(report.serveMs).toBeGreaterThan(0)
    expect(await groupIsGone(pid)).toBe(true)
  })
})

describe('the benchmark `rehearsal`', () => {
  it('tests policies on a log, alone and against others', async () => {
    const flags = ['--smoke', '--json', '--table', writeSmallTable()]
    const { code, stdout } = await runBench('features/rehearsal', flags)
    expect(code).toBe(0)
    const { rows } = JSON.parse(stdout) as RehearsalReport
    expect(rows.map(({ name }) => name)).toEqual(['alone', 'against those that are live'])
    expect(rows.every(({ seconds }) => seconds > 0)).toBe(true)
  })
})

describe('the benchmark `limits`', () => {
  it('loads a key with limits and one without', async () => {
    const flags = ['--smoke', '--json', '--table', writeSmallTable()]
    const { code, stdout } = await runBench('features/limits', flags)
    expect(code).toBe(0)
    const { rounds, throughputRatio } = JSON.parse(stdout) as LimitsReport
    expect(rounds.map(({ key }) => key)).toEqual(['limited', 'unlimited'])
    expect(throughputRatio).toBeGreaterThan(0)
  })
})

describe('the benchmark `pool`', () => {
  it('fills the pool beside checks, and meets no error', async () => {
    const flags = ['--smoke', '--json', '--table', writeSmallTable()]
    const { code, stdout } = await runBench('pool', flags)
    expect(code).toBe(0)
    const report = JSON.parse(stdout) as PoolReport
    expect([report.errors, report.alone.length, report.mixed.length]).toEqual([0, 1, 1])
    expect(report.addressesPerSecond).toBeGreaterThan(0)
    expect(report.insightsPerSecond).toBeGreaterThan(0)
  })
})

describe('the benchmark `client`', () => {
  it('has an answer to every check, in every way to ask', async () => {
    const flags = ['--smoke', '--json', '--table', writeSmallTable()]
    const { code, stdout } = await runBench('client', flags)
    expect(code).toBe(0)
    const { ways, besideBatches } = JSON.parse(stdout) as ClientReport
    expect([ways.length, besideBatches.length]).toEqual([10, 2])
    expect(ways.every(({ callerUs }) => callerUs > 0)).toBe(true)
  })
})

describe('the benchmark `bulk`', () => {
  it('answers every address in every form', async () => {
    const flags = ['--smoke', '--json', '--addresses', '20000', '--table', writeSmallTable()]
    const { code, stdout } = await runBench('bulk', flags)
    expect(code).toBe(0)
    const { addresses, rows } = JSON.parse(stdout) as BulkReport
    expect(addresses).toBe(20_000)
    expect(rows.map(({ name }) => name).join()).toMatch(/csv.*json.*text.*summarize/)
    expect(rows.every(({ addressesPerSecond }) => addressesPerSecond > 0)).toBe(true)
  })
})
