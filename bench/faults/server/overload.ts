// Five times the connections that a server is set to hold: those that are in keep their goodput,
// those above the cap are closed at accept and counted, and when they are gone a new one is served
// at once.
//
// Goodput is of as many connections as the cap has room for, from a process of their own; windows
// without and with the crowd alternate, and neighbours are compared. The server has cores of its
// own, for the crowd of the world does not run on them; the load and the crowd (crowd-main.ts)
// share the others. Judged is the clock, and the second of the worker's time as well; only the
// latter where nothing can be pinned. One of the crowd that was turned away comes again after a
// while, as clients do.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { wrkDriver } from '../../speed/load/wrk.ts'
import type { LoadResult } from '../../speed/load/load.ts'
import { allowedCores, hasTaskset, pinProcess, planCores } from '../../speed/load/pin.ts'
import { requestsOf } from '../../speed/load/request.ts'
import { median } from '../../harness/statistics.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import { converse } from '../../../test/http/raw-socket.ts'
import type { CrowdReport } from '../clients/crowd-main.ts'
import { type SmallServer, startSmallServer } from './served.ts'
import { honestRequests } from '../clients/mutant.ts'
import type { ProofContext, ProofResult } from '../../harness/proof.ts'

const cap = 200
const crowdCount = 4 * cap
const crowdProgram = join(packageRoot, 'dist/bench/faults/clients/crowd-main.js')
const goodputShare = 0.9
const recoveryMs = 1000

/**
 * Of the tries that those of the crowd who did not get in would make at one a second, so many; each
 * has tried once a window in any case. Where it is judged the crowd has the lowest priority and a
 * core that the load fills: it runs when that lets it. Where the machine was so busy that the
 * server had a seventh of a core, it came to 4,163 tries in five windows of four seconds, one and a
 * little more each, and nearly all were about to try again when a window ended; a crowd that does
 * not come again falls below the half.
 */
const triedShare = 0.5

const runs = {
  ci: { pairs: 1, seconds: 2 },
  short: { pairs: 5, seconds: 4 },
  long: { pairs: 10, seconds: 30 },
} as const

export async function overload({ folder, form }: ProofContext): Promise<ProofResult> {
  const ground = await startSmallServer(folder, { connections: cap })
  const faults: string[] = []
  const allowed = allowedCores()
  const cores = planCores({ allowed, canPin: hasTaskset(), workers: 1 })
  const { serverCores, loadCores } = cores
  try {
    if (serverCores !== undefined) {
      for (const pid of [ground.primary, ground.worker]) pinProcess(pid, serverCores)
    }
    // The crowd inherits it.
    if (loadCores !== undefined) pinProcess(process.pid, loadCores)
    const load = wrkDriver().prepare(requestsOf(ground.key, ['9.5.5.5']), folder)
    const { pairs, seconds } = runs[form]
    // The form of CI sees that it works: no clock judges there, and all of the crowd is to come.
    const isJudged = form !== 'ci'
    const { PRIORITY_LOW, PRIORITY_NORMAL } = constants.priority
    const priority = isJudged ? PRIORITY_LOW : PRIORITY_NORMAL
    const within = (): Promise<LoadResult> =>
      load({ port: ground.port, seconds, connections: cap, threads: 1, cores: loadCores })
    const alone: Window[] = []
    const crowded: Window[] = []
    let turnedAway = 0
    let letIn = 0
    /** That the crowd would make at its pace, those of it that got in left out. */
    let tries = 0
    let recovered = 0
    for (let pair = 0; pair < pairs; pair++) {
      alone.push(await measure(ground, within))
      const { window, crowd } = await measureCrowded(ground, within, priority)
      crowded.push(window)
      if (window.failed > 0) faults.push('requests within failed')
      turnedAway += crowd.turnedAway
      letIn += crowd.letIn
      tries += Math.max(0, crowdCount - crowd.letIn) * Math.max(1, crowd.seconds)
      recovered = Math.max(recovered, await firstAnswerMs(ground))
    }
    const closed = await ground.metric('iprisk_connections_closed_total', 'all')
    const of = (windows: readonly Window[], what: Measure): number =>
      median(windows.map((window) => window[what]))
    const shareOf = (what: Measure): number =>
      median(crowded.map((window, pair) => window[what] / alone[pair]![what]))
    const measures: readonly Measure[] =
      serverCores === undefined ? ['perCpuSecond'] : ['perCpuSecond', 'perSecond']
    for (const share of measures.map(shareOf)) {
      if (!isJudged || share >= goodputShare) continue
      faults.push(`goodput fell to ${(100 * share).toFixed(0)} %`)
    }
    // The load itself may have been closed while it found its places.
    if (closed < turnedAway) faults.push(`${turnedAway} were turned away and ${closed} counted`)
    // In the form of CI the server's count does: where the machine is busy, many have not heard yet
    // that they were turned away when the window ends.
    const away = isJudged ? turnedAway : closed
    const enough = Math.max(crowdCount * pairs, isJudged ? tries * triedShare : 0)
    if (away < enough) {
      faults.push(`${away} were turned away, not ${Math.round(enough)}: that is no crowd`)
    }
    if (isJudged && recovered > recoveryMs)
      faults.push(`it took ${Math.round(recovered)} ms to recover`)
    if (faults.length > 0) faults.push(...ground.logLines())
    const perSecond = (value: number): string => `${Math.round(value)}/s`
    const percent = (value: number): string => `${(100 * value).toFixed(1)} %`
    return {
      facts: {
        'connections that it is set to hold': cap,
        'connections asked for at once': cap + crowdCount,
        "goodput by the worker's time, alone and crowded": `${perSecond(of(alone, 'perCpuSecond'))}, ${perSecond(of(crowded, 'perCpuSecond'))}`,
        'goodput by the clock, alone and crowded': `${perSecond(of(alone, 'perSecond'))}, ${perSecond(of(crowded, 'perSecond'))}`,
        "share kept, by the worker's time and by the clock": `${percent(shareOf('perCpuSecond'))}, ${percent(shareOf('perSecond'))}`,
        cores: cores.note,
        'turned away at accept, of tries at one a second each': `${turnedAway} of ${Math.round(tries)}`,
        'closed at accept, by the metric': closed,
        'of the crowd, let in as places came free, or not told yet': letIn,
        'a new connection is answered after': `${Math.round(recovered)} ms`,
      },
      faults,
    }
  } finally {
    if (loadCores !== undefined) pinProcess(process.pid, allowed)
    await ground.end()
  }
}

