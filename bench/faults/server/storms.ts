// Storms from strangers without a key: crumbs of chunks, headers, pipelines, framing that is
// refused, clients that leave, nine thousand connections, TLS handshakes. No worker may end by
// them, and no honest client may fail but by want of processor time for handshakes; what becomes of
// the honest p99 is measured and told.

import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent as PlainAgent, request as requestPlain } from 'node:http'
import { Agent as TlsAgent, request as requestTls } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packageRoot } from '../../../src/base/package-root.ts'
import { paths } from '../../../src/api/public-port.ts'
import type { Facts, ProofContext, ProofResult } from '../../harness/proof.ts'
import type { StormReport } from '../clients/storm-main.ts'
import { type SmallServer, startSmallServer } from './served.ts'

const stormProgram = join(packageRoot, 'dist/bench/faults/clients/storm-main.js')

const plainKinds = [
  'chunks',
  'chunks of 16 bytes',
  'headers',
  'header bytes',
  'pipelining',
  'bad framing',
  'aborts',
  'connections',
] as const

const seconds = { ci: 1, short: 6, long: 60 } as const
/** Between two honest requests. */
const paceMs = 20
const answerMsMax = 10_000
/**
 * Beside handshakes nothing is held against an answer that never comes: the form of CI waits for
 * none.
 */
const tlsAnswerMsMax = { ci: 1000, short: answerMsMax, long: answerMsMax } as const

export async function storms(context: ProofContext): Promise<ProofResult> {
  const { folder, form } = context
  const facts: Facts = {}
  const faults: string[] = []
  const plain = await startSmallServer(join(folder, 'plain'))
  const plainTrial = { context, server: plain, isTls: false, facts, faults }
  try {
    // What is told of honest traffic alone judges nothing: in the form of CI once is enough.
    const alone = form === 'ci' ? await honestTraffic(plainTrial) : undefined
    for (const kind of plainKinds) await tryStorm(plainTrial, kind, alone)
    noteBusy(facts, plain)
  } finally {
    await plain.end()
  }
  const tls = await startSmallServer(join(folder, 'tls'), certificateFlags(folder))
  try {
    await tryStorm({ context, server: tls, isTls: true, facts, faults }, 'handshakes')
    noteBusy(facts, tls)
  } finally {
    await tls.end()
  }
  return { facts, faults }
}

/** Of RSA with 2048 bits, whose handshakes cost a server the most of those in use. */
function certificateFlags(folder: string): Readonly<Record<string, string>> {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-days', '2', '-nodes']
  const files = ['-keyout', key, '-out', cert]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject, ...files], {
    stdio: 'ignore',
  })
  return { 'tls-key-file': key, 'tls-cert-file': cert }
}

interface Trial {
  readonly context: ProofContext
  readonly server: SmallServer
  readonly isTls: boolean
  readonly facts: Facts
  readonly faults: string[]
}

async function tryStorm(trial: Trial, kind: string, known?: Honest): Promise<void> {
  const { context, server, isTls, facts, faults } = trial
  const alone = known ?? (await honestTraffic(trial))
  const child = fork(stormProgram, [String(server.port), kind])
  try {
    // It tells of its first connection.
    await Promise.race([once(child, 'message'), sleep(answerMsMax, undefined, { ref: false })])
    const beside = await honestTraffic(trial)
    const told = once(child, 'message')
    child.send('end')
    const [{ connections, bytes }] = (await told) as [StormReport]
    const restarts = await server.metric('iprisk_worker_restarts_total')
    const size = `${connections} connections, ${(bytes / 1e6).toFixed(1)} MB`
    const figure = `${alone.p99.toFixed(1)}, ${beside.p99.toFixed(1)} ms; ${beside.failed} of ${beside.sent} failed ${beside.why}(${size})`
    context.say(`${kind}: ${figure}`)
    facts[`${kind}: honest p99 alone and beside, failures`] = figure
    if (restarts > 0) faults.push(`${kind}: ${restarts} workers ended`)
    // A handshake costs the server a hundred times what it costs the stranger: only what stands in
    // front, or a cap per address, helps those who come new.
    if (beside.failed > 0 && !isTls) faults.push(`${kind}: ${beside.failed} honest requests failed`)
    if (connections === 0) faults.push(`${kind}: there was no storm`)
  } finally {
    child.kill('SIGKILL')
  }
}

function noteBusy(facts: Facts, { logLines }: SmallServer): void {
  const busy = logLines().filter((line) => line.includes('it is busy'))
  const what = 'times that the watchdog found a silent worker busy'
  facts[what] = Number(facts[what] ?? 0) + busy.length
}

interface Honest {
  readonly sent: number
  readonly failed: number
  readonly why: string
  readonly p99: number
}

/** A check every `paceMs`, in turn on a kept connection and on a new one. */
async function honestTraffic({ context: { form }, server, isTls }: Trial): Promise<Honest> {
  const options = { keepAlive: true, maxSockets: 4 }
  const kept = isTls
    ? new TlsAgent({ ...options, rejectUnauthorized: false })
    : new PlainAgent(options)
  const latencies: number[] = []
  const asked: Promise<void>[] = []
  const failures = new Map<string, number>()
  const fail = (why: string): void => void failures.set(why, (failures.get(why) ?? 0) + 1)
  const ask = async (isNew: boolean): Promise<void> => {
    const begun = performance.now()
    try {
      const answerMs = isTls ? tlsAnswerMsMax[form] : answerMsMax
      const status = await check({ server, isTls, answerMs }, isNew ? undefined : kept)
      if (status !== 200) fail(`status ${status}`)
    } catch (error) {
      fail((error as NodeJS.ErrnoException).code ?? 'no answer')
    }
    latencies.push(performance.now() - begun)
  }
  const until = performance.now() + seconds[form] * 1000
  while (performance.now() < until) {
    asked.push(ask(asked.length % 4 === 0))
    await sleep(paceMs)
  }
  await Promise.all(asked)
  kept.destroy()
  const failed = [...failures.values()].reduce((sum, count) => sum + count, 0)
  return {
    sent: asked.length,
    failed,
    why: [...failures].map(String).join(' '),
    p99: p99Of(latencies),
  }
}

function p99Of(latencies: readonly number[]): number {
  const sorted = latencies.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? NaN
}

/** The status of one check. */
function check(
  asked: { readonly server: SmallServer; readonly isTls: boolean; readonly answerMs: number },
  agent: PlainAgent | TlsAgent | undefined,
): Promise<number> {
  const { port, key } = asked.server
  const body = '{"ip":"9.1.2.3"}'
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: paths.check,
      headers: { authorization: `Bearer ${key}`, 'content-length': body.length },
      agent: agent ?? (false as const),
      rejectUnauthorized: false,
      timeout: asked.answerMs,
    }
    const request = (asked.isTls ? requestTls : requestPlain)(options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', reject)
    })
    request.on('timeout', () => request.destroy(new Error('no answer')))
    request.on('error', reject)
    request.end(body)
  })
}
