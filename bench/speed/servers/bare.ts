// The ceiling of the benchmark `http`, a program of its own: bare uWebSockets.js in a cluster like
// the real server's, that answers everything with 200 and the same `--bytes` of JSON. It reads no
// header and no body and adds no header: what any server on uWebSockets.js cannot pass. With
// `--calls` it makes the native calls that a check cannot do without (one pass over the headers,
// the body, headers and answer as bytes, the clock before and after), hands over headers as long as
// a check's, and does nothing else: what of a check's garbage the binding and Node's clock make.
// With `--gate` it answers 204 with the headers of the gate, or makes the gate's calls. Loopback only, with requests that come
// in one piece.

import cluster from 'node:cluster'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { contentHeaders, keepAliveHeader } from '../../../src/http/reply/check-header-bytes.ts'
import { loadUws } from '../../../src/http/listen/load-uws.ts'
import { probePort } from '../../../src/supervisor/sockets/port-probe.ts'
import { readFlags } from '../../harness/option.ts'

const host = '127.0.0.1'
const emptyAnswer = JSON.stringify({ constant: '' })

/** JSON of exactly `bytes`, at the least an empty member. */
function constantAnswer(bytes: number): string {
  return JSON.stringify({ constant: 'x'.repeat(Math.max(0, bytes - emptyAnswer.length)) })
}

function readOptions(): {
  readonly bytes: number
  readonly workers: number
  readonly port: number
  readonly calls: boolean
  readonly gate: boolean
} {
  return readFlags({
    numbers: {
      bytes: { min: 0, max: 1 << 20, otherwise: 700 },
      workers: { max: 1024, otherwise: 1 },
      port: { min: 0, max: 65_535, otherwise: 0 },
    },
    switches: ['calls', 'gate'],
  })
}

/** Never undefined where it is called: the body follows its headers within one piece. */
let asking: HttpResponse | undefined
/** What was read, so that it is. */
let headers = 0
let view = new Uint8Array(0)
/** What was read of the clock, kept as the number that Node made of it. */
const clock: unknown[] = [0]

/**
 * What a 200 to a check of the benchmark's key says (check-header-bytes.ts): a quarter of all its
 * bytes, which the binding and the kernel copy.
 */
const checkHeaders = [
  contentHeaders + keepAliveHeader,
  'x-request-id: 0123456789abcdef-0000zzzz',
  'ratelimit-policy: "rate";q=1000000;w=1, "quota";q=1000000000;w=2678400',
  'ratelimit: "rate";r=999999;t=1, "quota";r=999999999;t=864000',
].join('\r\n')

/** A check's native calls, with nothing made that they do not hand out themselves. */
function answerByCalls(body: string): (res: HttpResponse, req: HttpRequest) => void {
  const head = Buffer.from(checkHeaders)
  const answer = Buffer.from(body)
  const takeHeader = (name: string, value: string): void => {
    headers += name.length + value.length
  }
  const onAborted = (): void => undefined
  const onData = (chunk: ArrayBuffer, isLast: boolean): void => {
    view = new Uint8Array(chunk)
    if (!isLast || view.length === 0) return
    clock[0] = performance.now()
    asking?.writeHeader('content-type', head).end(answer)
  }
  return (res, req) => {
    req.forEach(takeHeader)
    req.getQuery()
    asking = res
    clock[0] = performance.now()
    res.onAborted(onAborted)
    res.onData(onData)
  }
}

/** Of a visitor who is let in, to a request with an id of its own. */
const gateHeaders =
  'allow\r\nx-iprisk-rule: \r\nx-iprisk-classification: clean\r\nx-iprisk-score: 5' +
  `\r\nx-iprisk-country: US\r\nx-iprisk-asn: 64496\r\ncache-control: no-store${keepAliveHeader}`

function answerAsGate(res: HttpResponse): void {
  res.writeStatus('204 No Content')
  res.writeHeader('x-request-id', '0123456789abcdef0123456789abcdef')
  res.writeHeader('x-iprisk-action', gateHeaders)
  res.endWithoutBody()
}

/** The gate's native calls beside its answer. */
function answerAsGateByCalls(): (res: HttpResponse, req: HttpRequest) => void {
  const takeHeader = (name: string, value: string): void => {
    headers += name.length + value.length
  }
  const onAborted = (): void => undefined
  const answer = (): void => {
    clock[0] = performance.now()
    if (asking !== undefined) answerAsGate(asking)
  }
  return (res, req) => {
    req.forEach(takeHeader)
    headers += req.getCaseSensitiveMethod().length + req.getUrl().length
    clock[0] = performance.now()
    res.onAborted(onAborted)
    asking = res
    // The gate answers a turn's visitors together, each in a cork.
    res.cork(answer)
  }
}

async function runPrimary(): Promise<void> {
  const { bytes, workers, port: wanted, calls, gate } = readOptions()
  const port = await probePort({ host, port: wanted })
  const modes = [...(calls ? ['--calls'] : []), ...(gate ? ['--gate'] : [])]
  const args = ['--bytes', String(bytes), '--port', String(port), ...modes]
  cluster.setupPrimary({ args })
  // A worker that is gone would make the ceiling lower than it is: end, and be noticed.
  cluster.on('exit', () => process.exit(1))
  let listening = 0
  for (let index = 0; index < workers; index++) {
    cluster.fork().once('message', () => {
      listening += 1
      if (listening === workers) process.stdout.write(`bare listens on http://${host}:${port}\n`)
    })
  }
  process.on('SIGTERM', () => process.exit(0))
}

async function runWorker(): Promise<void> {
  const { bytes, port, calls, gate } = readOptions()
  const uws = await loadUws()
  const body = constantAnswer(bytes)
  const answerAtOnce = (res: HttpResponse): void => {
    res.writeHeader('content-type', 'application/json')
    res.end(body)
  }
  const handlerOf = () => {
    if (gate) return calls ? answerAsGateByCalls() : answerAsGate
    return calls ? answerByCalls(body) : answerAtOnce
  }
  uws
    .App()
    .any('/*', handlerOf())
    .listen(host, port, (socket) => {
      if (socket === false) throw new Error(`Cannot listen on port ${port} of ${host}.`)
      process.send?.('listening')
    })
}

await (cluster.isPrimary ? runPrimary() : runWorker())
