// The gate of feeds: after a build has read a feed's files and before anything is made of them, it
// decides whether they may be used. What may not is quarantined: the feed's last good content stands
// in, or nothing where there is none, and the build goes on. It never fails a build.
//
// Invariants: what goes out is a set of files as `readFile` gives them, so that no later step knows
// of the gate; nothing is remembered before `commit`, so that a build that came to nothing leaves
// the gate as it was.

import type { Day } from '../../src/base/day.ts'
import { loadCanaries } from '../../src/table/canaries.ts'
import type { Feed } from '../catalogue/feed.ts'
import type { Tables } from '../networks/network-tables.ts'
import { type ReadFile, type SnapshotFile } from '../evidence/read-snapshots.ts'
import { newTally } from '../parse/parse-counts.ts'
import { type CanaryIndex, newCanaryIndex } from './entry-canaries.ts'
import { keepGood, readGood, removeOldGood } from './last-good.ts'
import {
  type FeedMemory,
  type Ledger,
  historyLevels,
  pastLevels,
  readLedger,
  writeLedger,
} from './gate-ledger.ts'
import { type Held, judgeLevel, levelsMax } from './feed-size.ts'
import { byFeed, screen } from './content-checks.ts'

export interface Quarantine {
  /** Why, one line each; at least one. */
  readonly reasons: readonly string[]
  /** What is used in its place: `its snapshot of 2026-08-21`; `nothing`. */
  readonly instead: string
}

export interface Gated {
  /** All files that a build may use, hand-kept tables included. */
  readonly files: readonly ReadFile[]
  /** By the id of the feed. */
  readonly quarantined: ReadonlyMap<string, Quarantine>
  /** What concerns no single feed. */
  readonly problems: readonly string[]
  /** Remembers what passed and what did not. Called once, when the table is live. */
  readonly commit: () => Promise<void>
}

export interface GateInput {
  /** As they were read. */
  readonly files: readonly ReadFile[]
  /** Where they were read from. */
  readonly snapshots: readonly SnapshotFile[]
  /** The store of the history, beside which the gate remembers; `undefined`: no past at all. */
  readonly store: string | undefined
  readonly tables: Pick<Tables, 'resolvers' | 'crawlers'>
}

export async function gateFeeds(input: GateInput): Promise<Gated> {
  const { store } = input
  const index = newCanaryIndex(loadCanaries(), input.tables)
  const past = store === undefined ? noPast : await readPast(store)
  const feeds = byFeed(input.files)
  const judged = new Map<Feed, Judged>()
  for (const [feed, files] of feeds) {
    const day = fetchDay(input.snapshots, feed) ?? newestDay(files)
    judged.set(feed, judgeFeed({ files, day, index, past }))
  }
  const files = input.files.filter(({ feed }) => !feeds.has(feed))
  const quarantined = new Map<string, Quarantine>()
  for (const [feed, { files: own, reasons }] of judged) {
    if (reasons.length === 0) files.push(...own)
    else {
      const { files: instead, title } = await standIn(feed, { own, index, past, store })
      files.push(...instead)
      quarantined.set(feed.id, { reasons, instead: title })
    }
  }
  const commit = async (): Promise<void> => {
    if (store !== undefined) await remember(store, { judged, past, snapshots: input.snapshots })
  }
  return { files, quarantined, problems: past.problems, commit }
}

export interface Past {
  readonly ledger: Ledger
  readonly history: ReadonlyMap<string, readonly Held[]>
  readonly problems: readonly string[]
}

const noPast: Past = { ledger: new Map(), history: new Map(), problems: [] }

async function readPast(store: string): Promise<Past> {
  const { ledger, problem } = await readLedger(store)
  const history = await historyLevels(store)
  return { ledger, history, problems: problem === undefined ? [] : [problem] }
}

export interface Judged {
  readonly files: readonly ReadFile[]
  readonly reasons: readonly string[]
  /** What the ledger is to say, its good files aside. */
  readonly memory: Omit<FeedMemory, 'good'>
}

/** One feed of one build; pure but for the drops that it counts. */
export function judgeFeed(of: {
  readonly files: readonly ReadFile[]
  readonly day: Day
  readonly index: CanaryIndex
  readonly past: Past
}): Judged {
  const { day } = of
  const screened = screen(of.files, of.index)
  const { level, files, reasons } = screened
  const id = files[0]?.feed.id ?? ''
  const memory = of.past.ledger.get(id) ?? { levels: [], moved: false, held: [] }
  const { levels, moved, held } = memory
  // What is wrong by itself is never a new level, however often it is said.
  if (reasons.length > 0) return { files, reasons, memory: { levels, moved, held } }
  const past = pastLevels(memory, of.past.history.get(id) ?? [])
  const judgement = judgeLevel({ level, day, held, past: past.map((one) => one.level) })
  if (judgement.kind === 'held') {
    const reasons = [judgement.reason]
    return { files, reasons, memory: { levels, moved, held: judgement.held } }
  }
  const own = { day: newestDay(files), level }
  const others = levels.filter((one) => one.day !== own.day)
  return {
    files,
    reasons,
    memory:
      judgement.kind === 'accepted'
        ? { levels: [own], moved: true, held: [] }
        : { levels: [...others, own].slice(-levelsMax), moved, held: [] },
  }
}

/** The last good content, screened in its turn; else an empty file that says that there is none. */
async function standIn(
  feed: Feed,
  of: {
    readonly own: readonly ReadFile[]
    readonly index: CanaryIndex
    readonly past: Past
    readonly store: string | undefined
  },
): Promise<{ readonly files: readonly ReadFile[]; readonly title: string }> {
  const { own, index, past, store } = of
  const good =
    store === undefined ? undefined : await readGood(store, feed, past.ledger.get(feed.id))
  if (good !== undefined) {
    const screened = screen(good.files, index)
    if (screened.reasons.length === 0) return { files: screened.files, title: good.title }
  }
  const empty: ReadFile = {
    feed,
    tally: newTally(feed.id),
    entries: [],
    day: newestDay(own),
    problem: undefined,
  }
  return { files: [empty], title: 'nothing' }
}

async function remember(
  store: string,
  of: {
    readonly judged: ReadonlyMap<Feed, Judged>
    readonly past: Past
    readonly snapshots: readonly SnapshotFile[]
  },
): Promise<void> {
  const ledger = new Map(of.past.ledger)
  for (const [feed, { reasons, memory }] of of.judged) {
    const known = of.past.ledger.get(feed.id)?.good
    const own = of.snapshots.filter((snapshot) => snapshot.feed === feed)
    const good = reasons.length > 0 ? known : await keepGood(store, own, known)
    ledger.set(feed.id, { ...memory, ...(good === undefined ? {} : { good }) })
  }
  await writeLedger(store, ledger)
  await removeOldGood(store, ledger)
}

function fetchDay(snapshots: readonly SnapshotFile[], feed: Feed): Day | undefined {
  const days = snapshots.filter((snapshot) => snapshot.feed === feed).map(({ day }) => day)
  return days.length === 0 ? undefined : (Math.max(...days) as Day)
}

function newestDay(files: readonly ReadFile[]): Day {
  return Math.max(...files.map(({ day }) => day)) as Day
}
