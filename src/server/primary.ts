// The primary: conducts the start, the tables, the signals and the end. It answers no check itself.
//
//   start    load uWebSockets.js, take the admin port, probe the port, fork, verify the table, listen
//   table    a new file in the place of the old one: copy and verify in a child, open in all, swap
//   plans    the configuration file changes or SIGHUP comes: all workers get them (reload.ts)
//   end      SIGTERM or SIGINT: /readyz says 503, workers drain, the admin port closes, code 0;
//            one that comes during a start or a swap does not wait for it
//
// Invariants: a table that cannot be verified is never served, and the one in use stays; without
// any table the server runs, is not ready and answers 503; one swap at a time.

import process from 'node:process'
import { openStores, silent } from '../account/stores.ts'
import { IpriskError, messageOf } from '../base/error.ts'
import type { Log } from '../base/log.ts'
import type { Settings } from '../config/settings.ts'
import { type Admin, type Readiness, startAdmin } from './admin.ts'
import { type Crew, createCrew } from './crew.ts'
import type { TableFile, TableInfo } from './message.ts'
import { createMetrics } from './metrics.ts'
import { probePort } from './probe.ts'
import { type Configuration, type HangUps, hearHangUps, watchConfiguration } from './reload.ts'
import { type Shelf, createShelf } from './shelf.ts'
import { loadUws } from './uws.ts'
import { type Watch, fileIdentity, watchFile } from './watch.ts'

/** A table comes once an hour at most; one look a second costs nothing. */
const watchMs = 1000

const sameSignalMs = 1000

/** What a running server tells whoever started it. */
export interface Running {
  readonly host: string
  readonly port: number
  readonly adminHost: string
  readonly adminPort: number
  readonly workers: number
  readonly table: TableInfo | undefined
}

interface End {
  readonly arrived: Promise<void>
  readonly signal: AbortSignal
  readonly stop: () => void
}

interface Loaded {
  readonly file: TableFile | undefined
  readonly problem: string | undefined
}

export interface ServerOptions {
  readonly settings: Settings
  readonly configuration: Configuration
  readonly log: Log
  readonly onRunning: (running: Running) => void
}

/**
 * Runs a server until it is told to end; resolves to the exit code. Throws `uws_missing`,
 * `port_unavailable`, `workers_failed` where it cannot start.
 */
export async function runPrimary(options: ServerOptions): Promise<number> {
  const { settings, log } = options
  const { serve } = settings
  const hangUps = hearHangUps()
  await loadUws()
  await prepareStores(settings, log)
  const shelf = createShelf(settings.state)
  const port = await probePort(serve)
  const end = endSignal()
  const crew = createCrew({
    size: serve.workers,
    settings: {
      host: serve.host,
      port,
      stateFolder: settings.state,
      store: settings.store,
      plans: settings.plans,
      logLevel: serve.logLevel,
      logAddresses: serve.logAddresses,
      pool: { threads: serve.poolThreads, queue: serve.poolQueue },
    },
    log,
  })
  try {
    return await conduct({ ...options, crew, shelf, port, end, hangUps })
  } finally {
    // After an orderly end there is nobody left; after a failed start there is.
    await crew.drain(0)
    shelf.close()
    end.stop()
    hangUps.stop()
  }
}

/**
 * Opens the stores once before the workers do, or every one of them would make the rate file for
 * itself at the same time; and says what the operator should know of them.
 */
async function prepareStores(settings: Settings, log: Log): Promise<void> {
  const stores = await openStores(settings, silent)
  try {
    stores.openLimiter()
    const { name: store } = stores
    for (const caution of await stores.cautions()) log.warn({ store }, caution)
  } catch (error) {
    // The workers say what is wrong, and when it is well again.
    if (!(error instanceof IpriskError) || error.code !== 'store_unreachable') throw error
  } finally {
    await stores.close()
  }
}

