// A server of its own for a proof: the compiled command line with the small table, on free ports of
// loopback, one worker, and a key without limits. What it knows of itself is read from its admin port
// and from /proc.

import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeTable } from '../../build/write/file.ts'
import { packageRoot } from '../../src/base/root.ts'
import { smallContent } from '../../test/table/small.ts'
import { flagsOf, runChild, startChild } from '../child.ts'

export interface Ground {
  readonly port: number
  readonly key: string
  readonly worker: number
  /** The sum of the samples of a metric whose labels hold `label`. */
  readonly metric: (name: string, label?: string) => Promise<number>
  /** Resident memory of the worker. */
  readonly memoryBytes: () => number
  /** User and system time of the worker. */
  readonly cpuSeconds: () => number
  readonly end: () => Promise<void>
}

const program = join(packageRoot, 'dist/src/cli/main.js')
const startMs = 60_000
const says = /^iprisk serves \S+?:(\d+) with .* on \S+?:(\d+)$/

/** `flags` are those of `serve`; `under` is what it is started by. */
export async function startGround(
  folder: string,
  flags: Parameters<typeof flagsOf>[0] = {},
): Promise<Ground> {
  mkdirSync(folder, { recursive: true })
  const table = join(folder, 'small.iprisk')
  writeTable(table, smallContent())
  const state = join(folder, 'state')
  const made = await runChild(
    [
      process.execPath,
      program,
      'keys',
      'create',
      '--json',
      ...flagsOf({ plan: 'internal', state }),
    ],
    { timeoutMs: startMs, cwd: folder },
  )
  const { key } = JSON.parse(made) as { readonly key: string }
  const free = { port: 0, 'admin-port': 0, workers: 1, 'log-level': 'warn', state, table }
  const { child, found } = await startChild(
    [process.execPath, program, 'serve', ...flagsOf({ ...free, ...flags })],
    { timeoutMs: startMs, cwd: folder, ready: (line) => says.exec(line) ?? undefined },
  )
  const [port, adminPort] = [Number(found[1]), Number(found[2])]
  const worker = Number(
    readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ').at(-1),
  )
  return {
    port,
    key,
    worker,
    metric: async (name, label = '') => {
      const response = await fetch(`http://127.0.0.1:${adminPort}/metrics`)
      return sumOf(await response.text(), name, label)
    },
    memoryBytes: () => {
      const status = readFileSync(`/proc/${worker}/status`, 'utf8')
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
    },
    cpuSeconds: () => {
      const fields = readFileSync(`/proc/${worker}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) / 100
    },
    end: child.end,
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
