// A disk that fails: the same workspace on a disk that is full (a tmpfs of a chosen size), and with
// calls to the system on its files that fail from some moment on (bench/harness/c/faults.c).
// Whatever the moment, the run ends and says why without a stack, what is live afterwards is whole,
// and when the disk works again the next run gives what one on a good disk gives.
//
// A tmpfs needs the right to mount and the calls need gcc; where one is missing, `skipped` says so,
// and a form without any fault is no proof.

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import type { Day } from '../../../src/base/day.ts'
import { formatDay } from '../../../src/base/day.ts'
import { messageOf } from '../../../src/base/coded-error.ts'
import { compileProgram } from '../../harness/c/compile-c.ts'
import { type Random, newRandom } from '../../harness/random.ts'
import { serveFolder } from '../../harness/site.ts'
import { type CommandResult, runCommandOrThrow, runCommand } from './program.ts'
import type { ProofContext, ProofResult } from '../../harness/proof.ts'
import { publishSample, sampleDay, writeSampleHistory, writeSampleWorkspace } from './sample.ts'
import { type WorkspaceContents, inspectWorkspace } from './workspace.ts'

/** Calls by which the compiler reads and writes (faults.c), and how a disk refuses them. */
const injections = [
  { call: 'write', error: 'EIO' },
  { call: 'sync', error: 'EIO' },
  { call: 'rename', error: 'EIO' },
  { call: 'open', error: 'EIO' },
  { call: 'read', error: 'EIO' },
  { call: 'truncate', error: 'EIO' },
  { call: 'write', error: 'ENOSPC' },
  { call: 'rename', error: 'ENOSPC' },
  { call: 'mkdir', error: 'ENOSPC' },
  { call: 'unlink', error: 'EIO' },
] as const

/** Of each command. */
const runs = {
  ci: { full: 1, injected: 1 },
  short: { full: 2, injected: 16 },
  long: { full: 25, injected: 55 },
} as const

interface Ground {
  readonly base: string
  /** A whole run's workspace, for its size. */
  readonly whole: string
  readonly folder: string
  /** What makes calls fail; `undefined` where it cannot be compiled. */
  readonly faulty: string | undefined
  readonly args: readonly string[]
  readonly expected: WorkspaceContents
  readonly random: Random
}

interface Tally {
  full: number
  injected: number
  /** Runs that ended with an error, as they should where it matters. */
  failed: number
  /** Of `injections`, what failed at least once. */
  readonly calls: Set<string>
  readonly skipped: Set<string>
  readonly faults: string[]
}

export async function diskFaults(context: ProofContext): Promise<ProofResult> {
  const { folder, form, say } = context
  const publisher = join(folder, 'publisher')
  const base = join(folder, 'base')
  const mirror = await serveFolder(publisher)
  const random = newRandom(13)
  const tally: Tally = {
    full: 0,
    injected: 0,
    failed: 0,
    calls: new Set(),
    skipped: new Set(),
    faults: [],
  }
  const compiled = compileProgram('faults', folder)
  const faulty = 'value' in compiled ? compiled.value : undefined
  if ('reason' in compiled) tally.skipped.add(`no failing calls: ${compiled.reason}`)
  try {
    const yesterday = (sampleDay - 1) as Day
    writeSampleWorkspace(base, mirror.url)
    writeSampleHistory(join(folder, 'past'), (sampleDay - 4) as Day, 2)
    writeSampleHistory(join(folder, 'days'), (sampleDay - 2) as Day, 4)
    await runCommandOrThrow(['history', 'import', join(folder, 'past')], base)
    publishSample(publisher, yesterday)
    await runCommandOrThrow(['build', '--as-of', formatDay(yesterday)], base)
    publishSample(publisher, sampleDay)
    const commands = [
      ['build', '--as-of', formatDay(sampleDay)],
      ['history', 'import', join(folder, 'days')],
      ['feeds', 'fetch'],
    ]
    for (const [at, args] of commands.entries()) {
      const whole = join(folder, `whole-${args[0]}`)
      cpSync(base, whole, { recursive: true })
      await runCommandOrThrow(args, whole)
      const { contents: expected } = await inspectWorkspace(whole)
      const ground = { base, whole, folder, faulty, args, expected, random }
      for (let n = 0; n < runs[form].full; n++) await tryFullDisk(ground, tally)
      say(`${args.slice(0, 2).join(' ')}: ${tally.full} runs on full disks so far`)
      // Each begins with another call, for in the form of CI it meets one alone.
      for (let n = 0; n < runs[form].injected; n++) await tryInjection(ground, at + n, tally)
      say(`${args.slice(0, 2).join(' ')}: ${tally.injected} runs with failing calls so far`)
    }
  } finally {
    mirror.close()
  }
  if (tally.full + tally.injected === 0) tally.faults.push('no fault could be tried')
  return resultOf(tally, folder)
}

