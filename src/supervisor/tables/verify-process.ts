// Runs the process that copies and verifies one table file (verify-child-main.ts). It takes longer to
// load than a server takes to read its options; so that of a server's first table starts before
// those are read, and waits for its order.

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { IpriskError } from '../../base/coded-error.ts'
import { type ErrorCode, isErrorCode } from '../../base/error-codes.ts'
import { lowerPriority } from '../../base/system/process.ts'
import type { AcceptanceResult } from '../../compare/acceptance-check.ts'
import type { TrafficTrial, TrialResult } from '../../compare/traffic-trial.ts'
import { secondThread } from './verify-thread.ts'

/** A table of the world is verified in seconds; a machine that swaps may take far longer. */
const verifyMsMax = 300_000

const program = fileURLToPath(new URL('./verify-child-main.js', import.meta.url))

/**
 * Of the process that a server's start waits for, on cores that the server's other processes need as
 * well: it verifies in two threads, and V8 compiles in these. Threads of its own for that took a
 * seventh of all the processor time.
 */
const aheadArguments = ['--no-concurrent-recompilation', program, secondThread]

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
  /** The table in use could not be compared: its copy is damaged or missing. */
  readonly isBeforeLost?: true
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

/** Starts the process of the next order; nothing but that order keeps it, or this process, alive. */
export function startVerifyingAhead(): void {
  try {
    startedAhead = startProcess(aheadArguments)
    holdLoop(startedAhead.child, 'unref')
  } catch {
    // The order itself tries again, and says what is wrong.
  }
}

/** Ends that process where no order has come for it. */
export function endVerifyingAhead(): void {
  startedAhead?.child.stdin?.end()
  startedAhead = undefined
}

/** Whether it, and its pipes, keep this process alive. */
function holdLoop(child: ChildProcess, how: 'ref' | 'unref'): void {
  const parts = [child, ...child.stdio] as readonly ({
    ref?: () => void
    unref?: () => void
  } | null)[]
  for (const part of parts) part?.[how]?.()
}

/** The one that was started ahead, if it lives. */
function takeAhead(): VerifyProcess | undefined {
  const ahead = startedAhead
  startedAhead = undefined
  if (ahead === undefined) return undefined
  const { exitCode, signalCode } = ahead.child
  if (exitCode !== null || signalCode !== null) return undefined
  holdLoop(ahead.child, 'ref')
  return ahead
}

/** It asks nobody by TLS, and Node.js reads these certificates at its start, which takes 50 ms. */
function environment(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env
  return rest
}

function startProcess(args: readonly string[] = [program]): VerifyProcess {
  const child = spawn(process.execPath, args, { stdio: 'pipe', env: environment() })
  const said = { stdout: '', stderr: '' }
  // Without descriptors there are no pipes either.
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once('error', ({ message }) => resolve({ ...said, stderr: message, signal: null }))
    child.once('close', (_code, signal) => resolve({ ...said, signal }))
  })
  const pipes: Pick<ChildProcess, 'stdin' | 'stdout' | 'stderr'> = child
  // One that has ended by now says why by itself.
  pipes.stdin?.on('error', () => undefined)
  pipes.stdout?.setEncoding('utf8').on('data', (text: string) => (said.stdout += text))
  pipes.stderr?.setEncoding('utf8').on('data', (text: string) => (said.stderr += text))
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
  const ahead = takeAhead()
  let said = await carryOut(ahead ?? startProcess(), order, how)
  // Ended by the system or by a fault at its start, perhaps before it had its order. (Or by a fault
  // of ours without a code, which costs a second try.)
  if (ahead !== undefined && !said.killed && !said.isDone && codeSaid(said) === undefined) {
    said = await carryOut(startProcess(), order, how)
  }
  const { stdout, stderr, isDone, killed, signal } = said
  if (isDone) return JSON.parse(stdout) as VerifyResult
  const why =
    stderr.trim() ||
    `The table ${order.source} could not be verified: ${howEnded(how.signal, killed, signal)}.`
  const code = codeSaid(said) ?? 'table_unverified'
  throw new IpriskError({ code, message: why, fault: 'input' })
}

/** The code of what it says is wrong with the table. */
function codeSaid({ stdout }: ProcessEnd): ErrorCode | undefined {
  const code = /^\{"code":"(\w+)"\}\n$/.exec(stdout)?.[1]
  return isErrorCode(code) ? code : undefined
}

/** Gives the process its order, and waits until it has ended. */
async function carryOut(
  { child, ended }: VerifyProcess,
  order: VerifyOrder,
  { signal, urgent }: Parameters<typeof verifyInProcess>[1],
): Promise<ProcessEnd & { readonly isDone: boolean; readonly killed: boolean }> {
  // At once, because Node's own start takes as long as a small table does: over 40 swaps each, p99.9
  // of checks in the second of the swap over the steady one was 1.1, and 1.9 where the process
  // lowered it itself once it ran.
  if (!urgent) lowerPriority(child.pid)
  let killed = false
  const kill = (): void => {
    killed = true
    child.kill()
  }
  const timer = setTimeout(kill, verifyMsMax)
  signal.addEventListener('abort', kill)
  if (signal.aborted) kill()
  child.stdin?.end(JSON.stringify(order))
  const end = await ended
  clearTimeout(timer)
  signal.removeEventListener('abort', kill)
  // What ends it with 0 may be another's code, before it has begun.
  return { ...end, isDone: child.exitCode === 0 && end.stdout !== '', killed }
}

function howEnded(abort: AbortSignal, killed: boolean, signal: ProcessEnd['signal']): string {
  if (abort.aborted) return 'the server is ending'
  if (killed) return `that took longer than ${verifyMsMax / 1000} seconds`
  if (signal === null) return 'the process for it ended without a word'
  return `the process for it was ended by ${signal}; by the system, where memory is short`
}
