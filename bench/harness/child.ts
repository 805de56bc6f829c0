// Child processes that cannot outlive their benchmark: each has a time limit, is ended by its own
// id, and is killed when this program ends for whatever reason. A server's own workers end
// themselves when their primary is gone.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { packageRoot } from '../../src/base/package-root.ts'
import { IpriskError } from '../../src/base/coded-error.ts'

/** The compiled command line, run as an operator runs it. */
export const cliProgram = join(packageRoot, 'dist/src/cli/main.js')

export type CommandLine = readonly [string, ...string[]]

export interface Child {
  readonly pid: number
  /** The last lines that it wrote, on either stream. */
  readonly said: () => readonly string[]
  /** Asks it to end and kills it where it does not within `endMs`. */
  readonly end: () => Promise<void>
}

/** For a server to drain; then it is killed. */
const endMs = 10_000
const outputBytesMax = 64 << 20
/** Lines of a child's last words that an error repeats. */
const lastLines = 10

/** Each with the signal that ends it and what it started when this program ends. */
const living = new Map<ChildProcess, NodeJS.Signals>()

process.on('exit', () => {
  for (const [child, signal] of living) child.kill(signal)
})

/** Runs a command to its end and gives its standard output. Throws `bench_failed`. */
export function runChild(
  [command, ...args]: CommandLine,
  options: {
    readonly timeoutMs: number
    readonly cwd?: string
    /** For its standard input. */
    readonly input?: string
  },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const { timeoutMs, cwd, input } = options
    const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: outputBytesMax } as const
    const place = { env: cleanEnvironment(), ...(cwd === undefined ? {} : { cwd }) }
    const child = execFile(command, args, { ...limits, ...place }, (error, stdout, stderr) => {
      living.delete(child)
      if (error === null) resolve(stdout)
      else reject(childFailed(command, error.killed === true ? 'took too long' : stderr.trim()))
    })
    living.set(child, 'SIGKILL')
    // It may end before it has read all.
    child.stdin?.on('error', () => undefined).end(input)
  })
}

/**
 * Starts a server and waits until `ready` finds what it looks for in a line of its output (either
 * stream). Throws `bench_failed` where it ends or says nothing of the kind in time.
 */
export async function startChild<T>(
  [command, ...args]: CommandLine,
  options: {
    readonly timeoutMs: number
    readonly cwd: string
    readonly ready: (line: string) => T | undefined
    /** For a server whose processes would outlive a killed one; SIGKILL without it. */
    readonly lastSignal?: NodeJS.Signals
  },
): Promise<{ readonly child: Child; readonly found: T }> {
  const { cwd, ready, timeoutMs, lastSignal = 'SIGKILL' } = options
  const child = spawn(command, args, {
    cwd,
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  living.set(child, lastSignal)
  const exited = new Promise<void>((resolve) => {
    child.once('close', () => {
      living.delete(child)
      resolve()
    })
  })
  const said: string[] = []
  const found = await new Promise<T>((resolve, reject) => {
    const fail = (why: string): void => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      reject(childFailed(command, [why, ...said.slice(-lastLines)].join('\n  ')))
    }
    const timer = setTimeout(() => fail(`was not ready after ${timeoutMs} ms`), timeoutMs)
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input }).on('line', (line) => {
        if (said.push(line) > 2 * lastLines) said.splice(0, lastLines)
        const found = ready(line)
        if (found === undefined) return
        clearTimeout(timer)
        resolve(found)
      })
    }
    child.once('error', (error) => fail(error.message))
    child.once('close', () => fail('ended before it was ready'))
  })
  const end = async (): Promise<void> => {
    child.kill('SIGTERM')
    if (await within(exited, endMs)) return
    child.kill('SIGKILL')
    await within(exited, endMs)
  }
  const pid = child.pid ?? 0
  return { child: { pid, said: () => said.slice(-lastLines), end }, found }
}

/** Whether it came about within `ms`. */
async function within(event: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  const inTime = await Promise.race([event.then(() => true), tooLate])
  clearTimeout(timer)
  return inTime
}

/** Options as a command line has them, `{ workers: 1 }` as `--workers 1`. */
export function flagsOf(options: Readonly<Record<string, string | number>>): readonly string[] {
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
}

/** By it Node.js reads more certificates at each start: 50 ms, and nobody here speaks TLS. */
const extraCertificates = 'NODE_EXTRA_CA_CERTS'

/**
 * No setting of the product reaches a measured process by the environment, nor what one machine
 * alone adds to each start.
 */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('IPRISK_') && name !== extraCertificates,
  )
  return Object.fromEntries(entries)
}

function childFailed(command: string, why: string): IpriskError {
  return new IpriskError({
    code: 'bench_failed',
    message: `${command} ${why === '' ? 'failed' : why}`,
    fault: 'environment',
  })
}
