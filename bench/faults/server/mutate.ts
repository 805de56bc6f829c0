// Mutated requests by the hundred thousand, several on a connection as long as the server keeps it:
// whatever they say, no worker dies, none of them is answered with a failure of the server, none is
// held for longer than a slow client may take, and memory stays.
//
// A request counts once the server has answered it, has closed its connection over it, or waits for
// more of it; what stood behind that one is sent again on the next connection. A connection on
// which the server waits is left to it, until the server ends it.

import { type Socket, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, newRandom } from '../../harness/random.ts'
import { leastOfThirds, slopeOf } from '../../harness/statistics.ts'
import { type MemoryUse, type SmallServer, mebibytes, startSmallServer } from './served.ts'
import { honestRequests, mutatedRequest } from '../clients/mutant.ts'
import type { ProofContext, ProofResult } from '../../harness/proof.ts'

const counts = { ci: 20_000, short: 200_000, long: 10_000_000 } as const

/** At once; most of the time of each goes into waiting for what the server waits for, too. */
const lanes = 128
/** Requests that are sent before the first of them is answered. */
const ahead = 8
/** A server that has said nothing for so long waits for more. */
const quietMs = 40
/**
 * The longest that it may wait, 12 s, and a second for what measures it, whose own loop is full.
 */
const hangMs = 13_000
/** So many connections are watched until the server ends them; further ones are dropped. */
const watchedMax = 400
/**
 * Memory is looked at at the end of each part, all garbage collected. Caches have their size after
 * half of them; judged is the slope of the least looks of each third from then on: in the long form
 * a leak of three bytes a connection shows in it.
 */
const parts = { ci: 10, short: 10, long: 20 } as const
const memorySharePercent = 5

interface Tally {
  sent: number
  answered: number
  closed: number
  waited: number
  connections: number
  /** No watching begins near the end, because the proof waits for each watched client. */
  watching: boolean
  watched: number
  longestMs: number
  versionRefusals: number
  readonly faults: Set<string>
}

interface Look extends MemoryUse {
  readonly connections: number
}

export async function mutate(context: ProofContext): Promise<ProofResult> {
  const { folder, form, say } = context
  const count = counts[form]
  const ground = await startSmallServer(folder)
  const tally: Tally = {
    sent: 0,
    answered: 0,
    closed: 0,
    waited: 0,
    connections: 0,
    watching: true,
    watched: 0,
    longestMs: 0,
    versionRefusals: 0,
    faults: new Set(),
  }
  const looks: Look[] = []
  try {
    const begun = performance.now()
    // Insights fill the heap of a thread up to its bound, which takes longer than the short form.
    const honest = honestRequests(ground.key, form === 'long')
    for (let part = 1; part <= parts[form]; part++) {
      tally.watching = form === 'long' || part <= parts[form] / 2
      const until = (count * part) / parts[form]
      await run(ground, tally, { until, honest, random: newRandom(part) })
      const held = await ground.memoryUse()
      if (held !== undefined) looks.push({ connections: tally.connections, ...held })
      say(`${tally.sent} sent, ${mebibytes(held?.used ?? NaN)}`)
    }
    const seconds = (performance.now() - begun) / 1000
    const cpu = ground.cpuSeconds()
    await settle(tally)
    return await resultOf(ground, tally, { looks, seconds, cpu })
  } finally {
    await ground.end()
  }
}