type Measure = 'perCpuSecond' | 'perSecond'

interface Window {
  readonly perCpuSecond: number
  readonly perSecond: number
  readonly failed: number
}

async function measure(ground: SmallServer, within: () => Promise<LoadResult>): Promise<Window> {
  const before = ground.cpuSeconds()
  const { requests, errors, seconds } = await within()
  const good = requests - errors.status
  return {
    perCpuSecond: good / (ground.cpuSeconds() - before),
    perSecond: good / seconds,
    failed: errors.status + errors.timeout,
  }
}

/** Those within are there first; where one of the crowd gets in, it holds a place for nothing. */
async function measureCrowded(
  ground: SmallServer,
  within: () => Promise<LoadResult>,
  priority: number,
): Promise<{ readonly window: Window; readonly crowd: CrowdReport }> {
  const crowd = await openCrowd(ground, priority)
  const running = measure(ground, within)
  // Awaited below; this keeps Node.js from calling its failure unhandled until then.
  running.catch(() => undefined)
  try {
    await sleep(300)
    crowd.begin()
    const window = await running
    return { window, crowd: await crowd.end() }
  } finally {
    crowd.kill()
  }
}

interface Crowd {
  readonly begin: () => void
  readonly end: () => Promise<CrowdReport>
  /** Also one that was not told to end. */
  readonly kill: () => void
}

/** One that has started: that takes longer than a window where the load fills its cores. */
async function openCrowd({ port }: SmallServer, priority: number): Promise<Crowd> {
  const child = fork(crowdProgram, [port, crowdCount, priority].map(String))
  const ended = once(child, 'exit').then(([code]): never => {
    throw new Error(`The process of the crowd has ended with ${code}.`)
  })
  // Those who wait for a message hear of it; an end that is asked for is none of theirs.
  ended.catch(() => undefined)
  const message = (): Promise<unknown[]> => Promise.race([once(child, 'message'), ended])
  await message()
  return {
    begin: () => void child.send('begin'),
    end: async () => {
      const answer = message()
      child.send('end')
      const [report] = (await answer) as [CrowdReport]
      return report
    },
    kill: () => void child.kill(),
  }
}

/** Milliseconds until a connection that opens now is answered; it may have to come again. */
async function firstAnswerMs({ port, key }: SmallServer): Promise<number> {
  const [honest = ''] = honestRequests(key, false)
  const begun = performance.now()
  while (performance.now() - begun < 10 * recoveryMs) {
    const { text } = await converse(port, [honest], { quietMs: 20 })
    if (text.startsWith('HTTP/1.1 200 ')) break
  }
  return performance.now() - begun
}
