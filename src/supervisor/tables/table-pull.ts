// A server whose tables come from a publisher (src/publish): asks for the manifest every few
// seconds, judges it, lets a process of its own fetch the table, and hands that to the table
// manager, which verifies, tries and swaps it as it does any other. What it takes gets the table's
// place.
//
//   manifest   304, or a text         signature, serial, stage: choose-release.ts
//   table      pull-child-main.ts     parts, each with its hash; the whole against what was signed
//   manager    table-manager.ts       canaries, the trial, the swap
//   place      a link, renamed        `<folder>/pulled/<id>.iprisk` stays beside: the last good ones
//
// It looks at the manifest while a table comes, too: on a slow line that takes as long as
// pull-process.ts lets it. A table that is withdrawn meanwhile is not fetched to its end, nor tried;
// a newer one waits its turn, or a machine that is slower than its publisher would never have one.
//
// Invariants: never two fetches at once; nothing comes to the table's place that no trusted key has
// signed, or that the trials refuse (but on the way back from a withdrawn table); the highest serial
// that was seen is on disk before its table is; whatever fails, the table in use answers on, and the
// reason is logged once, kept and counted by its code.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { manifestBytesMax } from '../../base/limits.ts'
import { messageOf } from '../../base/coded-error.ts'
import { parseDay } from '../../base/day.ts'
import type { Log } from '../../base/log.ts'
import { replaceFile } from '../../base/system/atomic-file.ts'
import {
  type PullRefusal,
  type PullRefusalCode,
  pullError,
  pullRefusalCodes,
  pullRefusalOf,
} from '../../publish/fetch/pull-refusal.ts'
import { type ReleaseSource, openReleaseSource } from '../../publish/fetch/release-source.ts'
import {
  type Manifest,
  type Release,
  manifestName,
  openManifest,
} from '../../publish/form/manifest.ts'
import { formatMajor } from '../../schema/table-layout.ts'
import type { TrustedKey } from '../../publish/form/signing-key.ts'
import { type ChoiceGround, chooseRelease } from '../../publish/pull/choose-release.ts'
import type { PullResult } from '../../publish/pull/pull-child-main.ts'
import { type LongTimer, runAfter, runRepeatedly } from './long-timer.ts'
import { type PullProcess, startPullProcess } from './pull-process.ts'
import { type PulledTables, openPulledTables } from './pulled-tables.ts'
import type { TableManager } from './table-manager.ts'
import { isLasting } from './table-refusal.ts'

/** The random share of the span between two looks, so that machines do not ask in step. */
const jitter = 0.2

/** A table that cannot be had is tried again after a look, then twice as long each time. */
const retryMsMax = 600_000

/** What the admin port tells; times as ISO 8601, spans in milliseconds. */
export interface TablePullStatus {
  readonly url: string
  readonly every_ms: number
  /** Whether the last look found nothing wrong, and nothing that could not be had. */
  readonly up: boolean
  readonly looks: number
  /** When a manifest was taken last, or was found to be the same. */
  readonly last_success_at: string | null
  readonly refusals_by: Readonly<Record<PullRefusalCode, number>>
  readonly last_refusal: ({ readonly at: string } & PullRefusal) | null
  /** The newest manifest that was taken. */
  readonly serial: number
  /** The table that it offers first to a server of this version, whatever its stage. */
  readonly offered: string | null
  readonly pulling: boolean
  readonly pulled_bytes: number
  readonly last_pull: {
    readonly at: string
    readonly table: string
    readonly parts: number
    readonly bytes: number
    /** Of the table, what was here already. */
    readonly reused_bytes: number
    readonly took_ms: number
  } | null
}

export interface TablePull {
  readonly status: () => TablePullStatus
  /** Looks now, also for what has failed. */
  readonly look: () => void
  readonly stop: () => void
}

export interface TablePullParts {
  readonly url: string
  readonly trusted: readonly TrustedKey[]
  /** Where the table goes. */
  readonly tablePath: string
  readonly stateFolder: string
  readonly machine: string
  readonly everyMs: number
  /** The table in use. */
  readonly current: () => ChoiceGround['current']
  readonly tables: Pick<TableManager, 'take'>
  readonly log: Log
}

