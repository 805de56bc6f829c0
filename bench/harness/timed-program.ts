// One run of a Node program: how long it took, how much CPU time, and how much memory it held at
// most.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runChild } from './child.ts'

export interface ProgramTime {
  readonly seconds: number
  /** User and system, of all its threads. */
  readonly cpuSeconds: number
  readonly peakBytes: number
}

const timeoutMs = 1_800_000
const preload = new URL('./peak.js', import.meta.url).href

/** `command` without Node itself; it runs in `folder`. Gives what it printed, too. */
export async function timedProgram(
  command: readonly string[],
  folder: string,
  input?: string,
): Promise<ProgramTime & { readonly output: string }> {
  const [peak, cpu] = [join(folder, 'peak.txt'), join(folder, 'cpu.txt')]
  const said = [`BENCH_PEAK=${peak}`, `BENCH_CPU=${cpu}`]
  const begun = performance.now()
  const output = await runChild(
    ['env', ...said, process.execPath, '--import', preload, ...command],
    { timeoutMs, cwd: folder, ...(input === undefined ? {} : { input }) },
  )
  const seconds = (performance.now() - begun) / 1000
  const numberIn = (path: string): number => Number(readFileSync(path, 'utf8'))
  return { seconds, cpuSeconds: numberIn(cpu), peakBytes: numberIn(peak), output }
}
