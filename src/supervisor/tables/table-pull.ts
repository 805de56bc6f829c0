// Tables from a publisher (src/publish): polls the manifest, verifies it, has a process fetch the
// table, and passes it to the table manager.
//
//   manifest   304, or a text         signature, serial, stage: choose-release.ts
//   table      pull-child-main.ts     parts, each with its hash; the whole against what was signed
//   manager    table-manager.ts       canaries, the trial, the swap
//   place      a link, renamed        `<folder>/pulled/<id>.iprisk` keeps the last good ones
//
// It also polls during a fetch, which takes up to half an hour on a slow line. A withdrawn table is
// abandoned; a newer one waits, or a slow machine would never finish one.
//
// Invariants: one fetch at a time; the table's place never gets a table without a trusted
// signature, or one that trials refuse (except when going back from a withdrawn table); the highest
// serial is on disk before its table; on failure the table in use stays, and the reason is logged
// once, kept and counted by code.

import { join } from 'node:path'
import { manifestBytesMax } from '../../base/limits.ts'
import { backoffMs, withJitter } from '../../base/backoff.ts'
import { parseDay } from '../../base/day.ts'
import type { Log } from '../../base/log.ts'
import { askOnce, startChild } from '../../base/system/child-task.ts'
import type { PullRefusal, PullRefusalCode } from '../../publish/fetch/pull-refusal.ts'
import { pullError, pullRefusalCodes, pullRefusalOf } from '../../publish/fetch/pull-refusal.ts'
import { type ReleaseSource, openReleaseSource } from '../../publish/fetch/release-source.ts'
import type { Manifest, Release } from '../../publish/form/manifest.ts'
import { manifestName, openManifest } from '../../publish/form/manifest.ts'
import { formatMajor } from '../../schema/table-layout.ts'
import type { TrustedKey } from '../../publish/form/signing-key.ts'
import type { ChoiceContext } from '../../publish/pull/choose-release.ts'
import { chooseRelease, manifestRefusal } from '../../publish/pull/choose-release.ts'
import type { PullJob, PullResult } from '../../publish/pull/pull-child-main.ts'
import { type LongTimer, runAfter, runRepeatedly } from '../../base/system/long-timer.ts'
import { type PulledTables, openPulledTables } from './pulled-tables.ts'
import { type SeenManifests, openSeenManifests } from './seen-manifests.ts'
import type { TableManager } from './table-manager.ts'
import { lastingRefusals } from './table-refusal.ts'

const jitter = 0.2

/** Bound of the retry delay, which starts at one poll interval and doubles. */
const retryMsMax = 600_000

export type TablePullStatus = Readonly<State['status']>

export type TablePull = ReturnType<typeof startTablePull>

export interface TablePullParts {
  readonly url: string
  readonly trusted: readonly TrustedKey[]
  /** The place that manifests must name; default: what the first one names. */
  readonly place?: string | undefined
  readonly tablePath: string
  readonly stateFolder: string
  readonly machine: string
  readonly everyMs: number
  readonly current: () => ChoiceContext['current']
  readonly tables: Pick<TableManager, 'take'>
  readonly log: Log
}

type Phase =
  | { readonly kind: 'waiting'; readonly timer: LongTimer }
  | { readonly kind: 'polling' }
  | { readonly kind: 'pulling'; readonly abort: AbortController }
  | { readonly kind: 'stopped' }

type LastRelease =
  | { readonly kind: 'none' }
  /** Its fetch failed and is not retried before `atMs`. */
  | { readonly kind: 'failed'; readonly failures: number; readonly atMs: number }
  | { readonly kind: 'settled'; readonly id: string; readonly isUnfit: boolean }
  /** It answers, but the disk refused to put it in place. */
  | { readonly kind: 'unplaced'; readonly id: string }

type State = ReturnType<typeof firstState>

interface Pull extends TablePullParts {
  readonly source: ReleaseSource
  readonly seen: SeenManifests
  readonly pulled: PulledTables
  readonly state: State
}