interface State {
  serial: number
  etag: string | undefined
  manifest: Manifest | undefined
  /** The newest that is signed, also where nothing of it can be taken. */
  offer: Manifest | undefined
  looks: number
  up: boolean
  successAt: string | null
  refusal: TablePullStatus['last_refusal']
  readonly refusals: Record<PullRefusalCode, number>
  pulledBytes: number
  lastPull: TablePullStatus['last_pull']
  /** What came of the release that was last handed to the table manager: no need to do it again. */
  settled: { readonly id: string; readonly isUnfit: boolean } | undefined
  /** A table that answers and has not come to the place yet, for the disk did not let it. */
  unplaced: string | undefined
  failures: number
  /** No fetch before this instant. */
  retryAt: number
}

/** What one look works with. */
interface Ground {
  readonly parts: TablePullParts
  readonly source: ReleaseSource
  readonly note: SerialNote
  readonly pulled: PulledTables
  readonly state: State
}

export function startTablePull(parts: TablePullParts): TablePull {
  const { url, tablePath } = parts
  const note = openSerialNote(parts)
  const state = firstState(note.read())
  const source = openReleaseSource(url)
  const ground: Ground = { parts, source, note, pulled: openPulledTables(tablePath), state }
  let running: PullProcess | undefined
  let timer: LongTimer | undefined
  let stopped = false
  let looking: Promise<void> | undefined

  const look = async (): Promise<void> => {
    let release: Release | undefined
    try {
      putInPlace(ground)
      release = await nextRelease(ground)
      while (release !== undefined) {
        if (stopped) return
        const fromMs = performance.now()
        running = startPullProcess(jobOf(release, ground))
        const result = await resultOf(running, release, ground)
        running = undefined
        if (stopped) return
        if (!isWithdrawn(release, state)) {
          if (takeResult({ release, result, fromMs }, ground)) await handOver(release, ground)
          return
        }
        // It has not failed, whatever this look finds.
        release = undefined
        release = await nextRelease(ground)
      }
    } catch (error) {
      if (stopped) return
      // A disk that cannot take the table will not the next second.
      if (release !== undefined) tryLater(parts, state)
      refuse(parts, state, pullRefusalOf(error))
    }
  }
  const run = (): void => {
    if (looking !== undefined) return
    timer?.stop()
    state.looks += 1
    looking = look().finally(() => {
      looking = undefined
      if (!stopped) timer = runAfter(lookDelayMs(parts), run)
    })
  }
  run()
  return {
    status: () => statusOf(parts, state, running !== undefined),
    look: () => {
      state.retryAt = 0
      state.settled = undefined
      run()
    },
    stop: () => {
      stopped = true
      timer?.stop()
      running?.stop()
    },
  }
}

function lookDelayMs({ everyMs }: TablePullParts): number {
  return everyMs * (1 + jitter * (2 * Math.random() - 1))
}

/** Looks at the manifest until then, and ends the fetch of a table that is withdrawn. */
async function resultOf(
  running: PullProcess,
  release: Release,
  ground: Ground,
): Promise<PullResult> {
  const { parts, state } = ground
  const look = async (): Promise<void> => {
    state.looks += 1
    try {
      await nextRelease(ground)
      if (isWithdrawn(release, state)) running.stop()
    } catch (error) {
      refuse(parts, state, pullRefusalOf(error))
    }
  }
  let looking: Promise<void> | undefined
  const looks = runRepeatedly(() => (looking = look()), lookDelayMs(parts))
  try {
    return await running.result
  } finally {
    looks.stop()
    // What comes next works with the same state.
    await looking
  }
}

/** One that a manifest both withdraws and offers is offered. */
function isWithdrawn({ id }: Release, { offer }: State): boolean {
  if (offer === undefined || !offer.withdrawn.includes(id)) return false
  return offer.releases.every((release) => release.id !== id)
}