async function run(
  ground: SmallServer,
  tally: Tally,
  what: { readonly until: number; readonly honest: readonly string[]; readonly random: Random },
): Promise<void> {
  const { until, honest, random } = what
  const lane = async (): Promise<void> => {
    let waiting: string[] = []
    while (tally.sent < until) {
      while (waiting.length < ahead) waiting.push(mutatedRequest(honest, random))
      const done = await converse(ground.port, waiting, tally)
      tally.sent += done
      waiting = waiting.slice(done)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** Sends all of them at once; how many the server is done with. */
async function converse(port: number, requests: readonly string[], tally: Tally): Promise<number> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  tally.connections += 1
  let answers = 0
  const closed = new Promise<'closed'>((resolve) => {
    socket.on('error', () => undefined)
    socket.once('close', () => resolve('closed'))
  })
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<'answered' | 'quiet'>((resolve) => {
    const wait = (): void => {
      clearTimeout(timer)
      // Twice, with a look at the sockets between: this process may be the one that is late.
      timer = setTimeout(() => {
        timer = setTimeout(() => resolve('quiet'), quietMs / 2)
      }, quietMs / 2)
    }
    socket.on('connect', wait)
    socket.on('data', (chunk: Buffer) => {
      answers += answersIn(chunk.toString('latin1'), tally)
      wait()
      if (answers >= requests.length) resolve('answered')
    })
  })
  socket.write(Buffer.from(requests.join(''), 'latin1'))
  const end = await Promise.race([closed, over])
  clearTimeout(timer)
  tally.answered += Math.min(answers, requests.length)
  if (end === 'closed') {
    // Over the one behind those that were answered, or with the answer to the last of them.
    tally.closed += 1
    return Math.min(requests.length, Math.max(1, answers))
  }
  if (end === 'answered') socket.destroy()
  else watch(socket, tally)
  return Math.min(requests.length, answers + 1)
}

/** Answers in a piece of a stream; one that is cut in its first bytes is missed. */
function answersIn(text: string, tally: Tally): number {
  let found = 0
  for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
    if (status === '100') continue
    found += 1
    // uWebSockets.js says so of a version that it does not speak, and closes.
    if (status === '505') tally.versionRefusals += 1
    else if (status.startsWith('5')) tally.faults.add(`an answer was ${status}`)
  }
  return found
}

/** The server waits for more: it must not do so for ever. */
function watch(socket: Socket, tally: Tally): void {
  tally.waited += 1
  if (tally.watched >= watchedMax || !tally.watching) {
    socket.destroy()
    return
  }
  tally.watched += 1
  const begun = performance.now()
  const timer = setTimeout(() => {
    // With a look at the sockets between: its end may lie there since this process was late.
    setImmediate(() => {
      if (socket.readableEnded || socket.destroyed) return
      tally.faults.add(`a connection was held for more than ${hangMs / 1000} s`)
      socket.destroy()
    })
  }, hangMs)
  socket.resume()
  socket.once('close', () => {
    clearTimeout(timer)
    tally.watched -= 1
    tally.longestMs = Math.max(tally.longestMs, performance.now() - begun)
  })
}

/** Until the server has ended the last connection that it waited on. */
async function settle(tally: Tally): Promise<void> {
  while (tally.watched > 0) await sleep(50)
}

async function resultOf(
  ground: SmallServer,
  tally: Tally,
  measured: {
    readonly looks: readonly Look[]
    readonly seconds: number
    readonly cpu: number
  },
): Promise<ProofResult> {
  const { looks, seconds, cpu } = measured
  const faults = [...tally.faults]
  const warm = looks.slice(looks.length / 2 - 1)
  const leastOf = (which: keyof MemoryUse): readonly (readonly [number, number])[] =>
    leastOfThirds(warm.map((look) => [look.connections, look[which]] as const))
  const least = leastOf('used')
  const [[early, before] = [NaN, NaN], [late] = [NaN]] = [least[0], least.at(-1)]
  const slope = least.length < 2 ? NaN : slopeOf(least)
  const growth = (100 * slope * (late - early)) / before
  if (growth > memorySharePercent) faults.push(`memory grows by ${growth.toFixed(1)} %`)
  const deaths = await ground.metric('iprisk_worker_restarts_total')
  if (deaths > 0) faults.push(`${deaths} workers died`, ...ground.logLines())
  const failures =
    (await ground.metric('iprisk_requests_total', '500')) +
    (await ground.metric('iprisk_requests_total', '503'))
  if (failures > 0) faults.push(`${failures} requests were answered with 500 or 503`)
  const [last] = honestRequests(ground.key, false)
  const honest = { ...tally, faults: new Set<string>() }
  if (
    (await converse(ground.port, [last ?? ''], honest)) !== 1 ||
    honest.answered === tally.answered
  ) {
    faults.push('an honest request was not answered afterwards')
  }
  return {
    facts: {
      'mutated requests': tally.sent,
      connections: tally.connections,
      'requests answered': tally.answered,
      'connections that the server closed over a request': tally.closed,
      'connections on which it waited for more': tally.waited,
      'of those watched, the longest': `${(tally.longestMs / 1000).toFixed(1)} s`,
      'answers 505, to another version': tally.versionRefusals,
      'answers 500 or 503': failures,
      'workers that died': deaths,
      'memory in use by the worker, garbage collected, the least of thirds after half time': least
        .map(([, bytes]) => mebibytes(bytes))
        .join(', '),
      'its slope meanwhile': `${slope.toFixed(1)} bytes a connection, ${growth.toFixed(1)} % in all`,
      'its own resident memory, the least of the same thirds': leastOf('resident')
        .map(([, bytes]) => mebibytes(bytes))
        .join(', '),
      'seconds, and of them those of the worker': `${seconds.toFixed(1)}, ${cpu.toFixed(1)}`,
    },
    faults,
  }
}
