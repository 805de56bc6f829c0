// What processes of a server hold that collects its garbage when told so (collect.ts).

import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { privateBytesOf } from '../../../src/base/system/process.ts'
import type { ProofServer } from './served.ts'

/** Bytes, of some processes together. */
export interface MemoryUse {
  /** Live objects and blocks in use, all garbage collected. */
  readonly used: number
  /**
   * Private anonymous pages, including those that heaps and the allocator keep for later.
   */
  readonly resident: number
}

/** For processes to collect their garbage; each of two times. */
const collectMs = 1000

/** Of the primary and its workers. */
export async function serverMemoryUse(served: ProofServer): Promise<MemoryUse> {
  const { workers } = await served.status()
  return processMemoryUse(served, [served.pid, ...workers.each.map(({ pid }) => pid)])
}

/** Has processes of a server collect, and waits for it. */
export async function processMemoryUse(
  served: ProofServer,
  pids: readonly number[],
): Promise<MemoryUse> {
  const folder = served.memoryFolder
  for (let time = 0; time < 2; time += 1) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    for (const pid of pids) process.kill(pid, 'SIGWINCH')
    await sleep(collectMs)
  }
  const names = readdirSync(folder)
  const silent = pids.filter((pid) => !names.includes(`${pid}-0`))
  if (silent.length > 0) throw new Error(`The processes ${silent.join(', ')} did not say.`)
  const own = names.filter((name) => pids.includes(Number.parseInt(name, 10)))
  const noted = own.map((name) => Number(readFileSync(join(folder, name), 'utf8')))
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)
  return { used: sum(noted), resident: sum(pids.map((pid) => privateBytesOf(pid) ?? NaN)) }
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`
}