export function startTablePull(parts: TablePullParts) {
  const seen = openSeenManifests(parts)
  const state = firstState(parts, seen.serialMin(Date.now(), parts.place))
  const source = openReleaseSource(parts.url)
  const pull: Pull = { ...parts, source, seen, pulled: openPulledTables(parts.tablePath), state }
  const poll = (): void => {
    if (state.phase.kind === 'waiting') state.phase.timer.stop()
    state.phase = { kind: 'polling' }
    void pollOnce(pull).finally(() => {
      if (isStopped(state)) return
      state.phase = { kind: 'waiting', timer: runAfter(withJitter(parts.everyMs, jitter), poll) }
    })
  }
  poll()
  return {
    status: (): TablePullStatus => ({ ...state.status, pulling: state.phase.kind === 'pulling' }),
    poll: (): void => {
      if (state.last.kind === 'settled') state.last = { kind: 'none' }
      if (state.last.kind === 'failed') state.last = { ...state.last, atMs: 0 }
      if (state.phase.kind === 'waiting') poll()
    },
    stop: (): void => {
      if (state.phase.kind === 'waiting') state.phase.timer.stop()
      if (state.phase.kind === 'pulling') state.phase.abort.abort()
      state.phase = { kind: 'stopped' }
    },
  }
}

const isStopped = ({ phase }: State): boolean => phase.kind === 'stopped'

/** Never rejects. */
async function pollOnce(pull: Pull): Promise<void> {
  const { state } = pull
  state.status.looks += 1
  let release: Release | undefined
  try {
    if (state.last.kind === 'unplaced') putInPlace(pull, state.last.id)
    release = await nextRelease(pull)
    while (release !== undefined) {
      if (isStopped(state)) return
      const fromMs = performance.now()
      const result = await fetchRelease(pull, release)
      if (isStopped(state)) return
      state.phase = { kind: 'polling' }
      if (!isWithdrawn(release, state)) {
        if (takeResult(pull, { release, result, fromMs })) await handOver(pull, release)
        return
      }
      // Not failed, whatever this poll finds.
      release = undefined
      release = await nextRelease(pull)
    }
  } catch (error) {
    if (isStopped(state)) return
    // A disk that cannot take the table now will not a second later.
    if (release !== undefined && !isKept(state.last, release)) tryLater(pull)
    refuse(pull, pullRefusalOf(error))
  }
}

const isKept = (last: LastRelease, { id }: Release): boolean =>
  last.kind === 'unplaced' || (last.kind === 'settled' && last.id === id)

/** Ends early if the table is withdrawn. */
async function fetchRelease(pull: Pull, release: Release): Promise<PullResult> {
  const { state } = pull
  const abort = new AbortController()
  state.phase = { kind: 'pulling', abort }
  const poll = async (): Promise<void> => {
    state.status.looks += 1
    try {
      await nextRelease(pull)
      if (isWithdrawn(release, state)) abort.abort()
    } catch (error) {
      refuse(pull, pullRefusalOf(error))
    }
  }
  let polling: Promise<void> | undefined
  const polls = runRepeatedly(() => (polling = poll()), withJitter(pull.everyMs, jitter))
  try {
    return await pullInProcess(jobOf(pull, release), abort.signal)
  } finally {
    polls.stop()
    // The next step uses the same state.
    await polling
  }
}

function isWithdrawn({ id }: Release, { offer }: State): boolean {
  if (offer === undefined || !offer.withdrawn.includes(id)) return false
  return offer.releases.every((release) => release.id !== id)
}

