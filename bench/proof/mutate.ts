// Mutated requests by the hundred thousand, several on a connection as long as the server keeps it:
// whatever they say, no worker dies, none of them is answered with a failure of the server, none is
// held for longer than a slow client may take, and memory stays.
//
// A request counts once the server has answered it, has closed its connection over it, or waits for
// more of it; what stood behind that one is sent again on the next connection. A connection on which
// the server waits is left to it, until the server ends it.

import { type Socket, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, newRandom } from '../random.ts'
import { type Ground, startGround } from './ground.ts'
import { honestRequests, mutant } from './mutant.ts'
import type { ProofContext, ProofResult } from './proof.ts'

const counts = { ci: 200_000, short: 200_000, long: 10_000_000 } as const

/** At once; most of the time of each goes into waiting for what the server waits for, too. */
const lanes = 128
/** Requests that are sent before the first of them is answered. */
const ahead = 8
/** A server that has said nothing for so long waits for more. */
const quietMs = 40
/** The longest that it may wait, 12 s, and a second for what measures it to notice. */
const hangMs = 13_000
/** So many connections are watched until the server ends them; further ones are dropped. */
const watchedMax = 400
/** Caches and heaps have their size by then; memory is measured from here. */
const warmShare = 0.5
const memorySharePercent = 5

interface Tally {
  sent: number
  answered: number
  closed: number
  waited: number
  connections: number
  /** Not near the end, for whoever is watched is waited for. */
  watching: boolean
  watched: number
  longestMs: number
  versionRefusals: number
  readonly faults: Set<string>
}

export async function mutate(context: ProofContext): Promise<ProofResult> {
  const { folder, form, say } = context
  const count = counts[form]
  const ground = await startGround(folder)
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
  try {
    const begun = performance.now()
    // Insights fill the heap of a thread up to its bound, which takes longer than the short form.
    const honest = honestRequests(ground.key, form === 'long')
    await run(ground, tally, { until: count * warmShare, honest, random: newRandom(1) })
    const before = await restingMemory(ground)
    say(`${tally.sent} sent, ${Math.round(before / 1024)} KiB`)
    tally.watching = form === 'long'
    await run(ground, tally, { until: count, honest, random: newRandom(2) })
    const seconds = (performance.now() - begun) / 1000
    const cpu = ground.cpuSeconds()
    await settle(tally)
    const after = await restingMemory(ground)
    return await resultOf(ground, tally, { before, after, seconds, cpu })
  } finally {
    await ground.end()
  }
}

async function run(
  ground: Ground,
  tally: Tally,
  what: { readonly until: number; readonly honest: readonly string[]; readonly random: Random },
): Promise<void> {
  const { until, honest, random } = what
  const lane = async (): Promise<void> => {
    let waiting: string[] = []
    while (tally.sent < until) {
      while (waiting.length < ahead) waiting.push(mutant(honest, random))
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
    tally.faults.add(`a connection was held for more than 12 s`)
    socket.destroy()
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

/** The least of a few looks at a server that is left alone. */
async function restingMemory(ground: Ground): Promise<number> {
  let least = Infinity
  for (let look = 0; look < 5; look++) {
    await sleep(200)
    least = Math.min(least, ground.memoryBytes())
  }
  return least
}

async function resultOf(
  ground: Ground,
  tally: Tally,
  measured: Readonly<Record<'before' | 'after' | 'seconds' | 'cpu', number>>,
): Promise<ProofResult> {
  const { before, after, seconds, cpu } = measured
  const faults = [...tally.faults]
  const growth = (100 * (after - before)) / before
  if (growth > memorySharePercent) faults.push(`memory grew by ${growth.toFixed(1)} %`)
  const deaths = await ground.metric('iprisk_worker_restarts_total')
  if (deaths > 0) faults.push(`${deaths} workers died`)
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
  const mebibytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`
  return {
    facts: [
      { what: 'mutated requests', figure: String(tally.sent) },
      { what: 'connections', figure: String(tally.connections) },
      { what: 'requests answered', figure: String(tally.answered) },
      { what: 'connections that the server closed over a request', figure: String(tally.closed) },
      { what: 'connections on which it waited for more', figure: String(tally.waited) },
      { what: 'of those watched, the longest', figure: `${(tally.longestMs / 1000).toFixed(1)} s` },
      { what: 'answers 505, to another version', figure: String(tally.versionRefusals) },
      { what: 'answers 500 or 503', figure: String(failures) },
      { what: 'workers that died', figure: String(deaths) },
      { what: 'memory of the worker, warm', figure: mebibytes(before) },
      { what: 'memory of the worker, afterwards', figure: mebibytes(after) },
      {
        what: 'seconds, and of them those of the worker',
        figure: `${seconds.toFixed(1)}, ${cpu.toFixed(1)}`,
      },
    ],
    faults,
  }
}
