// Acceptance of data sets: chooses the edition of places and of networks that a table is built on.
// The embedded one, unless a fetched one is newer, complete and similar to the one in use.
//
//   fetched ── complete, newer, few changes ──▶ used; kept beside the history once it is live
//           └─ else ──▶ the kept one if newer than the embedded one; else the embedded one
//
// Compares countries of places and origin ASes of networks. Never fails a build.

import { readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { messageOf } from '../../src/base/coded-error.ts'
import { type Day, dayOf, formatDay } from '../../src/base/day.ts'
import type { DataSetFeed, DataSetKind } from '../catalogue/feed.ts'
import { type DataEdition, embeddedEdition, statedEditionDay } from '../evidence/data-edition.ts'
import { fileHasContent } from '../fetch/snapshot-store.ts'
import type { ObtainedFile } from '../fetch/obtain-snapshots.ts'
import { newInterner } from '../layer/intern.ts'
import { type Layer, wordsPerStart } from '../layer/layer.ts'
import { readAsRanges } from '../networks/asn-ranges.ts'
import { readCountryLayers } from '../places/read-places.ts'
import {
  acceptanceFolder,
  type KeptFile,
  readAcceptanceLedger,
  writeAcceptanceLedger,
} from './acceptance-ledger.ts'
import type { Quarantine } from './accept-feeds.ts'
import { keepLastGood, removeOldCopies } from './last-good.ts'

export interface ChosenEdition {
  readonly feed: DataSetFeed
  readonly edition: DataEdition
  /** `stored`: no newer one came; `kept`: the newest that passed before; a newer one failed. */
  readonly from: 'embedded' | 'fetched' | 'stored' | 'kept'
  /** Why nothing newer is used; absent if nothing went wrong. */
  readonly problem?: string | undefined
  readonly quarantine?: Quarantine
  /** Remembers what passed. Called once the table is live, after the commit of the feeds. */
  readonly commit: () => Promise<void>
}

/**
 * Shares that may change, per started month since the earlier edition and at most; see
 * docs/acceptance.md.
 */
export const editionBounds = {
  places: { 4: { monthly: 0.02, most: 0.1 }, 6: { monthly: 0.02, most: 0.1 } },
  networks: { 4: { monthly: 0.02, most: 0.1 }, 6: { monthly: 0.05, most: 0.5 } },
} as const satisfies Readonly<Record<DataSetKind, unknown>>

/** Share of bad rows allowed in a range file; three real editions had none. */
const badRowsMax = 0.001

const monthDays = 31

interface Editions {
  readonly kind: DataSetKind
  readonly embedded: DataEdition | undefined
  readonly kept: (DataEdition & { readonly described: readonly KeptFile[] }) | undefined
}

/** `undefined` without any edition. `force` accepts too large a change, never an older edition. */
export async function chooseEdition(of: {
  readonly feed: DataSetFeed
  readonly obtained: readonly ObtainedFile[]
  readonly store: string | undefined
  readonly force: boolean
  /** For tests: the embedded edition, and the day. */
  readonly embedded?: DataEdition
  readonly today?: Day
}): Promise<ChosenEdition | undefined> {
  const { feed, obtained, store, force, today = dayOf(Date.now()) } = of
  const embedded = of.embedded ?? embeddedEdition(feed.kind)
  const kept = store === undefined ? undefined : await keptEdition(store, { feed, embedded, today })
  const known = { kind: feed.kind, embedded, kept, today }
  const found = await judgeFetched(known, obtained, force)
  const problem = problemOf(obtained)
  if (found.kind === 'passes') {
    const commit = async (): Promise<void> => {
      if (store !== undefined) await rememberEdition(store, feed, obtained)
    }
    const from = obtained.some(({ state }) => state === 'stored') ? 'stored' : 'fetched'
    return { feed, edition: found.edition, from, problem, commit }
  }
  const inUse = kept ?? embedded
  if (inUse === undefined) return undefined
  const from = kept === undefined ? 'embedded' : 'kept'
  const chosen = { feed, edition: inUse, from, problem, commit: async () => undefined } as const
  if (found.kind === 'known') return chosen
  if (found.kind === 'missing') return { ...chosen, problem: found.problem }
  const instead = `the ${from} edition of ${formatDay(inUse.day)}`
  return { ...chosen, quarantine: { reasons: found.reasons, instead } }
}

type Judged =
  | { readonly kind: 'passes'; readonly edition: DataEdition }
  /** It is the embedded edition. */
  | { readonly kind: 'known' }
  | { readonly kind: 'missing'; readonly problem: string }
  | { readonly kind: 'refused'; readonly reasons: readonly string[] }

async function judgeFetched(
  { kind, embedded, kept, today }: Editions & { readonly today: Day },
  obtained: readonly ObtainedFile[],
  force: boolean,
): Promise<Judged> {
  const paths = obtained.flatMap(({ path }) => path ?? [])
  if (paths.length === 0 || paths.length < obtained.length) {
    return { kind: 'missing', problem: problemOf(obtained) ?? 'it was not fetched' }
  }
  const files = readFiles(kind, paths)
  if (embedded !== undefined && haveSameContent(files, embedded.files)) return { kind: 'known' }
  try {
    const edition = { files, day: statedEditionDay(kind, paths, today) }
    if (kept !== undefined && (await areKept(paths, kept.described))) {
      return { kind: 'passes', edition }
    }
    const inUse = kept ?? embedded
    if (inUse === undefined) {
      await readLayers(kind, files, newCountries())
      return { kind: 'passes', edition }
    }
    if (edition.day <= inUse.day) {
      const days = `it is from ${formatDay(edition.day)}, the one in use from ${formatDay(inUse.day)}`
      return { kind: 'missing', problem: days }
    }
    const reasons = await changesAbove(kind, inUse, edition)
    return reasons.length === 0 || force
      ? { kind: 'passes', edition }
      : { kind: 'refused', reasons }
  } catch (thrown) {
    return { kind: 'refused', reasons: [messageOf(thrown)] }
  }
}

const problemOf = (obtained: readonly ObtainedFile[]): string | undefined =>
  obtained.find(({ problem }) => problem !== undefined)?.problem

/** package.json only states the day of the networks. */
const readFiles = (kind: DataSetKind, paths: readonly string[]): readonly string[] =>
  kind === 'places' ? paths : paths.filter((path) => !path.endsWith('package.json'))

function haveSameContent(some: readonly string[], others: readonly string[]): boolean {
  const same = (a: string, b: string): boolean =>
    statSync(a).size === statSync(b).size && readFileSync(a).equals(readFileSync(b))
  return some.length === others.length && some.every((path, at) => same(path, others[at]!))
}

async function areKept(paths: readonly string[], kept: readonly KeptFile[]): Promise<boolean> {
  for (const path of paths) {
    const file = kept.find((each) => each.path === basename(path))
    if (file === undefined || !(await fileHasContent(path, file))) return false
  }
  return paths.length === kept.length
}

/** Changes above their bounds, one line per family. Throws if an edition cannot be read. */
async function changesAbove(kind: DataSetKind, inUse: DataEdition, next: DataEdition) {
  const countries = newCountries()
  const later = await readLayers(kind, next.files, countries)
  const earlier = await readLayers(kind, inUse.files, countries)
  const months = Math.ceil((next.day - inUse.day) / monthDays)
  return ([4, 6] as const).flatMap((family) => {
    const before = earlier[family]
    const now = later[family]
    if (before === undefined) return []
    if (now === undefined) return [`it has no data for IPv${family}`]
    const { monthly, most } = editionBounds[kind][family]
    const bound = Math.min(monthly * months, most)
    const share = editionChange(before, now)
    if (share <= bound) return []
    const what = kind === 'places' ? 'country' : 'origin AS'
    return [
      `${percent(share)} of the IPv${family} addresses have a different ${what} than in the edition ` +
        `of ${formatDay(inUse.day)}; the limit is ${percent(bound)}`,
    ]
  })
}

const newCountries = () => newInterner<string>((code) => code, 1)

async function readLayers(
  kind: DataSetKind,
  files: readonly string[],
  countries: ReturnType<typeof newCountries>,
): Promise<{ readonly 4?: Layer; readonly 6?: Layer }> {
  if (kind === 'places') return readCountryLayers(files, countries.id)
  const { layers, stats } = await readAsRanges(files)
  const { count, samples } = stats.problems
  if (count > stats.rowCount * badRowsMax) {
    throw new Error(`${count} of its rows are bad, such as ${samples[0] ?? ''}`)
  }
  return layers
}

/** The newest that passed, if it is newer than the embedded one and intact. */
async function keptEdition(
  store: string,
  of: {
    readonly feed: DataSetFeed
    readonly embedded: DataEdition | undefined
    readonly today: Day
  },
): Promise<Editions['kept']> {
  const { feed, embedded, today } = of
  const { ledger } = await readAcceptanceLedger(store)
  const copy = ledger.get(feed.id)?.lastGood
  if (copy === undefined) return undefined
  const paths: string[] = []
  for (const { path } of feed.files.filter(({ role }) => role === 'use')) {
    const kept = copy.files.find((file) => file.path === path)
    const at = join(acceptanceFolder(store), copy.folder, path)
    if (kept === undefined || !(await fileHasContent(at, kept))) return undefined
    paths.push(at)
  }
  let day: Day
  try {
    day = statedEditionDay(feed.kind, paths, today)
  } catch {
    return undefined
  }
  if (embedded !== undefined && day <= embedded.day) return undefined
  return { files: readFiles(feed.kind, paths), day, described: copy.files }
}

/** Copies the files, because the next fetch replaces them. */
async function rememberEdition(
  store: string,
  feed: DataSetFeed,
  obtained: readonly ObtainedFile[],
): Promise<void> {
  const { ledger } = await readAcceptanceLedger(store)
  const snapshots = obtained.flatMap(({ file, path, day }) =>
    path === undefined || day === undefined ? [] : [{ feed, file, path, day }],
  )
  const lastGood = await keepLastGood(store, snapshots, ledger.get(feed.id)?.lastGood)
  const next = new Map(ledger).set(feed.id, { sizes: [], moved: false, held: [], lastGood })
  await writeAcceptanceLedger(store, next)
  await removeOldCopies(store, next)
}

const percent = (share: number): string => `${(100 * share).toFixed(2)} %`

/**
 * The share (0 to 1) of the earlier edition's addresses (IPv6: /64s, to within a /53) whose value
 * differs in the later one or is missing there. Both layers share one numbering; 0 is none.
 *
 *   earlier   │   NO    │  SE   │ nothing │
 *   later     │   NO  │    SE   │   FI    │
 *   changed           ├─┤
 */
export function editionChange(earlier: Layer, later: Layer): number {
  const end = earlier.family === 4 ? 2 ** 32 : 2 ** 64
  let all = 0
  let changed = 0
  let other = 0
  for (let piece = 0; piece < earlier.count; piece++) {
    const value = earlier.values[piece]!
    const stop = piece + 1 === earlier.count ? end : startAt(earlier, piece + 1)
    let at = startAt(earlier, piece)
    while (other + 1 < later.count && startAt(later, other + 1) <= at) other++
    if (value === 0) continue
    while (at < stop) {
      const next = other + 1 === later.count ? end : startAt(later, other + 1)
      const size = Math.min(next, stop) - at
      all += size
      if (later.values[other]! !== value) changed += size
      at += size
      if (next <= stop && other + 1 < later.count) other++
    }
  }
  return all === 0 ? 0 : changed / all
}

/** The start of a piece: an IPv4 address, or the number of a /64. */
function startAt(layer: Layer, piece: number): number {
  const at = piece * wordsPerStart(layer.family)
  return layer.family === 4
    ? layer.starts[at]!
    : layer.starts[at]! * 2 ** 32 + layer.starts[at + 1]!
}