function firstState({ url, everyMs }: TablePullParts, serial: number) {
  const counts = Object.fromEntries(pullRefusalCodes.map((code) => [code, 0]))
  return {
    phase: { kind: 'polling' } as Phase,
    last: { kind: 'none' } as LastRelease,
    etag: undefined as string | undefined,
    manifest: undefined as Manifest | undefined,
    by: undefined as TrustedKey | undefined,
    /** The newest signed one, even if nothing in it can be used. */
    offer: undefined as Manifest | undefined,
    status: {
      url,
      every_ms: everyMs,
      /** Nothing was wrong, and everything wanted was fetched. */
      up: false,
      looks: 0,
      /** When a manifest was last accepted or unchanged. */
      last_success_at: null as string | null,
      refusals_by: counts as Readonly<Record<PullRefusalCode, number>>,
      last_refusal: null as ({ readonly at: string } & PullRefusal) | null,
      serial,
      /** The first release for this version, whatever its stage. */
      offered: null as string | null,
      pulling: false,
      pulled_bytes: 0,
      last_pull: null as {
        readonly at: string
        readonly table: string
        readonly parts: number
        readonly bytes: number
        /** Bytes of the table that were already here. */
        readonly reused_bytes: number
        readonly took_ms: number
      } | null,
    },
  }
}

/** Throws the disk's error; retried at each poll. */
function putInPlace({ pulled, state }: Pull, id: string): void {
  state.last = { kind: 'unplaced', id }
  pulled.putInPlace(id)
  state.last = { kind: 'none' }
}

function jobOf({ url, tablePath, current, pulled }: Pull, release: Release): PullJob {
  const { folder, nameOf } = pulled
  const inUse = current()?.id
  const kept = inUse === undefined ? undefined : { id: inUse, path: join(folder, nameOf(inUse)) }
  return {
    url,
    release,
    near: [tablePath, ...(kept === undefined ? [] : [kept.path])],
    parts: join(folder, 'parts'),
    folder,
    name: nameOf(release.id),
    adopt: kept && { ...kept, from: tablePath },
  }
}

/** Per try; partial results are kept for the next. */
const pullMsMax = 1_800_000

const wordsShown = 500

const pullProgram = new URL('../../publish/pull/pull-child-main.js', import.meta.url)

async function pullInProcess(job: PullJob, signal: AbortSignal): Promise<PullResult> {
  const child = startChild<PullJob, PullResult>({
    program: pullProgram,
    keepsWords: true,
    hasLowPriority: true,
  })
  const outcome = await askOnce(child, job, { msMax: pullMsMax, signal })
  const refused = (reason: string, code: PullRefusalCode = 'other'): PullResult => {
    return { kind: 'refused', code, reason }
  }
  if (outcome.kind === 'answered') return outcome.answer
  if (outcome.kind === 'failed') return refused(outcome.error.message)
  if (outcome.kind !== 'ended') {
    const minutes = pullMsMax / 60_000
    const reason = `the table did not arrive within ${minutes} minutes; its parts are kept`
    return refused(reason, 'slow')
  }
  const { by, words, error } = outcome.end
  if (error !== undefined) return refused(error.message)
  const how = typeof by === 'string' ? by : `code ${by}`
  const last = words.slice(-wordsShown).trim() || 'no output'
  return refused(`the fetching process was ended by ${how}: ${last}`)
}

function takeResult(
  pull: Pull,
  of: { readonly release: Release; readonly result: PullResult; readonly fromMs: number },
): boolean {
  const { status } = pull.state
  const { release, result, fromMs } = of
  if (result.kind === 'refused') {
    tryLater(pull)
    refuse(pull, result)
    return false
  }
  status.pulled_bytes += result.bytes
  status.last_pull = {
    at: new Date().toISOString(),
    table: release.id,
    parts: result.parts,
    bytes: result.bytes,
    reused_bytes: result.reusedBytes,
    took_ms: Math.round(performance.now() - fromMs),
  }
  pull.log.info({ table: release.id, bytes: result.bytes }, 'A published table was downloaded.')
  return true
}

