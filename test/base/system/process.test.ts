// What the system tells of processes, of real ones: their lives, states, threads and memory.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import {
  isProcessAlive,
  parseStat,
  pidNamespaceName,
  privateBytesOf,
  readSystemFile,
  threadStatOf,
} from '../../../src/base/system/process.ts'

const linux = process.platform === 'linux'

/** A process that waits for its end. */
const waiting = (): ChildProcess =>
  spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] })

describe('a process', () => {
  it('lives until it has ended, whoever it belongs to', async () => {
    const child = waiting()
    const pid = child.pid ?? 0
    expect(isProcessAlive(pid)).toBe(true)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(isProcessAlive(pid)).toBe(false)
    expect(threadStatOf(pid, pid)).toBeUndefined()
    expect(privateBytesOf(pid)).toBeUndefined()
    // The first process is root's.
    expect(isProcessAlive(1)).toBe(true)
    expect(isProcessAlive(2 ** 40)).toBe(false)
  })

  it('has an id that means something in one container of one machine', () => {
    expect(pidNamespaceName()).toMatch(linux ? / pid:\[\d+\]$/ : /^\S+$/)
    expect(pidNamespaceName().startsWith(hostname())).toBe(true)
    expect(pidNamespaceName()).toBe(pidNamespaceName())
  })

  it.skipIf(!linux)('has threads, of which the first has its id', () => {
    const stat = threadStatOf(process.pid, process.pid)
    expect(stat).toMatchObject({ pid: process.pid, parent: process.ppid })
    expect(stat?.state).toMatch(/^[RS]$/)
  })

  it.skipIf(!linux)('has memory that grows by what it takes', () => {
    const before = privateBytesOf(process.pid) ?? NaN
    const taken = Buffer.alloc(64 * 2 ** 20, 1)
    expect((privateBytesOf(process.pid) ?? NaN) - before).toBeGreaterThan(taken.length / 2)
  })
})

describe('the line of a stat file', () => {
  it('is read behind a name that looks like the rest of the line', () => {
    // After proc_pid_stat(5): pid, comm, state, ppid, …, utime (14), stime (15), …, nice (19).
    const line = '42 (a) S 1 (b) R 7 42 42 0 -1 4194304 100 0 0 0 250 31 0 0 39 19 11 0 555\n'
    expect(parseStat(line)).toEqual({ pid: 42, parent: 7, state: 'R', nice: 19, ticks: 281 })
    expect(parseStat('')).toBeUndefined()
    expect(parseStat('42 (node) S')).toBeUndefined()
  })
})

describe('a file of the system', () => {
  it('is empty where there is none', () => {
    expect(readSystemFile('/proc/none/status')).toBe('')
  })

  it.skipIf(!linux)('is read whole', () => {
    expect(readSystemFile('/proc/self/status')).toMatch(/^Pid:\s+\d+$/m)
  })
})
