// Acceptance of feeds: after a build has read a feed's files and before anything is made of them,
// it decides whether they may be used. Those that may not are quarantined: the feed's last good
// content stands in, or nothing where there is none, and the build goes on. It never fails a build.
// A feed whose snapshot is lost is quarantined likewise where it has a last good content; one that
// was never fetched has none and stays missing.
//
// Invariants: what goes out is a set of files as `parseSnapshot` gives them, so that no later step
// knows of acceptance; nothing is remembered before `commit`, so that a build that came to nothing
// leaves acceptance as it was.

import type { Day } from '../../src/base/day.ts'
import { loadCanaries } from '../../src/table/canaries.ts'
import { type Feed, groupByFeed } from '../catalogue/feed.ts'
import type { NetworkTables } from '../networks/network-tables.ts'
import type { MissingFeed, ParsedSnapshot, SnapshotFile } from '../evidence/read-snapshots.ts'
import { newRangeInterner } from '../layer/intern.ts'
import { newParseCounts } from '../parse/parse-counts.ts'
import { newCanaryIndex } from './entry-canaries.ts'
import { keepLastGood, readLastGood, removeOldCopies } from './last-good.ts'
import {
  type FeedMemory,
  type AcceptanceLedger,
  historySizes,
  pastSizes,
  readAcceptanceLedger,
  writeAcceptanceLedger,
} from './acceptance-ledger.ts'
import {
  type DatedSize,
  acceptedAfterDays,
  judgeFeedSize,
  lowerMedian,
  pastSizesMax,
} from './feed-size.ts'
import { type CheckContext, checkContent } from './content-checks.ts'

export interface Quarantine {
  /** Why, one line each; at least one. */
  readonly reasons: readonly string[]
  /** What is used in its place: `its snapshot of 2026-08-21`; `nothing`. */
  readonly instead: string
}

export interface FeedAcceptance {
  /** All files that a build may use, hand-kept tables included. */
  readonly files: readonly ParsedSnapshot[]
  /** What each feed of the catalogue holds in them, by its id. */
  readonly held: ReadonlyMap<string, HeldEntries>
  /** By the id of the feed. */
  readonly quarantined: ReadonlyMap<string, Quarantine>
  /** What concerns no single feed. */
  readonly problems: readonly string[]
  /** Remembers what passed and what did not. Called once, when the table is live. */
  readonly commit: () => Promise<void>
}

/** Distinct ranges and ASNs of a feed. */
export interface HeldEntries {
  readonly size: number
  /** What it usually holds, by its last snapshots; `undefined` where there are too few of them. */
  readonly usual: number | undefined
}

export interface FeedAcceptanceInput {
  /** As they were read. */
  readonly files: readonly ParsedSnapshot[]
  /** Where they were read from. */
  readonly snapshots: readonly SnapshotFile[]
  /** Those that have no snapshot, or not a whole one. */
  readonly missing: readonly MissingFeed[]
  /** The store of the history, beside which acceptance remembers; `undefined`: no past at all. */
  readonly store: string | undefined
  readonly tables: Pick<NetworkTables, 'resolvers' | 'crawlers' | 'infrastructure'>
}

export async function acceptFeeds(input: FeedAcceptanceInput): Promise<FeedAcceptance> {
  const { store } = input
  const context = {
    index: newCanaryIndex(loadCanaries(), input.tables),
    ranges: newRangeInterner(),
  }
  const past = store === undefined ? noPast : await readPast(store)
  // Hand-kept tables are no feeds.
  const feeds = groupByFeed(input.files.filter(({ feed }) => feed.files.length > 0))
  const judged = new Map<Feed, JudgedFeed>()
  const standIns = new Map<Feed, GoodContent>()
  for (const { feed, problem } of input.missing) {
    const good = await goodContent(feed, { context, past, store })
    if (good === undefined) continue
    standIns.set(feed, good)
    judged.set(feed, { files: [], size: 0, reasons: [problem], ...remembered(feed.id, past) })
  }
  for (const [feed, files] of feeds) {
    if (judged.has(feed)) continue
    const day = fetchDay(input.snapshots, feed) ?? newestDay(files)
    judged.set(feed, judgeFeed({ files, day, context, past }))
  }
  const files = input.files.filter(({ feed }) => !feeds.has(feed))
  const quarantined = new Map<string, Quarantine>()
  const held = new Map<string, HeldEntries>()
  for (const [feed, { files: own, size, usual, reasons }] of judged) {
    if (reasons.length === 0) {
      files.push(...own)
      held.set(feed.id, { size, usual })
    } else {
      const good = standIns.get(feed) ?? (await goodContent(feed, { context, past, store }))
      const instead = good ?? noContent(feed, newestDay(own))
      files.push(...instead.files)
      held.set(feed.id, { size: instead.size, usual })
      quarantined.set(feed.id, { reasons, instead: instead.title })
    }
  }
  const commit = ledgerCommit(store, { judged, past, snapshots: input.snapshots })
  return { files, held, quarantined, problems: past.problems, commit }
}

