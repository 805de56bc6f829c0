// kill -9 again and again: a command is run in copies of a workspace and killed at a random point;
// then everything under a live name must be whole and be the content from before or from after, and
// the next run must end well, at once, in the very workspace of a run that was never killed.

import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { newRandom } from '../../harness/random.ts'
import { median } from '../../harness/statistics.ts'
import { randomKillPoint, runCommand } from './program.ts'
import type { Facts, ProofResult } from '../../harness/proof.ts'
import {
  type WorkspaceContents,
  workspaceHistory,
  inspectWorkspace,
  workspaceTable,
} from './workspace.ts'

export interface KillPlan {
  /** Names the facts: `a small sample`. */
  readonly title: string
  /** The workspace before the command; it stays as it is. */
  readonly base: string
  /** For the copies. */
  readonly folder: string
  readonly args: readonly string[]
  /** Where the command writes, from the workspace: changes there are aimed at. */
  readonly watched: readonly string[]
  readonly runs: number
  readonly seed: number
  readonly say: (line: string) => void
}

interface Tally {
  kills: number
  /** Runs that ended before their kill. */
  late: number
  /** Kills that left files which no whole run leaves. */
  leftovers: number
  /** Kills after which some live content was new and some was not yet. */
  between: number
  readonly nextMs: number[]
  readonly faults: string[]
}

export async function killRuns(plan: KillPlan): Promise<ProofResult> {
  const { title, base, folder, args, runs, seed, say } = plan
  const random = newRandom(seed)
  const before = await inspectWorkspace(base)
  const done = join(folder, 'whole')
  cpSync(base, done, { recursive: true })
  const watched = (workspace: string): readonly string[] =>
    plan.watched.map((place) => join(workspace, place))
  const whole = await runCommand(args, { cwd: done, watched: watched(done) })
  const after = await inspectWorkspace(done)
  const tally: Tally = {
    kills: 0,
    late: 0,
    leftovers: 0,
    between: 0,
    nextMs: [],
    faults: [...before.faults, ...after.faults],
  }
  if (whole.code !== 0) tally.faults.push(`the run that is not killed fails: ${whole.err}`)
  for (let turn = 0; tally.kills < runs && turn < 3 * runs && tally.faults.length === 0; turn++) {
    const workspace = join(folder, `killed-${turn}`)
    cpSync(base, workspace, { recursive: true })
    const kill = randomKillPoint(turn, whole, random)
    const killed = await runCommand(args, { cwd: workspace, watched: watched(workspace), kill })
    if (killed.signal === 'SIGKILL') {
      await judgeKill({ workspace, args, before: before.contents, after: after.contents }, tally)
      const { kills } = tally
      if (kills % 10 === 0 || runs < 10) say(`${title}: ${kills} of ${runs} kills`)
    } else tally.late++
    if (tally.faults.length === 0) rmSync(workspace, { recursive: true })
    else tally.faults.push(`the killed run's folder is kept: ${workspace}`)
  }
  if (tally.kills < runs && tally.faults.length === 0) {
    tally.faults.push(`only ${tally.kills} of ${runs} runs could be killed`)
  }
  rmSync(done, { recursive: true })
  return { facts: factsOf(title, tally, whole.ms), faults: tally.faults }
}

/** What a kill left, and what the next run makes of it. */
async function judgeKill(
  of: {
    readonly workspace: string
    readonly args: readonly string[]
    readonly before: WorkspaceContents
    readonly after: WorkspaceContents
  },
  tally: Tally,
): Promise<void> {
  const { workspace, args, before, after } = of
  const left = await inspectWorkspace(workspace)
  tally.kills++
  const found = [...left.faults, ...strangers(left.contents, { before, after })]
  const leftover = [...left.contents.keys()].some((path) => !before.has(path) && !after.has(path))
  if (leftover) tally.leftovers++
  const live = [...left.contents].filter(
    ([path]) => isLive(path) && before.get(path) !== after.get(path),
  )
  const isNew = live.filter(([path, hash]) => after.get(path) === hash).length
  if (
    isNew > 0 &&
    isNew < [...after.keys()].filter((p) => isLive(p) && before.get(p) !== after.get(p)).length
  ) {
    tally.between++
  }
  const next = await runCommand(args, { cwd: workspace })
  tally.nextMs.push(next.ms)
  if (next.code !== 0) found.push(`the next run fails: ${next.err}`)
  const again = await inspectWorkspace(workspace)
  found.push(...again.faults, ...differences(again.contents, after))
  tally.faults.push(...found.map((fault) => `kill ${tally.kills}: ${fault}`))
}

/** What the world sees: the table, and the days of the history. */
function isLive(path: string): boolean {
  return (
    path === workspaceTable || (path.startsWith(`${workspaceHistory}/`) && !path.includes('/.'))
  )
}

/** Live content that is neither from before nor from after, or is gone. */
function strangers(
  left: WorkspaceContents,
  { before, after }: { readonly before: WorkspaceContents; readonly after: WorkspaceContents },
): readonly string[] {
  const changed = [...left]
    .filter(([path]) => isLive(path))
    .filter(([path, hash]) => before.get(path) !== hash && after.get(path) !== hash)
    .map(([path]) => `${path} is neither the old nor the new one`)
  const gone = [...before.keys()]
    .filter((path) => isLive(path) && after.has(path) && !left.has(path))
    .map((path) => `${path} is gone`)
  return [...changed, ...gone]
}

function differences(found: WorkspaceContents, expected: WorkspaceContents): readonly string[] {
  const paths = new Set([...found.keys(), ...expected.keys()])
  return [...paths]
    .filter((path) => found.get(path) !== expected.get(path))
    .map((path) => `${path} is not as without the kill after the next run`)
}

function factsOf(title: string, tally: Tally, wholeMs: number): Facts {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
  return {
    [`${title}: kills at random points`]: tally.kills,
    [`${title}: a run that is not killed`]: seconds(wholeMs),
    [`${title}: kills that left temporary files`]: tally.leftovers,
    [`${title}: kills with some content new, some not yet`]: tally.between,
    [`${title}: the next run, median`]:
      tally.nextMs.length === 0 ? 'none' : seconds(median(tally.nextMs)),
    [`${title}: faults`]: tally.faults.length,
  }
}
