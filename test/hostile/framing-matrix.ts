// Runs the framing matrix against a port, and reads from the server's own log which requests it has
// answered, whatever became of the answers. The log names each by its X-Request-Id, which every
// request of the matrix carries.

import { eventually } from '../eventually.ts'
import { converse } from '../http/raw-socket.ts'
import { type Server, makeKey, startServer } from '../serve/server.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { type FramingCase, framingCases, wordsOf } from './framing-cases.ts'

/** Cases at once; each sits in silence for most of its time. */
const together = 24

/** How often the server says that it answered each request of one case. */
export interface Served {
  readonly name: string
  readonly id: string
  readonly kind: FramingCase['kind']
  readonly honest: number
  readonly smuggled: number
}

export interface MatrixResult {
  /** All ids that were answered, and how often. */
  readonly answered: ReadonlyMap<string, number>
  readonly served: readonly Served[]
  /** Ids of answered requests that nobody here has sent. */
  readonly strangers: readonly string[]
}

/** A server that logs each request it answers, and a key that it knows. */
export async function startLoggingServer(): Promise<{
  readonly server: Server
  readonly key: string
}> {
  const server = await startServer({ table: writeSmallTable(), args: ['--log-level', 'debug'] })
  const key = await makeKey(server.state)
  await eventually(async () => {
    const heard = await converse(server.port, [wordsOf(key, 'first').honest])
    return heard.text.startsWith('HTTP/1.1 200')
  })
  return { server, key }
}

/**
 * Writes every case to `port`; `run` tells this run's requests from others. `log` is the server's, at
 * level debug.
 */
export async function runMatrix(options: {
  readonly port: number
  readonly key: string
  readonly run: string
  readonly log: () => string
}): Promise<MatrixResult> {
  const { port, key, run, log } = options
  const before = log().length
  const queue = [...framingCases.entries()]
  const one = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [at, { parts }] = next
      await converse(port, parts(key, `${run}${at}`), { quietMs: 400, silentMs: 400 })
    }
  }
  await Promise.all(Array.from({ length: together }, one))
  await seen(port, wordsOf(key, `${run}last`).honest, () => log().includes(`${run}last-honest`))
  return judge(framingCases, run, answeredIn(log().slice(before)))
}

/** Sends a last request and waits until the log has it: everything before it is there by then. */
async function seen(port: number, request: string, done: () => boolean): Promise<void> {
  const until = performance.now() + 10_000
  do await converse(port, [request])
  while (!done() && performance.now() < until)
  if (!done()) throw new Error('the server does not log an honest request')
}

/** How often each id stands in lines about answers. */
export function answeredIn(log: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const line of log.split('\n')) {
    if (!line.includes('A request was answered.')) continue
    const { requestId } = JSON.parse(line) as { readonly requestId: string }
    counts.set(requestId, (counts.get(requestId) ?? 0) + 1)
  }
  return counts
}

function judge(
  cases: readonly FramingCase[],
  run: string,
  answered: ReadonlyMap<string, number>,
): MatrixResult {
  const known = new Set<string>([`${run}last-honest`])
  const count = (id: string): number => {
    known.add(id)
    return answered.get(id) ?? 0
  }
  const served = cases.map(({ name, kind }, at) => ({
    name,
    id: `${run}${at}`,
    kind,
    honest: count(`${run}${at}-honest`),
    smuggled: count(`${run}${at}-smuggled`),
  }))
  return { answered, served, strangers: [...answered.keys()].filter((id) => !known.has(id)) }
}
