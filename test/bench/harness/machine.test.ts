// What the benchmarks ask of the machine: processor time of a process tree, cores, child processes
// that end. Real processes.

import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { flagsOf, runChild, startChild } from '../../../bench/harness/child.ts'
import { treeCpu, treeOf } from '../../../bench/harness/cpu.ts'
import { parseCoreList, pinned, planCores } from '../../../bench/speed/load/pin.ts'

const node = process.execPath

describe('processor time', () => {
  it('counts a process with all that descends from it, and no other', () => {
    const stat = (pid: number, parent: number) => ({ pid, parent, ticks: 1 })
    const stats = [stat(1, 0), stat(5, 1), stat(4, 5), stat(7, 4), stat(6, 1)]
    expect(treeOf(5, stats).map(({ pid }) => pid)).toEqual([5, 4, 7])
    expect(treeOf(9, stats)).toEqual([])
  })

  it.skipIf(process.platform !== 'linux')('grows by what a child burns', async () => {
    const burn = 'const end = performance.now() + 300; while (performance.now() < end);'
    const child = spawn(node, [
      '-e',
      `${burn} process.stdout.write("done"); setTimeout(() => {}, 9e3)`,
    ])
    try {
      await new Promise((resolve) => child.stdout.once('data', resolve))
      const cpu = treeCpu(child.pid ?? 0)
      expect(cpu?.pids).toEqual([child.pid])
      // It had a core for most of the time, and cannot have had more than its own.
      expect(cpu?.microseconds).toBeGreaterThan(100_000)
      expect(cpu?.microseconds).toBeLessThan(5_000_000)
      expect(treeCpu(process.pid)?.pids).toContain(child.pid)
    } finally {
      child.kill('SIGKILL')
    }
  })
})

describe('cores', () => {
  it('are listed as the kernel lists them', () => {
    expect(parseCoreList('0-2,5')).toEqual([0, 1, 2, 5])
    expect(parseCoreList('3')).toEqual([3])
  })

  it('are divided between servers and load', () => {
    const plan = (allowed: readonly number[], workers?: number, canPin = true) =>
      planCores({ allowed, workers, canPin })
    expect(plan([0, 1])).toMatchObject({ workers: 1, threads: 1, serverCores: [0], loadCores: [1] })
    expect(plan([2, 3, 6, 7])).toMatchObject({ workers: 2, serverCores: [2, 3], loadCores: [6, 7] })
    expect(plan([0, 1, 2, 3], 3)).toMatchObject({ workers: 3, threads: 1, loadCores: [3] })
  })

  it.each([
    ['one core', [0], undefined, true],
    ['more workers than cores', [0, 1], 2, true],
    ['no taskset', [0, 1, 2, 3], undefined, false],
  ] as const)('are shared with %s, and the note says so', (_, allowed, workers, canPin) => {
    const plan = planCores({ allowed, workers, canPin })
    expect(plan.serverCores).toBeUndefined()
    expect(plan.note).toContain('not pinned')
    expect(plan.threads).toBeGreaterThan(0)
    expect(pinned(plan.serverCores, ['wrk', '-v'])).toEqual(['wrk', '-v'])
  })

  it('go in front of a command', () => {
    expect(pinned([1, 3], ['wrk', '-v'])).toEqual(['taskset', '-c', '1,3', 'wrk', '-v'])
  })
})

describe('child processes', () => {
  const program = (text: string) => [node, '-e', text] as const
  const ready = (line: string): string | undefined => /^port (\d+)$/.exec(line)?.[1]
  const start = (text: string, timeoutMs = 5000) =>
    startChild(program(text), { timeoutMs, cwd: tmpdir(), ready })
  const lives = (pid: number): boolean => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }

  it('give their output, or what they said when they failed', async () => {
    expect(await runChild(program('console.log(1)'), { timeoutMs: 5000 })).toBe('1\n')
    const failing = runChild(program('console.error("no disk"); process.exit(3)'), {
      timeoutMs: 5000,
    })
    await expect(failing).rejects.toThrow('no disk')
  })

  it('are killed after their time', async () => {
    const slow = runChild(program('setTimeout(() => {}, 60_000)'), { timeoutMs: 200 })
    await expect(slow).rejects.toThrow('took too long')
  })

  it('are waited for until they are ready, on either stream, and end when told', async () => {
    for (const stream of ['log', 'error']) {
      const text = `console.${stream}("port 80"); setTimeout(() => {}, 60_000)`
      const { child, found } = await start(text)
      expect(found).toBe('80')
      expect(lives(child.pid)).toBe(true)
      await child.end()
      expect(lives(child.pid)).toBe(false)
    }
  })

  it('fail with their last words where they end or are never ready', async () => {
    await expect(start('console.error("port taken")')).rejects.toThrow(/ended.*port taken/s)
    await expect(start('setTimeout(() => {}, 60_000)', 200)).rejects.toThrow('not ready')
    const missing = startChild(['./no-such-program'], { timeoutMs: 5000, cwd: tmpdir(), ready })
    await expect(missing).rejects.toThrow('ENOENT')
  })

  it('do not see settings of the product in their environment', async () => {
    process.env['IPRISK_PORT'] = '1'
    try {
      const text = 'console.log(Object.keys(process.env).filter((it) => it.startsWith("IPRISK_")))'
      expect(await runChild(program(text), { timeoutMs: 5000 })).toBe('[]\n')
    } finally {
      delete process.env['IPRISK_PORT']
    }
  })

  it('take flags', () => {
    expect(flagsOf({ workers: 1, table: 'a b' })).toEqual(['--workers', '1', '--table', 'a b'])
  })
})
