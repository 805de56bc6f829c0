// Lives and deaths under load: workers are killed and made to hang, all of them are replaced one by
// one, and a new server takes the place of the old one. Each time it is looked at how long it takes
// until all are there again, and what clients have lost.

import { setTimeout as sleep } from 'node:timers/promises'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { median } from '../../harness/statistics.ts'
import {
  type Clients,
  errorText,
  clientErrorCount,
  gentleLoad,
  nowMs,
  startClients,
} from '../clients/clients.ts'
import { goodTables } from './offers.ts'
import type { Facts, ProofContext, ProofResult } from '../../harness/proof.ts'
import { type ProofServer, connectionsOf, startProofServer, waitUntil } from './served.ts'

const counts = {
  ci: { kills: 1, hangs: 1, restarts: 1, stops: 0, takeovers: 1 },
  short: { kills: 20, hangs: 3, restarts: 5, stops: 2, takeovers: 2 },
  long: { kills: 200, hangs: 10, restarts: 100, stops: 10, takeovers: 10 },
} as const

const replacedMsMax = 1000

/** Of a hundred restarts without the kernel's help, this many requests in a million may be lost. */
const lostPerMillionMax = 2000

/**
 * Clients that are stopped over a restart: shorter than a worker lingers for those that are idle.
 */
const stoppedMs = 5000
/** Of their requests each is half sent for so long: a third of them when they are stopped. */
const halfMs = 20

/**
 * Established connections are not lost with a listener: those whose handshake ends meanwhile are.
 */
const migratePath = '/proc/sys/net/ipv4/tcp_migrate_req'

export async function serverLives(context: ProofContext): Promise<ProofResult> {
  const { form, folder } = context
  const path = join(folder, 'table.iprisk')
  const store = join(folder, 'offers')
  mkdirSync(store)
  goodTables(store, 1)[0]!.install(path)
  const facts: Facts = {}
  const faults: string[] = []
  const first = await startProofServer({ folder, table: path })
  const run: Run = { context, path, served: first, facts, faults }
  const before = readMigrate()
  try {
    await kills(run, 'SIGKILL', counts[form].kills)
    await kills(run, 'SIGSTOP', counts[form].hangs)
    // The short forms leave the machine as it is.
    const settings = form === 'long' && writeMigrate('1') ? (['1', '0'] as const) : [before]
    if (!settings.includes('1')) {
      const why =
        form === 'long' ? `${migratePath} cannot be written` : 'only the long form changes it'
      facts['restarts and takeovers with tcp_migrate_req=1 lose no request'] =
        `not shown: it is ${before}, and ${why}`
    }
    await stops(run, counts[form].stops)
    for (const migrate of settings) {
      if (form === 'long') writeMigrate(migrate)
      await restarts(run, migrate, counts[form].restarts)
      await takeovers(run, migrate, counts[form].takeovers)
    }
  } finally {
    if (form === 'long') writeMigrate(before)
    await run.served.end()
  }
  return { facts, faults }
}

interface Run {
  readonly context: ProofContext
  readonly path: string
  served: ProofServer
  readonly facts: Facts
  readonly faults: string[]
}

async function underLoad<T>(run: Run, act: (clients: Clients) => Promise<T>): Promise<T> {
  const clients = startClients({ port: run.served.port, key: run.served.key, ...gentleLoad })
  try {
    await sleep(1000)
    return await act(clients)
  } finally {
    await clients.end().catch(() => undefined)
  }
}

/** Ends or stops one worker after the other. */
async function kills(run: Run, signal: 'SIGKILL' | 'SIGSTOP', count: number): Promise<void> {
  const { facts, faults, context } = run
  const { form, say } = context
  const title = signal === 'SIGKILL' ? 'killed' : 'hung'
  const took: number[] = []
  const lost: number[] = []
  await underLoad(run, async (clients) => {
    for (let i = 0; i < count; i += 1) {
      const workers = (await run.served.status()).workers.each
      // The oldest: one that has only begun to listen is replaced with back-off, as it should be.
      const victim = workers[0]!
      const earlier = await clients.look()
      const from = nowMs()
      // Nobody can tell whose are those that wait to be accepted.
      const { accepted, waiting } = connectionsOf(victim.pid, run.served.port)
      // On a machine that does other things, one-shot requests come between this count and the
      // signal.
      const between = form === 'ci' ? gentleLoad.oneShot.clients : 0
      const onVictim = accepted + waiting + between
      process.kill(victim.pid, signal)
      let goneMs = 0
      const isGone = (): boolean => {
        if (goneMs === 0 && !existsSync(`/proc/${victim.pid}`)) goneMs = nowMs()
        return goneMs > 0
      }
      const isReplaced = async (): Promise<boolean> => {
        isGone()
        const now = (await run.served.status()).workers.each.filter(({ listening }) => listening)
        return now.length === workers.length && now.every(({ pid }) => pid !== victim.pid)
      }
      if (!(await waitUntil(isReplaced, 30_000)))
        faults.push(`a worker that ${title} was not replaced`)
      took.push(nowMs() - from)
      // Its successor may listen a moment before it is seen to be gone.
      if (!(await waitUntil(isGone, 1000))) faults.push(`a worker that ${title} did not end`)
      // So that clients have heard, and the next victim has some and has listened for a second.
      await sleep(600)
      const later = await clients.look()
      // Each lost request was on a connection begun while the worker lived. Later ones lose
      // nothing.
      const begun = later.begunMs.slice(clientErrorCount(earlier))
      lost.push(begun.length)
      // Who was reset and comes again at once may meet it while its sockets are still being closed.
      const counted = begun.filter((ms) => ms <= from).length
      if (counted > onVictim)
        faults.push(`${title}: ${counted} requests lost, ${onVictim} connections on it`)
      const strangers = goneMs === 0 ? 0 : begun.filter((ms) => ms > goneMs).length
      if (strangers > 0)
        faults.push(`${title}: ${strangers} lost on connections begun after its end`)
      if (i % 20 === 19) say(`${i + 1} of ${count} ${title}`)
    }
    const report = await clients.look()
    // A handshake that waits for the victim to accept it is reset as well: it is counted as on it.
    const others = Object.keys(report.errors).filter(
      (what) => !what.startsWith('in flight') && what !== 'connect ECONNRESET',
    )
    if (others.length > 0) faults.push(`${title}: ${errorText(report)}`)
    const slow = took.filter((ms) => ms > replacedMsMax).length
    if (form !== 'ci' && slow > 0) faults.push(`${title}: ${slow} were replaced too late`)
    Object.assign(facts, {
      [`workers ${title}`]: count,
      [`${title}: replaced after, median and most`]: `${median(took).toFixed(0)} ms, ${Math.max(...took).toFixed(0)} ms; ${slow} after more than a second`,
      [`${title}: requests lost, of ${report.requests}`]: `${errorText(report)}; at most ${Math.max(...lost)} by one`,
    })
  })
}