function firstState(serial: number): State {
  return {
    serial,
    etag: undefined,
    manifest: undefined,
    offer: undefined,
    looks: 0,
    up: false,
    successAt: null,
    refusal: null,
    refusals: Object.fromEntries(pullRefusalCodes.map((code) => [code, 0])) as State['refusals'],
    pulledBytes: 0,
    lastPull: null,
    settled: undefined,
    unplaced: undefined,
    failures: 0,
    retryAt: 0,
  }
}

/** Throws what the disk says; tried at each look until it is done. */
function putInPlace({ pulled, state }: Pick<Ground, 'pulled' | 'state'>): void {
  if (state.unplaced === undefined) return
  pulled.putInPlace(state.unplaced)
  state.unplaced = undefined
}

function jobOf(
  release: Release,
  { parts, pulled }: Ground,
): Parameters<typeof startPullProcess>[0] {
  const { url, tablePath, current } = parts
  const { folder, nameOf } = pulled
  const inUse = current()?.id
  const kept = inUse === undefined ? undefined : { id: inUse, path: join(folder, nameOf(inUse)) }
  const near = [tablePath, ...(kept === undefined ? [] : [kept.path])]
  const job = { url, release, near, parts: join(folder, 'parts'), folder, name: nameOf(release.id) }
  return { ...job, ...(kept === undefined ? {} : { adopt: { ...kept, from: tablePath } }) }
}

/** Whether the table is here. */
function takeResult(
  of: { readonly release: Release; readonly result: PullResult; readonly fromMs: number },
  { parts, state }: Ground,
): boolean {
  const { release, result, fromMs } = of
  if (result.kind === 'refused') {
    tryLater(parts, state)
    refuse(parts, state, result)
    return false
  }
  state.pulledBytes += result.bytes
  state.lastPull = {
    at: new Date().toISOString(),
    table: release.id,
    parts: result.parts,
    bytes: result.bytes,
    reused_bytes: result.reusedBytes,
    took_ms: Math.round(performance.now() - fromMs),
  }
  parts.log.info({ table: release.id, bytes: result.bytes }, 'A published table is here.')
  return true
}

/** The release to fetch now, if any. Throws `pull_…`. */
async function nextRelease(ground: Ground): Promise<Release | undefined> {
  const { parts, source, state, note } = ground
  const { etag } = state
  const answer = await source.get(manifestName, { bytesMax: manifestBytesMax, etag })
  let { manifest } = state
  if (answer.bytes === undefined && etag === undefined) {
    throw pullError('status', `${parts.url}: status 304 to somebody who has no manifest yet`)
  }
  if (answer.bytes !== undefined) {
    const opened = openManifest(answer.bytes.toString('utf8'), parts.trusted)
    if (opened.kind === 'refused') {
      refuse(parts, state, { code: opened.code, reason: `${parts.url}: ${opened.why}` })
      return undefined
    }
    ;({ manifest } = opened)
  }
  if (manifest === undefined) return undefined
  // Also where nothing of it can be taken.
  if (manifest.serial >= state.serial) state.offer = manifest
  const here = { current: parts.current(), machine: parts.machine, now: Date.now() }
  const choice = chooseRelease(manifest, { serial: state.serial, ...here })
  if (choice.kind === 'refused') {
    refuse(parts, state, { code: choice.code, reason: `${parts.url}: ${choice.reason}` })
    return undefined
  }
  if (manifest.serial !== state.serial) {
    await note.write(manifest.serial)
    state.serial = manifest.serial
    state.settled = undefined
  }
  // Only what was taken is asked for by its etag: what was refused is judged anew each time.
  state.etag = answer.etag
  state.manifest = manifest
  state.successAt = new Date().toISOString()
  const isSettled = choice.kind === 'take' && state.settled?.id === choice.release.id
  // What the table manager refused stays refused until there is another one.
  if (isSettled && state.settled?.isUnfit === true) return undefined
  if (choice.kind === 'stay' || isSettled) {
    succeed(parts, state)
    return undefined
  }
  return Date.now() < state.retryAt ? undefined : choice.release
}