/** Throws `pull_…`. */
async function nextRelease(pull: Pull): Promise<Release | undefined> {
  const { url, source, state, seen } = pull
  const { etag, status } = state
  const answer = await source.get(manifestName, { bytesMax: manifestBytesMax, etag })
  let { manifest, by } = state
  if (answer.bytes === undefined && etag === undefined) {
    throw pullError('status', `${url}: status 304 without a previous manifest`)
  }
  if (answer.bytes !== undefined) {
    const opened = openManifest(answer.bytes.toString('utf8'), pull.trusted)
    if (opened.kind === 'refused') {
      refuse(pull, { code: opened.code, reason: `${url}: ${opened.why}` })
      return undefined
    }
    ;({ manifest, by } = opened)
  }
  if (manifest === undefined || by === undefined) return undefined
  const now = Date.now()
  const refused = manifestRefusal(manifest, {
    serial: seen.serialMin(now, manifest.place),
    expectedPlace: pull.place,
    seenPlace: seen.place(),
    now,
  })
  // Even if nothing in it can be used.
  if (refused === undefined) state.offer = manifest
  const here = { current: pull.current(), machine: pull.machine, now }
  const choice = refused
    ? ({ kind: 'refused', ...refused } as const)
    : chooseRelease(manifest, here)
  if (choice.kind === 'refused') {
    refuse(pull, { code: choice.code, reason: `${url}: ${choice.reason}` })
    return undefined
  }
  if (!seen.isKnown(manifest, by)) await seen.remember(manifest, by)
  if (manifest.serial !== status.serial) {
    status.serial = manifest.serial
    if (state.last.kind === 'settled') state.last = { kind: 'none' }
  }
  // The etag only of an accepted manifest: refused ones are judged again.
  state.etag = answer.etag
  state.manifest = manifest
  state.by = by
  const readable = manifest.releases.find(({ format }) => format.major === formatMajor)
  status.offered = readable?.id ?? null
  status.last_success_at = new Date().toISOString()
  const { last } = state
  const isSettled =
    choice.kind === 'take' && last.kind === 'settled' && last.id === choice.release.id
  // A refused table stays refused until there is another one.
  if (isSettled && last.isUnfit) return undefined
  if (choice.kind === 'stay' || isSettled) {
    succeed(pull)
    return undefined
  }
  return last.kind === 'failed' && Date.now() < last.atMs ? undefined : choice.release
}

function succeed({ log, url, state: { status } }: Pull): void {
  if (!status.up && status.last_refusal !== null) {
    log.info({ url }, 'Published tables are available again.')
  }
  status.up = true
}

/** Counted each time; logged if the reason is new. */
function refuse({ current, log, state: { status } }: Pull, { code, reason }: PullRefusal): void {
  const isNews = status.last_refusal?.reason !== reason || status.up
  status.up = false
  status.refusals_by = { ...status.refusals_by, [code]: status.refusals_by[code] + 1 }
  status.last_refusal = { at: new Date().toISOString(), code, reason }
  if (!isNews) return
  const stays = current() === undefined ? 'No table is in use.' : 'The current one stays in use.'
  log.error({ code }, `No published table is used: ${reason}. ${stays}`)
}

function tryLater({ everyMs, state }: Pull): void {
  const failures = state.last.kind === 'failed' ? state.last.failures + 1 : 1
  // The due poll may be early by the jitter.
  const ms = backoffMs({ msMin: everyMs * (1 - jitter), msMax: retryMsMax }, failures)
  state.last = { kind: 'failed', failures, atMs: Date.now() + ms }
}

async function handOver(pull: Pull, release: Release): Promise<void> {
  const { tables, current, pulled, state } = pull
  const { id } = release
  const before = current()
  // Going back from a withdrawn table: the difference is not this one's fault.
  const isBack =
    before !== undefined &&
    state.manifest?.withdrawn.includes(before.id) === true &&
    (parseDay(release.as_of) ?? Infinity) <= before.asOf
  const outcome = await tables.take(join(pulled.folder, pulled.nameOf(id)), { force: isBack })
  if (outcome.kind === 'ending') return
  if (outcome.kind !== 'refused') {
    succeed(pull)
    // The manager runs nothing else in between.
    putInPlace(pull, id)
    state.last = { kind: 'settled', id, isUnfit: false }
  } else {
    // A full disk, or a worker that could not open it, says nothing about the table.
    if (lastingRefusals.has(outcome.code)) state.last = { kind: 'settled', id, isUnfit: true }
    else tryLater(pull)
    refuse(pull, { code: 'unfit', reason: outcome.reason })
  }
  const inUse = current()?.id
  pulled.removeOld(inUse === undefined ? [id] : [id, inUse])
}