/** On a disk with room for a random part of what the run writes. */
async function tryFullDisk(ground: Ground, tally: Tally): Promise<void> {
  const { base, whole, folder, args, random } = ground
  const workspace = join(folder, 'full')
  mkdirSync(workspace, { recursive: true })
  const needed = bytesOf(base) + random.below(bytesOf(whole))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${needed}`, 'none', workspace], quiet)
  } catch (thrown) {
    tally.skipped.add(`no full disks: mount is refused (${firstLine(messageOf(thrown))})`)
    return
  }
  try {
    cpSync(base, workspace, { recursive: true })
    const ended = await runCommand(args, { cwd: workspace })
    tally.full++
    await judge(ground, { workspace, ended, what: `with ${needed} bytes` }, tally, () => {
      execFileSync('mount', ['-o', 'remount,size=512m', workspace], quiet)
    })
  } finally {
    execFileSync('umount', [workspace], quiet)
  }
}

/** With a call that fails from its n-th time on. */
async function tryInjection(ground: Ground, turn: number, tally: Tally): Promise<void> {
  const { base, folder, faulty, args, random } = ground
  if (faulty === undefined) return
  const { call, error } = injections[turn % injections.length] ?? injections[0]
  const workspace = join(folder, 'injected')
  const log = join(folder, 'injected.log')
  // Some calls are made a few times in a run and some a hundred times.
  const from = 1 + random.below(2 ** (1 + random.below(turn < injections.length ? 3 : 7)))
  rmSync(workspace, { recursive: true, force: true })
  rmSync(log, { force: true })
  cpSync(base, workspace, { recursive: true })
  const settings = {
    LD_PRELOAD: faulty,
    FAULTS_FOLDER: realpathSync(workspace),
    FAULTS_CALL: call,
    FAULTS_ERROR: constants.errno[error],
    FAULTS_FROM: from,
    FAULTS_LOG: log,
  }
  const variables = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  const under = ['timeout', '-s', 'KILL', '60', 'env', ...variables]
  const ended = await runCommand(args, { cwd: workspace, under })
  // A call that is made less often than that did not fail.
  if (existsSync(log)) {
    tally.injected++
    tally.calls.add(`${call} ${error}`)
  }
  const what = `with ${error} from ${call} ${from} on`
  await judge(ground, { workspace, ended, what }, tally, () => undefined)
}

/** What the run left, and what the next one makes of it on a disk that works. */
async function judge(
  { args, expected }: Ground,
  run: { readonly workspace: string; readonly ended: CommandResult; readonly what: string },
  tally: Tally,
  repair: () => void,
): Promise<void> {
  const { workspace, ended, what } = run
  if (ended.code !== 0) tally.failed++
  const found: string[] = []
  const unforeseen = /unexpected: .*/.exec(ended.err)?.[0]
  if (unforeseen !== undefined) found.push(`a stack is shown: ${unforeseen}`)
  if (ended.code !== 0 && ended.err === '') found.push('it fails and says nothing')
  if (ended.signal !== null) found.push(`ended by ${ended.signal}`)
  // To look at the history, DuckDB may have to write beside it.
  repair()
  const left = await inspectWorkspace(workspace)
  found.push(...left.faults)
  if (!left.contents.has('world.iprisk')) found.push('no table is live')
  const next = await runCommand(args, { cwd: workspace })
  if (next.code !== 0) found.push(`the next run fails: ${next.err}`)
  const again = await inspectWorkspace(workspace)
  found.push(...again.faults)
  for (const path of new Set([...again.contents.keys(), ...expected.keys()])) {
    if (again.contents.get(path) === expected.get(path)) continue
    found.push(`${path} is not as on a good disk after the next run`)
  }
  tally.faults.push(...found.map((fault) => `${args[0]} ${what}: ${fault}`))
}

function resultOf(tally: Tally, folder: string): ProofResult {
  // The report does not say in which folder it ran.
  const plain = (text: string): string => text.replaceAll(folder, '')
  return {
    facts: {
      'runs on a disk that fills up': tally.full,
      'runs in which calls fail from some moment on': tally.injected,
      'of all runs, ended with an error': tally.failed,
      'what failed in them': [...tally.calls].sort().join(', '),
      skipped: [...tally.skipped].map(plain),
      faults: tally.faults.length,
    },
    faults: tally.faults.map(plain),
  }
}

const quiet = { stdio: 'pipe' } as const

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}

/** As a tmpfs counts: whole pages, and one a folder. */
function bytesOf(folder: string): number {
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .map((found) => (found.isFile() ? Math.ceil(found.size / 4096) : 1))
  return 4096 * pages.reduce((sum, count) => sum + count, 1)
}
