// Acceptance of feeds: after a build has read a feed's files and before anything is made of them,
// it decides whether they may be used. Those that may not are quarantined: the feed's last good
// content stands in, or nothing where there is none, and the build goes on. It never fails a build.
// A feed whose snapshot is lost is quarantined likewise where it has a last good content; one that
// was never fetched has none and stays missing.
//
// Invariants: what goes out is a set of files as `parseSnapshot` gives them, so that no later step
// knows of acceptance; nothing is remembered before `commit`, so that a build that came to nothing
// leaves acceptance as it was.

import { groupBy } from '../../src/base/counts.ts'
import type { Day } from '../../src/base/day.ts'
import { loadCanaries } from '../../src/table/canaries.ts'
import type { Feed } from '../catalogue/feed.ts'
import type { NetworkTables } from '../networks/network-tables.ts'
import {
  type MissingFeed,
  newestDay,
  type ParsedSnapshot,
  type SnapshotFile,
} from '../evidence/read-snapshots.ts'
import { newParseCounts } from '../parse/parse-counts.ts'
import { type CanaryIndex, newCanaryIndex } from './entry-canaries.ts'
import { keepLastGood, type LastGood, readLastGood, removeOldCopies } from './last-good.ts'
import {
  type FeedMemory,
  historySizes,
  pastSizes,
  readAcceptanceLedger,
  writeAcceptanceLedger,
} from './acceptance-ledger.ts'
import { acceptedAfterDays, judgeFeedSize, lowerMedian, pastSizesMax } from './feed-size.ts'
import { checkContent } from './content-checks.ts'

export interface Quarantine {
  /** Why, one line each; at least one. */
  readonly reasons: readonly string[]
  /** What is used in its place: `its snapshot of 2026-08-21`; `nothing`. */
  readonly instead: string
}

export type FeedAcceptance = Awaited<ReturnType<typeof acceptFeeds>>

/** Distinct ranges and ASNs of a feed. */
interface HeldEntries {
  readonly size: number
  /** What it usually holds, by its last snapshots; `undefined` where there are too few of them. */
  readonly usual: number | undefined
}

export async function acceptFeeds(input: {
  readonly files: readonly ParsedSnapshot[]
  readonly snapshots: readonly SnapshotFile[]
  /** Those that have no snapshot, or not a whole one. */
  readonly missing: readonly MissingFeed[]
  /** The store of the history, beside which acceptance remembers; `undefined`: no past at all. */
  readonly store: string | undefined
  readonly tables: Pick<NetworkTables, 'resolvers' | 'crawlers' | 'infrastructure'>
}) {
  const { store } = input
  const index = newCanaryIndex(loadCanaries(), input.tables)
  const past = store === undefined ? noPast : await readPast(store)
  const fetched = input.files.filter(({ feed }) => feed.files.length > 0)
  const feeds = groupBy(fetched, ({ feed }) => feed)
  const judged = new Map<Feed, JudgedFeed>()
  const standIns = new Map<Feed, GoodContent>()
  for (const { feed, problem } of input.missing) {
    const good = await goodContent(feed, { index, past, store })
    if (good === undefined) continue
    standIns.set(feed, good)
    judged.set(feed, { files: [], size: 0, reasons: [problem], ...remembered(feed.id, past) })
  }
  for (const [feed, files] of feeds) {
    if (judged.has(feed)) continue
    const own = input.snapshots.filter((snapshot) => snapshot.feed === feed)
    const day = newestDay(own.length === 0 ? files : own)
    judged.set(feed, judgeFeed({ files, day, index, past }))
  }
  const files = input.files.filter(({ feed }) => !feeds.has(feed))
  const quarantined = new Map<string, Quarantine>()
  const held = new Map<string, HeldEntries>()
  for (const [feed, { files: own, size, usual, reasons }] of judged) {
    if (reasons.length === 0) {
      files.push(...own)
      held.set(feed.id, { size, usual })
    } else {
      const good = standIns.get(feed) ?? (await goodContent(feed, { index, past, store }))
      const instead = good ?? noContent(feed, newestDay(own))
      files.push(...instead.files)
      held.set(feed.id, { size: instead.size, usual })
      quarantined.set(feed.id, { reasons, instead: instead.title })
    }
  }
  return {
    /** All files that a build may use, hand-kept tables included. */
    files: files as readonly ParsedSnapshot[],
    /** What each feed of the catalogue holds in them, by its id. */
    held: held as ReadonlyMap<string, HeldEntries>,
    quarantined: quarantined as ReadonlyMap<string, Quarantine>,
    /** What concerns no single feed. */
    problems: past.problems,
    /** Remembers what passed and what did not. Called once, when the table is live. */
    commit: ledgerUpdate(store, { judged, past, snapshots: input.snapshots }),
  }
}

/** Apart, so that it holds none of the entries until the table is live. */
function ledgerUpdate(
  store: string | undefined,
  of: {
    readonly judged: ReadonlyMap<Feed, JudgedFeed>
    readonly past: AcceptancePast
    readonly snapshots: readonly SnapshotFile[]
  },
): () => Promise<void> {
  const { snapshots } = of
  const before = of.past.ledger
  const judged = [...of.judged].map(([feed, { reasons, memory }]) => {
    return { feed, isGood: reasons.length === 0, memory }
  })
  return async () => {
    if (store === undefined) return
    const ledger = new Map(before)
    for (const { feed, isGood, memory } of judged) {
      const known = before.get(feed.id)?.lastGood
      const own = snapshots.filter((snapshot) => snapshot.feed === feed)
      const lastGood = isGood ? await keepLastGood(store, own, known) : known
      ledger.set(feed.id, { ...memory, lastGood })
    }
    await writeAcceptanceLedger(store, ledger)
    await removeOldCopies(store, ledger)
  }
}

type AcceptancePast = Awaited<ReturnType<typeof readPast>>

const noPast: AcceptancePast = { ledger: new Map(), history: new Map(), problems: [] }

async function readPast(store: string) {
  const { ledger, problem } = await readAcceptanceLedger(store)
  const history = await historySizes(store)
  return { ledger, history, problems: problem === undefined ? [] : [problem] }
}

interface JudgedFeed extends HeldEntries {
  readonly files: readonly ParsedSnapshot[]
  readonly reasons: readonly string[]
  /** What the ledger is to say, its last good files aside. */
  readonly memory: Omit<FeedMemory, 'lastGood'>
}

/** One feed of one build; pure but for the drops that it counts. */
export function judgeFeed(of: {
  readonly files: readonly ParsedSnapshot[]
  readonly day: Day
  readonly index: CanaryIndex
  readonly past: AcceptancePast
}): JudgedFeed {
  const { day } = of
  const { size, files, reasons } = checkContent(of.files, of.index)
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

interface GoodContent extends LastGood {
  readonly size: number
}

/** The last good content, checked in its turn; `undefined` where none can be used. */
async function goodContent(
  feed: Feed,
  of: {
    readonly index: CanaryIndex
    readonly past: AcceptancePast
    readonly store: string | undefined
  },
): Promise<GoodContent | undefined> {
  const { index, past, store } = of
  if (store === undefined) return undefined
  const good = await readLastGood(store, feed, past.ledger.get(feed.id))
  if (good === undefined) return undefined
  const { files, size, reasons } = checkContent(good.files, index)
  return reasons.length === 0 ? { files, size, title: good.title } : undefined
}

function noContent(feed: Feed, day: Day): GoodContent {
  const tally = newParseCounts(feed.id)
  const empty: ParsedSnapshot = { feed, tally, entries: [], day, problem: undefined }
  return { files: [empty], size: 0, title: 'nothing' }
}
