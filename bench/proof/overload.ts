// Five times the connections that a server is set to hold: those that are in keep their goodput, those
// above the cap are closed at accept and counted, and when they are gone a new one is served at once.
//
// Goodput is of as many connections as the cap has room for, from a process of their own; windows
// without and with the crowd alternate. It is judged by the second of the worker's time, for the crowd
// runs on the same cores as the server, which no crowd of the world does; by the clock it is told, too.
// One of the crowd that was turned away comes again after a while, as clients do.

import { setMaxListeners } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { chooseDriver } from '../driver.ts'
import type { LoadResult } from '../load.ts'
import { requestsOf } from '../request.ts'
import { median } from '../statistics.ts'
import { converse } from '../../test/server/socket.ts'
import { type Ground, startGround } from './ground.ts'
import { honestRequests } from './mutant.ts'
import type { ProofContext, ProofResult } from './proof.ts'

const cap = 200
const crowdCount = 4 * cap
const againMs = 1000
const goodputShare = 0.9
const recoveryMs = 1000

const runs = {
  ci: { pairs: 2, seconds: 2 },
  short: { pairs: 5, seconds: 4 },
  long: { pairs: 10, seconds: 30 },
} as const

export async function overload({ folder, form }: ProofContext): Promise<ProofResult> {
  const ground = await startGround(folder, { connections: cap })
  const faults: string[] = []
  try {
    const load = chooseDriver(undefined).prepare(requestsOf(ground.key, ['9.5.5.5']), folder)
    const { pairs, seconds } = runs[form]
    const within = (): Promise<LoadResult> =>
      load({ port: ground.port, seconds, connections: cap, threads: 1, cores: undefined })
    const alone: Window[] = []
    const crowded: Window[] = []
    let turnedAway = 0
    let letIn = 0
    let recovered = 0
    for (let pair = 0; pair < pairs; pair++) {
      alone.push(await measure(ground, within))
      // Those within are there first; where one of the crowd gets in, it holds a place for nothing.
      const running = measure(ground, within)
      await sleep(300)
      const crowd = openCrowd(ground)
      const window = await running
      crowded.push(window)
      if (window.failed > 0) faults.push('requests within failed')
      const counts = await crowd.end()
      turnedAway += counts.turnedAway
      letIn += counts.letIn
      recovered = Math.max(recovered, await firstAnswerMs(ground))
    }
    const closed = await ground.metric('iprisk_connections_closed_total', 'all')
    const of = (windows: readonly Window[], what: 'perCpuSecond' | 'perSecond'): number =>
      median(windows.map((window) => window[what]))
    const share = of(crowded, 'perCpuSecond') / of(alone, 'perCpuSecond')
    // The form of CI sees that it works: no clock judges there.
    const isJudged = form !== 'ci'
    if (isJudged && share < goodputShare)
      faults.push(`goodput fell to ${(100 * share).toFixed(0)} %`)
    // The load itself may have been closed while it found its places.
    if (turnedAway < crowdCount * pairs || closed < turnedAway) {
      faults.push(`${turnedAway} were turned away and ${closed} counted`)
    }
    if (isJudged && recovered > recoveryMs)
      faults.push(`it took ${Math.round(recovered)} ms to recover`)
    const perSecond = (value: number): string => `${Math.round(value)}/s`
    return {
      facts: [
        { what: 'connections that it is set to hold', figure: String(cap) },
        { what: 'connections asked for at once', figure: String(cap + crowdCount) },
        {
          what: "goodput by the worker's time, alone and crowded",
          figure: `${perSecond(of(alone, 'perCpuSecond'))}, ${perSecond(of(crowded, 'perCpuSecond'))}`,
        },
        {
          what: 'goodput by the clock, alone and crowded',
          figure: `${perSecond(of(alone, 'perSecond'))}, ${perSecond(of(crowded, 'perSecond'))}`,
        },
        { what: 'share kept', figure: `${(100 * share).toFixed(1)} %` },
        { what: 'turned away at accept', figure: String(turnedAway) },
        { what: 'closed at accept, by the metric', figure: String(closed) },
        { what: 'of the crowd, let in as places came free', figure: String(letIn) },
        { what: 'a new connection is answered after', figure: `${Math.round(recovered)} ms` },
      ],
      faults,
    }
  } finally {
    await ground.end()
  }
}

interface Window {
  readonly perCpuSecond: number
  readonly perSecond: number
  readonly failed: number
}

async function measure(ground: Ground, within: () => Promise<LoadResult>): Promise<Window> {
  const before = ground.cpuSeconds()
  const { requests, errors, seconds } = await within()
  const good = requests - errors.status
  return {
    perCpuSecond: good / (ground.cpuSeconds() - before),
    perSecond: good / seconds,
    failed: errors.status + errors.timeout,
  }
}

/** Connections that come again and again, a second after they were turned away. */
function openCrowd({ port }: Ground): {
  readonly end: () => Promise<{ readonly turnedAway: number; readonly letIn: number }>
} {
  let turnedAway = 0
  let letIn = 0
  const stop = new AbortController()
  setMaxListeners(0, stop.signal)
  const client = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const begun = performance.now()
      await new Promise<void>((resolve) => {
        const socket = connect({ port, host: '127.0.0.1' })
        const leave = (): void => void socket.destroy()
        stop.signal.addEventListener('abort', leave)
        socket.on('error', () => undefined)
        socket.resume()
        socket.once('close', () => {
          stop.signal.removeEventListener('abort', leave)
          if (!stop.signal.aborted) turnedAway += 1
          else letIn += 1
          resolve()
        })
      })
      const restMs = againMs - (performance.now() - begun)
      if (restMs > 0) await sleep(restMs, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  }
  const clients = Promise.all(Array.from({ length: crowdCount }, client))
  return {
    end: async () => {
      stop.abort()
      await clients
      return { turnedAway, letIn }
    },
  }
}

/** Milliseconds until a connection that opens now is answered; it may have to come again. */
async function firstAnswerMs({ port, key }: Ground): Promise<number> {
  const [honest = ''] = honestRequests(key, false)
  const begun = performance.now()
  while (performance.now() - begun < 10 * recoveryMs) {
    const { text } = await converse(port, [honest], { quietMs: 20 })
    if (text.startsWith('HTTP/1.1 200 ')) break
  }
  return performance.now() - begun
}