/** Apart, so that it holds none of the entries until the table is live. */
function ledgerCommit(
  store: string | undefined,
  of: Omit<LedgerUpdate, 'judged'> & { readonly judged: ReadonlyMap<Feed, JudgedFeed> },
): FeedAcceptance['commit'] {
  const { past, snapshots } = of
  const judged = new Map(
    [...of.judged].map(([feed, { reasons, memory }]) => [feed, { reasons, memory }]),
  )
  return async () => {
    if (store !== undefined) await updateLedger(store, { judged, past, snapshots })
  }
}

interface LedgerUpdate {
  readonly judged: ReadonlyMap<Feed, Pick<JudgedFeed, 'reasons' | 'memory'>>
  readonly past: AcceptancePast
  readonly snapshots: readonly SnapshotFile[]
}

export interface AcceptancePast {
  readonly ledger: AcceptanceLedger
  readonly history: ReadonlyMap<string, readonly DatedSize[]>
  readonly problems: readonly string[]
}

const noPast: AcceptancePast = { ledger: new Map(), history: new Map(), problems: [] }

async function readPast(store: string): Promise<AcceptancePast> {
  const { ledger, problem } = await readAcceptanceLedger(store)
  const history = await historySizes(store)
  return { ledger, history, problems: problem === undefined ? [] : [problem] }
}

export interface JudgedFeed extends HeldEntries {
  readonly files: readonly ParsedSnapshot[]
  readonly reasons: readonly string[]
  /** What the ledger is to say, its last good files aside. */
  readonly memory: Omit<FeedMemory, 'lastGood'>
}

/** One feed of one build; pure but for the drops that it counts. */
export function judgeFeed(of: {
  readonly files: readonly ParsedSnapshot[]
  readonly day: Day
  readonly context: CheckContext
  readonly past: AcceptancePast
}): JudgedFeed {
  const { day } = of
  const { size, files, reasons } = checkContent(of.files, of.context)
  const id = files[0]?.feed.id ?? ''
  const { memory, past, usual } = remembered(id, of.past)
  const { sizes, moved, held } = memory
  // What is wrong by itself is never a new size, however often the feed says it.
  if (reasons.length > 0) return { files, size, usual, reasons, memory }
  const judgement = judgeFeedSize({ size, day, held, past })
  if (judgement.kind === 'held') {
    const reasons = [judgement.reason]
    return { files, size, usual, reasons, memory: { sizes, moved, held: judgement.held } }
  }
  const own = { day: newestDay(files), size }
  const others = sizes.filter((one) => one.day !== own.day)
  return {
    files,
    size,
    usual: judgement.kind === 'accepted' ? size : usual,
    reasons,
    memory:
      judgement.kind === 'accepted'
        ? { sizes: [own], moved: true, held: [] }
        : { sizes: [...others, own].slice(-pastSizesMax), moved, held: [] },
  }
}

/** What is known of a feed before this build. */
function remembered(
  id: string,
  { ledger, history }: AcceptancePast,
): Pick<JudgedFeed, 'memory' | 'usual'> & { readonly past: readonly number[] } {
  const { sizes, moved, held } = ledger.get(id) ?? { sizes: [], moved: false, held: [] }
  const memory = { sizes, moved, held }
  const past = pastSizes(memory, history.get(id) ?? []).map((one) => one.size)
  const usual = moved || past.length >= acceptedAfterDays ? lowerMedian(past) : undefined
  return { memory, past, usual }
}

interface GoodContent {
  readonly files: readonly ParsedSnapshot[]
  readonly size: number
  readonly title: string
}

/** The last good content, checked in its turn; `undefined` where none can be used. */
async function goodContent(
  feed: Feed,
  of: {
    readonly context: CheckContext
    readonly past: AcceptancePast
    readonly store: string | undefined
  },
): Promise<GoodContent | undefined> {
  const { context, past, store } = of
  if (store === undefined) return undefined
  const good = await readLastGood(store, feed, past.ledger.get(feed.id))
  if (good === undefined) return undefined
  const { files, size, reasons } = checkContent(good.files, context)
  return reasons.length === 0 ? { files, size, title: good.title } : undefined
}

/** An empty file, which says that there is none. */
function noContent(feed: Feed, day: Day): GoodContent {
  const tally = newParseCounts(feed.id)
  const empty: ParsedSnapshot = { feed, tally, entries: [], day, problem: undefined }
  return { files: [empty], size: 0, title: 'nothing' }
}

async function updateLedger(store: string, of: LedgerUpdate): Promise<void> {
  const ledger = new Map(of.past.ledger)
  for (const [feed, { reasons, memory }] of of.judged) {
    const known = of.past.ledger.get(feed.id)?.lastGood
    const own = of.snapshots.filter((snapshot) => snapshot.feed === feed)
    const lastGood = reasons.length > 0 ? known : await keepLastGood(store, own, known)
    ledger.set(feed.id, { ...memory, lastGood })
  }
  await writeAcceptanceLedger(store, ledger)
  await removeOldCopies(store, ledger)
}

function fetchDay(snapshots: readonly SnapshotFile[], feed: Feed): Day | undefined {
  const days = snapshots.filter((snapshot) => snapshot.feed === feed).map(({ day }) => day)
  return days.length === 0 ? undefined : (Math.max(...days) as Day)
}

function newestDay(files: readonly ParsedSnapshot[]): Day {
  return Math.max(...files.map(({ day }) => day)) as Day
}
