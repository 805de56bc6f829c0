// The benchmark programs as they are run, from dist, short: they work, find no error, and leave no
// process behind. How fast anything is, is not asked here.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { LimitReport } from '../../bench/limit.ts'
import type { LookupReport } from '../../bench/lookup.ts'
import { operations } from '../../bench/operation.ts'
import { type HttpReport, faultCount } from '../../bench/report.ts'
import { scenarios } from '../../bench/scenario.ts'
import { variantNames } from '../../bench/variant.ts'
import { writeSmallTable } from '../table/small.ts'

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs `dist/bench/<name>.js` in a process group of its own, so that what it leaves can be seen.
 */
function runBench(
  name: string,
  flags: readonly string[],
  onError: (text: string, pid: number) => void = () => undefined,
): Promise<Ended & { readonly pid: number }> {
  const program = fileURLToPath(new URL(`../../dist/bench/${name}.js`, import.meta.url))
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

describe('bench:http', () => {
  it('reports both variants without an error', async () => {
    const table = writeSmallTable()
    const { code, stdout, stderr, pid } = await runBench('http', [
      ...'--smoke --json --connections 8 --table'.split(' '),
      table,
    ])
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const report = JSON.parse(stdout) as HttpReport
    expect(faultCount(report.variants)).toBe(0)
    expect(report.variants.map(({ name }) => name)).toEqual(variantNames)
    for (const variant of report.variants) {
      expect(variant.requests).toBeGreaterThan(100)
      expect(variant.p50Us).toBeGreaterThan(0)
      expect(variant.p99Us).toBeGreaterThanOrEqual(variant.p50Us)
      expect(variant.samples.checked).toBeGreaterThan(300)
      expect(variant.cpuUsPerRequest !== null).toBe(process.platform === 'linux')
    }
    // Each round turns the order.
    expect(report.rounds.map((it) => `${it.round} ${it.variant}`)).toEqual([
      '0 iprisk',
      '0 bare',
      '1 bare',
      '1 iprisk',
    ])
    expect(report.connections).toBe(8)
    expect(report.answerBytes).toBeGreaterThan(300)
    expect(stderr).not.toContain('irk_')
    expect(await groupIsGone(pid)).toBe(true)
  })

  it('works with autocannon in the place of wrk', async () => {
    const flags = '--smoke --rounds 1 --driver autocannon --connections 4 --json --table'.split(' ')
    const { code, stdout, stderr } = await runBench('http', [...flags, writeSmallTable()])
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const report = JSON.parse(stdout) as HttpReport
    expect(report.driver).toBe('autocannon')
    expect(faultCount(report.variants)).toBe(0)
  })

  it('leaves no process behind when it is told to end under load', async () => {
    let told = false
    const flags = ['--smoke', '--seconds', '60', '--rounds', '60', '--table', writeSmallTable()]
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
    [['--driver', 'ab'], '--driver must be one of wrk, autocannon'],
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
  it('reports every operation on every scenario, with the same checksums each time', async () => {
    const table = writeSmallTable()
    const run = async (): Promise<LookupReport> => {
      const flags = ['--smoke', '--milliseconds', '2', '--json', '--table', table]
      const { code, stdout, stderr } = await runBench('lookup', flags)
      expect({ code, stderr }).toMatchObject({ code: 0 })
      return JSON.parse(stdout) as LookupReport
    }
    const report = await run()
    expect(report.rows).toHaveLength(operations.length * scenarios.length)
    for (const row of report.rows) {
      expect(row.nsMedian).toBeGreaterThan(0)
      expect(row.checksum).toBeGreaterThan(0)
    }
    expect(report.skipped.map(({ peer }) => peer)).toEqual(['maxmind'])
    const checksums = (from: LookupReport) => from.rows.map(({ checksum }) => checksum)
    expect(checksums(await run())).toEqual(checksums(report))
  })

  it('prints columns for people', async () => {
    const flags = ['--smoke', '--milliseconds', '1', '--table', writeSmallTable()]
    const { code, stdout } = await runBench('lookup', flags)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^locate \(words to record\) +ipv6-zipf/m)
    expect(stdout).toContain('skipped: maxmind')
  })
})

describe('bench:limit', () => {
  it('grants every request of every operation', async () => {
    const { code, stdout, stderr } = await runBench('limit', ['--smoke', '--json', '--keys', '20'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { rows, keys } = JSON.parse(stdout) as LimitReport
    expect(keys).toBe(20)
    expect(rows.map(({ operation }) => operation)).toContain(
      'authenticate + admit + spend, the same',
    )
    expect(rows.every(({ refused, nsMedian }) => refused === 0 && nsMedian > 0)).toBe(true)
  }, 60_000)
})