/** There is nothing that it wants and cannot have. */
function succeed({ log, url }: TablePullParts, state: State): void {
  if (!state.up && state.refusal !== null) log.info({ url }, 'Published tables can be had again.')
  state.up = true
}

/** Counted each time; logged when it is another reason than the last one. */
function refuse(parts: TablePullParts, state: State, { code, reason }: PullRefusal): void {
  const isNews = state.refusal?.reason !== reason || state.up
  state.up = false
  state.refusals[code] += 1
  state.refusal = { at: new Date().toISOString(), code, reason }
  if (!isNews) return
  const stays = parts.current() === undefined ? 'None answers.' : 'The one in use answers on.'
  parts.log.error({ code }, `No published table is taken: ${reason}. ${stays}`)
}

function tryLater({ everyMs }: TablePullParts, state: State): void {
  state.failures += 1
  // The soonest that the look meant may come.
  const ms = everyMs * 2 ** (state.failures - 1) * (1 - jitter)
  state.retryAt = Date.now() + Math.min(retryMsMax, ms)
}

/** Lets the table manager take it, and gives it the place then. */
async function handOver(
  release: Release,
  { parts, pulled, state }: Pick<Ground, 'parts' | 'pulled' | 'state'>,
): Promise<void> {
  const { tables, current } = parts
  const { id } = release
  const before = current()
  // Back from a table that was withdrawn: what differs from that is no fault of this one.
  const isBack =
    before !== undefined &&
    state.manifest?.withdrawn.includes(before.id) === true &&
    (parseDay(release.as_of) ?? Infinity) <= before.asOf
  const outcome = await tables.take(join(pulled.folder, pulled.nameOf(id)), { force: isBack })
  if (outcome.kind === 'ending') return
  if (outcome.kind !== 'refused') {
    succeed(parts, state)
    // Nothing else of the manager runs between its word and this.
    state.unplaced = id
    putInPlace({ pulled, state })
  }
  // A disk that was full or a worker that did not open it says nothing of the table.
  const isPassing = outcome.kind === 'refused' && !isLasting(outcome.code)
  if (isPassing) tryLater(parts, state)
  else [state.failures, state.retryAt] = [0, 0]
  state.settled = isPassing ? undefined : { id, isUnfit: outcome.kind === 'refused' }
  if (outcome.kind === 'refused') refuse(parts, state, { code: 'unfit', reason: outcome.reason })
  const inUse = current()?.id
  pulled.removeOld(inUse === undefined ? [id] : [id, inUse])
}

interface SerialNote {
  readonly read: () => number
  readonly write: (serial: number) => Promise<void>
}

/** The highest serial that was seen of this source, in the state folder. */
function openSerialNote({ stateFolder, url, log }: TablePullParts): SerialNote {
  const name = `source-${createHash('sha256').update(url).digest('hex').slice(0, 8)}.json`
  return {
    read: () => {
      try {
        const { serial } = JSON.parse(readFileSync(join(stateFolder, name), 'utf8')) as {
          serial?: unknown
        }
        if (typeof serial === 'number' && Number.isSafeInteger(serial)) return serial
        throw new Error('it has no serial')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
        const why = `${join(stateFolder, name)} cannot be read: ${messageOf(error)}`
        log.error({}, `${why}. An old manifest would not be known as one.`)
        return 0
      }
    },
    write: async (serial) => {
      mkdirSync(stateFolder, { recursive: true, mode: 0o700 })
      await replaceFile(join(stateFolder, name), `${JSON.stringify({ url, serial })}\n`)
    },
  }
}

function statusOf(parts: TablePullParts, state: State, pulling: boolean): TablePullStatus {
  return {
    url: parts.url,
    every_ms: parts.everyMs,
    up: state.up,
    looks: state.looks,
    last_success_at: state.successAt,
    refusals_by: { ...state.refusals },
    last_refusal: state.refusal,
    serial: state.serial,
    offered:
      state.manifest?.releases.find(({ format }) => format.major === formatMajor)?.id ?? null,
    pulling,
    pulled_bytes: state.pulledBytes,
    last_pull: state.lastPull,
  }
}
