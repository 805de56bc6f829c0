// Runs the process that copies and verifies one table file (verify-child-main.ts). It takes longer to
// load than a server takes to read its options; so that of a server's first table starts before
// those are read, and waits for its order.

import { type ChildProcess, spawn } from 'node:child_process'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { IpriskError } from '../../base/coded-error.ts'
import type { AcceptanceResult } from '../../table/acceptance-check.ts'
import type { TrafficTrial, TrialResult } from '../../traffic/traffic-trial.ts'

/** A table of the world is verified in seconds; a machine that swaps may take far longer. */
const verifyMsMax = 300_000

const program = fileURLToPath(new URL('./verify-child-main.js', import.meta.url))

/** What the process is told, as JSON on its standard input. */
export interface VerifyOrder {
  readonly source: string
  readonly copy: string
  /** The table in use, where there is one. */
  readonly before?: string
  /** It is taken whatever speaks against it. */
  readonly force: boolean
  readonly traffic?: TrafficTrial
}

/** What the process prints. */
export interface VerifyResult extends Omit<AcceptanceResult, 'against'> {
  readonly id: string
  /** As of the acceptance check; `traffic` where only the sampled traffic speaks against it. */
  readonly against: AcceptanceResult['against'] | 'traffic'
  /** What the sampled traffic says of it; absent where there is no such trial. */
  readonly trial?: TrialResult
}

interface VerifyProcess {
  readonly child: ChildProcess
  readonly ended: Promise<ProcessEnd>
}

interface ProcessEnd {
  readonly stdout: string
  readonly stderr: string
  readonly signal: NodeJS.Signals | null
}

let startedAhead: VerifyProcess | undefined

/** Starts the process of the next order. Where none comes, it ends with this one. */
export function startVerifyingAhead(): void {
  startedAhead = startProcess()
  // Neither it nor its pipes keep this process alive.
  const { child } = startedAhead
  for (const part of [child, ...child.stdio]) (part as { unref?: () => void } | null)?.unref?.()
}

function takeProcess(): VerifyProcess {
  const ahead = startedAhead
  startedAhead = undefined
  if (ahead === undefined || ahead.child.exitCode !== null) return startProcess()
  const { child } = ahead
  for (const part of [child, ...child.stdio]) (part as { ref?: () => void } | null)?.ref?.()
  return ahead
}

function startProcess(): VerifyProcess {
  const child = spawn(process.execPath, [program], { stdio: 'pipe' })
  // One that has ended by now says why by itself.
  child.stdin.on('error', () => undefined)
  const said = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text))
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once('error', ({ message }) => resolve({ ...said, stderr: message, signal: null }))
    child.once('close', (_code, signal) => resolve({ ...said, signal }))
  })
  return { child, ended }
}

/** Makes `copy` a verified copy of `source`, or throws; its code is that of what was thrown there. */
export async function verifyInProcess(
  order: VerifyOrder,
  how: {
    readonly signal: AbortSignal
    /** No client waits for a core meanwhile, and clients wait for the table. */
    readonly urgent: boolean
  },
): Promise<VerifyResult> {
  const { child, ended } = takeProcess()
  if (!how.urgent) lowerPriority(child)
  let killed = false
  const kill = (): void => {
    killed = true
    child.kill()
  }
  const timer = setTimeout(kill, verifyMsMax)
  how.signal.addEventListener('abort', kill)
  if (how.signal.aborted) kill()
  child.stdin?.end(JSON.stringify(order))
  const { stdout, stderr, signal } = await ended
  clearTimeout(timer)
  how.signal.removeEventListener('abort', kill)
  if (child.exitCode === 0) return JSON.parse(stdout) as VerifyResult
  const why =
    stderr.trim() ||
    `The table ${order.source} could not be verified: ${howEnded(how.signal, killed, signal)}.`
  const code = /^\{"code":"(\w+)"\}\n$/.exec(stdout)?.[1] ?? 'table_unverified'
  throw new IpriskError({ code, message: why, fault: 'input' })
}

/**
 * Lowers the priority, because workers answer on the same cores meanwhile. It is set from the first
 * moment on, because Node's own start takes as long as a small table does: over 40 swaps each,
 * p99.9 of checks in the second of the swap over the steady one was 1.1, and 1.9 where the process
 * lowered it itself once it ran. The threads of the process inherit it. With a lower one still, a
 * busy machine would take minutes for a table of the world.
 */
function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) os.setPriority(pid, os.constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // The process has ended, or the system forbids it; the result is the same.
  }
}

function howEnded(abort: AbortSignal, killed: boolean, signal: ProcessEnd['signal']): string {
  if (abort.aborted) return 'the server is ending'
  if (killed) return `that took longer than ${verifyMsMax / 1000} seconds`
  if (signal === null) return 'the process for it ended without a word'
  return `the process for it was ended by ${signal}; by the system, where memory is short`
}
