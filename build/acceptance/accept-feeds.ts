// Acceptance of feeds: decides whether a feed's files may be used, after a build has read them and
// before it uses them. A quarantined feed is replaced by its last good content, or by nothing, and
// the build continues; so is a feed whose snapshot is lost, if it has a last good content.
//
// Invariants: accepted files look as `parseSnapshot` returns them; nothing is remembered before
// `commit`, so a failed build leaves acceptance unchanged.

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
import {
  acceptedAfterDays,
  judgeFeedSize,
  lowerMedian,
  pastSizesMax,
} from './quarantine-by-size.ts'
import { checkContent } from './quarantine-by-content.ts'

export interface Quarantine {
  readonly reasons: readonly string[]
  /** What is used instead: `its snapshot of 2026-08-21`; `nothing`. */
  readonly instead: string
}

export type FeedAcceptance = Awaited<ReturnType<typeof acceptFeeds>>

interface HeldEntries {
  readonly size: number
  /** Median of its last snapshots; `undefined` if there are too few. */
  readonly usual: number | undefined
}

export async function acceptFeeds(input: {
  readonly files: readonly ParsedSnapshot[]
  readonly snapshots: readonly SnapshotFile[]
  readonly missing: readonly MissingFeed[]
  /** Store of the history, which also holds acceptance's memory; `undefined`: no past. */
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
    /** All files that the build may use, hand-kept tables included. */
    files: files as readonly ParsedSnapshot[],
    held: held as ReadonlyMap<string, HeldEntries>,
    quarantined: quarantined as ReadonlyMap<string, Quarantine>,
    problems: past.problems,
    /** Remembers what passed and what did not. Called once, when the table is live. */
    commit: ledgerUpdate(store, { judged, past, snapshots: input.snapshots }),
  }
}

/** A separate function, so that its closure does not hold the entries until the table is live. */
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
  readonly memory: Omit<FeedMemory, 'lastGood'>
}

/** Pure, except that it counts drops. */
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
  // Bad content never becomes a new size, however often it is repeated.
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

/** The last good content, checked again; `undefined` if there is none or it fails. */
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
