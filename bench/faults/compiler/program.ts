// Runs the compiled command line as an operator does, and kills it where that is asked: after a
// time, or a moment after so many changes in the folders that it writes to, which is where renames
// and half-written files are.

import { spawn } from 'node:child_process'
import { type FSWatcher, existsSync, watch } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { IpriskError } from '../../../src/base/coded-error.ts'
import { cliProgram } from '../../harness/child.ts'
import type { Random } from '../../harness/random.ts'

export interface KillPoint {
  /** After so many changes in the watched folders; 0 counts from the start. */
  readonly changes: number
  readonly ms: number
}

export interface CommandResult {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly ms: number
  /** Changes seen in the watched folders. */
  readonly changes: number
  readonly out: string
  readonly err: string
}

export interface CommandOptions {
  readonly cwd: string
  /** Folders to watch; those that do not exist are left out. */
  readonly watched?: readonly string[]
  readonly kill?: KillPoint
  /** What the program runs under: `strace` and its flags. */
  readonly under?: readonly string[]
}

export async function runCommand(
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  const { cwd, kill, watched = [], under = [] } = options
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('IPRISK_'))
  const [command = '', ...rest] = [...under, process.execPath, cliProgram, ...args]
  const begun = performance.now()
  const child = spawn(command, rest, { cwd, env: Object.fromEntries(inherited) })
  const texts = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.err += text))
  let changes = 0
  let killing: Promise<void> | undefined
  const look = (): void => {
    if (kill === undefined || changes < kill.changes) return
    killing ??= sleep(kill.ms).then(() => void child.kill('SIGKILL'))
  }
  const watchers: FSWatcher[] = watched
    .filter((folder) => existsSync(folder))
    .map((folder) =>
      watch(folder, () => {
        changes++
        look()
      }),
    )
  look()
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>(
    (resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code, signal) => resolve([code, signal]))
    },
  )
  const ms = performance.now() - begun
  for (const watcher of watchers) watcher.close()
  await killing
  return { code, signal, ms, changes, ...texts }
}

/** Throws `bench_failed` where a command fails on which a proof stands. */
export async function runCommandOrThrow(args: readonly string[], cwd: string): Promise<void> {
  const { code, err } = await runCommand(args, { cwd })
  if (code === 0) return
  throw new IpriskError({
    code: 'bench_failed',
    message: `iprisk ${args.join(' ')} ended with ${code}: ${err}`,
    fault: 'environment',
  })
}

/** By turns anywhere in the time of a whole run, and just after a change of its files. */
export function randomKillPoint(
  turn: number,
  whole: Pick<CommandResult, 'ms' | 'changes'>,
  random: Random,
): KillPoint {
  return turn % 2 === 0 || whole.changes === 0
    ? { changes: 0, ms: random.below(Math.max(1, Math.floor(whole.ms))) }
    : { changes: 1 + random.below(whole.changes), ms: random.below(4) }
}