/** What may be lost: nothing, or what the kernel loses of handshakes with a listener that goes. */
function judgeLoss(
  run: Run,
  of: { readonly title: string; readonly migrate: string },
  report: Awaited<ReturnType<Clients['look']>>,
): void {
  const { title, migrate } = of
  const errors = clientErrorCount(report)
  const perMillion = (1e6 * errors) / (report.requests + errors)
  if (errors > 0 && (migrate === '1' || perMillion > lostPerMillionMax)) {
    run.faults.push(`${title}: ${errorText(report)}`)
  }
  run.facts[`${title}: requests lost, of ${report.requests}`] = errorText(report)
}

async function restarts(run: Run, migrate: string, count: number): Promise<void> {
  const { facts, faults, context } = run
  const title = `restarts one by one, tcp_migrate_req=${migrate}`
  await underLoad(run, async (clients) => {
    const deaths = (await run.served.status()).workers.restarts
    const took: number[] = []
    for (let i = 0; i < count; i += 1) {
      const from = nowMs()
      const reply = await run.served.sendCommand('restart')
      took.push(nowMs() - from)
      if (!reply.ok) faults.push(`${title}: ${reply.text}`)
      if (i % 10 === 9) context.say(`${i + 1} of ${count} ${title}`)
    }
    Object.assign(facts, {
      [title]: count,
      [`${title}: each takes`]: `${(median(took) / 1000).toFixed(1)} s`,
    })
    // What is lost with a worker that hangs is no loss of a restart.
    const hung = (await run.served.status()).workers.restarts - deaths
    if (hung > 0) faults.push(`${title}: ${hung} workers died or hung meanwhile`)
    judgeLoss(run, { title, migrate }, await clients.look())
  })
}

/** Clients that hang in the middle of their requests while every worker is replaced lose none. */
async function stops(run: Run, count: number): Promise<void> {
  if (count === 0) return
  const { facts, faults, served } = run
  const title = `restarts while clients were stopped for ${stoppedMs / 1000} s`
  const { port, key } = served
  const { kept, timeoutMs } = gentleLoad
  // Not one of them begins a connection meanwhile: handshakes are what `restarts` looks at.
  const oneShot = { clients: 0, perSecond: 1 }
  const clients = startClients({ port, key, kept, oneShot, timeoutMs, gapMs: halfMs })
  try {
    for (let i = 0; i < count; i += 1) {
      await sleep(1000)
      process.kill(clients.pid, 'SIGSTOP')
      const restarted = served.sendCommand('restart')
      await sleep(stoppedMs)
      process.kill(clients.pid, 'SIGCONT')
      const reply = await restarted
      if (!reply.ok) faults.push(`${title}: ${reply.text}`)
    }
    await sleep(1000)
    const report = await clients.look()
    if (clientErrorCount(report) > 0) faults.push(`${title}: ${errorText(report)}`)
    Object.assign(facts, {
      [title]: count,
      [`${title}: requests lost, of ${report.requests}`]: errorText(report),
    })
  } finally {
    process.kill(clients.pid, 'SIGCONT')
    await clients.end().catch(() => undefined)
  }
}

async function takeovers(run: Run, migrate: string, count: number): Promise<void> {
  const { facts, context, path } = run
  const { folder } = context
  const title = `takeovers, tcp_migrate_req=${migrate}`
  await underLoad(run, async (clients) => {
    for (let i = 0; i < count; i += 1) {
      const old = run.served
      run.served = await startProofServer({ folder, table: path, over: old })
      await old.end()
    }
    facts[title] = count
    judgeLoss(run, { title, migrate }, await clients.look())
  })
}

function readMigrate(): string {
  try {
    return readFileSync(migratePath, 'utf8').trim()
  } catch {
    return 'unknown'
  }
}

/** Whether this user may. */
function writeMigrate(value: string): boolean {
  try {
    writeFileSync(migratePath, value)
    return true
  } catch {
    return false
  }
}