async function conduct(parts: {
  readonly settings: Settings
  readonly configuration: Configuration
  readonly log: Log
  readonly onRunning: (running: Running) => void
  readonly crew: Crew
  readonly shelf: Shelf
  readonly port: number
  readonly end: End
  readonly hangUps: HangUps
}): Promise<number> {
  const { settings, configuration, log, crew, shelf, port, end, hangUps } = parts
  const { serve, table: path } = settings
  const { signal } = end
  const admin = await openAdmin(crew, settings, signal)
  const { usePlans: use } = crew
  const reload = watchConfiguration({ settings, configuration, hangUps, use, log })
  let watch: Watch | undefined
  try {
    const known = identityOf(path)
    const { file, problem } = await load({ shelf, path, signal })
    if (!signal.aborted) {
      if (problem !== undefined) log.error({ path }, problem)
      await Promise.race([crew.start(file), end.arrived])
    }
    if (!signal.aborted) {
      watch = watchTable({ path, known, crew, shelf, log, signal, first: file })
      const { listening, table } = crew.status()
      const { host, adminHost } = serve
      const adminPort = admin.port
      parts.onRunning({ host, port, adminHost, adminPort, workers: listening, table })
    }
    await end.arrived
    log.info({ drainSeconds: serve.drainSeconds }, 'Draining.')
    watch?.stop()
    if (!(await crew.drain(serve.drainSeconds * 1000))) {
      log.warn({}, 'Requests were still open when the time to drain was over; they were cut off.')
    }
    return 0
  } finally {
    reload.stop()
    await admin.close()
  }
}

function openAdmin(crew: Crew, settings: Settings, end: AbortSignal): Promise<Admin> {
  const metrics = createMetrics()
  const readiness = (): Readiness => {
    const { listening, answering, keysKnown } = crew.status()
    if (end.aborted) return 'draining'
    if (listening === 0) return 'no_workers'
    if (!keysKnown) return 'no_keys'
    return answering === listening ? 'ready' : 'no_table'
  }
  const text = async (): Promise<string> => {
    const { total, workers } = await crew.count()
    const { listening, restarts, table } = crew.status()
    const ready = readiness() === 'ready'
    return metrics.text({ total, workers, listening, restarts, table, ready, now: Date.now() })
  }
  const { adminHost: host, adminPort: port } = settings.serve
  const parts = { readiness, metricsType: metrics.contentType, metrics: text }
  return startAdmin(parts, { host, port })
}

/** Ends early, without a table, where `signal` asks for the end. */
async function load(options: {
  readonly shelf: Shelf
  readonly path: string
  readonly signal: AbortSignal
}): Promise<Loaded> {
  const { shelf, path, signal } = options
  if (identityOf(path) === '') {
    const problem = `There is no table at ${path}: "iprisk build" makes one, --table names another.`
    return { file: undefined, problem }
  }
  try {
    return { file: await shelf.take(path, signal), problem: undefined }
  } catch (error) {
    return { file: undefined, problem: messageOf(error) }
  }
}

function identityOf(path: string): string {
  try {
    return fileIdentity(path)
  } catch {
    return ''
  }
}

/** Takes in every new table, one after the other; the newest one last. */
function watchTable(options: {
  readonly path: string
  readonly known: string
  readonly crew: Crew
  readonly shelf: Shelf
  readonly log: Log
  readonly signal: AbortSignal
  readonly first: TableFile | undefined
}): Watch {
  const { path, known, crew, shelf, log, signal } = options
  let current = options.first
  let queue = Promise.resolve()
  const takeIn = async (): Promise<void> => {
    if (signal.aborted) return
    const { file, problem } = await load({ shelf, path, signal })
    if (signal.aborted) return
    if (file === undefined) {
      log.error({ path }, `The new table is not used: ${problem}`)
      return
    }
    try {
      await crew.use(file)
      const old = current
      current = file
      if (old !== undefined) await shelf.remove(old)
      const { table } = crew.status()
      log.info({ table: table?.id, path }, 'A new table answers.')
    } catch (error) {
      await shelf.remove(file)
      log.error({ path }, messageOf(error))
    }
  }
  const changed = (): void => {
    queue = queue.then(takeIn)
  }
  return watchFile({ path, known, everyMs: watchMs, changed })
}

/**
 * The first SIGTERM or SIGINT asks for the end; one that comes later is not patient. One signal may
 * come twice at once: from the terminal to all processes, and again from npm to its child.
 */
function endSignal(): End {
  const controller = new AbortController()
  const { signal } = controller
  let firstMs = 0
  const arrived = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const take = (): void => {
    if (signal.aborted) {
      if (performance.now() - firstMs > sameSignalMs) process.exit(1)
      return
    }
    firstMs = performance.now()
    controller.abort()
  }
  process.on('SIGTERM', take)
  process.on('SIGINT', take)
  return {
    arrived,
    signal,
    stop: () => {
      process.off('SIGTERM', take)
      process.off('SIGINT', take)
    },
  }
}
