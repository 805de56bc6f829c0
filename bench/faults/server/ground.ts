// A server of one worker for a proof, with the small table (served.ts starts it). What it knows of
// itself is read from its admin port and from /proc.

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeTable } from '../../../build/write/write-table.ts'
import { smallContent } from '../../../test/table/small-table.ts'
import { parseStat, readSystemFile } from '../../../src/base/system/process.ts'
import { type MemoryUse, processMemoryUse } from './held.ts'
import { startProofServer } from './served.ts'

export interface SmallServer {
  readonly port: number
  readonly key: string
  /** Process ids. */
  readonly primary: number
  readonly worker: number
  /** The sum of the samples of a metric whose labels hold `label`. */
  readonly metric: (name: string, label?: string) => Promise<number>
  /** Of the worker; of one that died `undefined`. */
  readonly memoryUse: () => Promise<MemoryUse | undefined>
  /** The last lines of the log, each a failure or a warning. */
  readonly logLines: () => readonly string[]
  /** User and system time of the worker; of one that died NaN. */
  readonly cpuSeconds: () => number
  readonly end: () => Promise<void>
}

/** `flags` are those of `serve`. */
export async function startSmallServer(
  folder: string,
  flags: Readonly<Record<string, string | number>> = {},
): Promise<SmallServer> {
  mkdirSync(folder, { recursive: true })
  const table = join(folder, 'small.iprisk')
  writeTable(table, smallContent())
  const all = { 'log-level': 'warn', ...flags }
  const served = await startProofServer({
    folder,
    table,
    workers: 1,
    flags: all,
    collecting: true,
  })
  const { port, key, adminPort, end } = served
  const worker = (await served.status()).workers.each[0]!.pid
  return {
    port,
    key,
    primary: served.pid,
    worker,
    metric: async (name, label = '') => {
      const response = await fetch(`http://127.0.0.1:${adminPort}/metrics`)
      return sumOf(await response.text(), name, label)
    },
    memoryUse: async () =>
      existsSync(`/proc/${worker}`) ? processMemoryUse(served, [worker]) : undefined,
    logLines: served.logLines,
    cpuSeconds: () => {
      const stat = parseStat(readSystemFile(`/proc/${worker}/stat`))
      return (stat?.ticks ?? NaN) / 100
    },
    end,
  }
}

function sumOf(text: string, name: string, label: string): number {
  let sum = 0
  for (const line of text.split('\n')) {
    const match = /^(\w+)(\{.*\})? (\S+)$/.exec(line)
    if (match?.[1] === name && (match[2] ?? '').includes(label)) sum += Number(match[3])
  }
  return sum
}
