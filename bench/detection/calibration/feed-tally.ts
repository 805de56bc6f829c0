// What the other feeds and the networks say of each feed's entries. An entry counts once, whatever
// its size: by the share of its addresses for which something holds. So a /12 half of which another
// feed lists too is half confirmed, and does not outvote a thousand single addresses.
//
// Measured on snapshots alone, without history: what a feed no longer lists is not its word.

import { networksSuffix, vpnOperatorsFeed } from '../../../build/evidence/builtin-feeds.ts'
import {
  groupCount,
  hostingGroup,
  hostingTableVoice,
  hostingVoices,
} from '../../../build/networks/network-type.ts'
import type { Range } from '../../../src/ip/range.ts'
import type { Evidence } from '../../../src/model/evidence.ts'
import type { Kind } from '../../../src/model/kind.ts'
import type { Network } from '../../../src/model/network.ts'
import { rangeSize } from '../world/address-count.ts'
import type { Cell, World } from '../world/cells.ts'
import { type Contradiction, newContradiction } from './contradiction.ts'

export interface FeedTally {
  /** Distinct ranges, as meant (an IPv6 line of an access network once). */
  readonly entries: number
  /** Entries, in parts, that no other feed of the kind lists. */
  readonly unique: number
  /** Feeds of another group, of the kind, list them. */
  readonly confirmed: number
  /** Contradicted (contradiction.ts), and the model does not settle it. */
  readonly contradicted: number
  /** Contradicted, and the model settles it by a rule of its own. */
  readonly settled: number
  /**
   * Share of the announced IPv4 space that feeds of another group, of the kind, list: so much of a
   * list drawn by chance would be confirmed.
   */
  readonly chance: number
}

export const noFeedTally: FeedTally = {
  entries: 0,
  unique: 0,
  confirmed: 0,
  contradicted: 0,
  settled: 0,
  chance: 0,
}

export type FeedTallySums = { -readonly [K in keyof FeedTally]: FeedTally[K] }

/** Both say that strangers' traffic leaves there; which of them depends on the network alone. */
const sameKind: Partial<Record<Kind, Kind>> = { residential_proxy: 'proxy' }

/** By feed id; feeds of which no entry is an address are left out. */
export function tallyFeeds(world: World): ReadonlyMap<string, FeedTally> {
  const sums = new Map<string, FeedTallySums>()
  const contradiction: Contradiction = newContradiction(world)
  const readings = new Map<number, readonly Reading[]>()
  for (const cell of world.cells) {
    if (cell.list === 0) continue
    let reading = readings.get(cell.list)
    if (reading === undefined) {
      reading = readList(world, cell.list)
      readings.set(cell.list, reading)
    }
    const network = world.networks[cell.network - 1]
    for (const one of reading) addCell({ sums, contradiction, reading }, one, { cell, network })
  }
  const chanceOf = chances(world, readings)
  for (const [id, sum] of sums) sum.chance = chanceOf(id)
  return sums
}

/** One statement of a list, beside the others. */
interface Reading {
  readonly evidence: Evidence
  /** Addresses of the whole entry. */
  readonly size: number
  readonly unique: boolean
  readonly confirmed: boolean
}

/**
 * A feed's word on whole networks is a voice of its own, and no confirmation of its addresses. Nor
 * is the hand-kept table of operators' space: it names no address, and those who weigh lists keep
 * it.
 */
function publisherOf(voice: string): string {
  return voice.endsWith(networksSuffix) ? voice.slice(0, -networksSuffix.length) : voice
}

function kindOf({ kind }: Evidence): Kind {
  return sameKind[kind] ?? kind
}

function readList(world: World, list: number): readonly Reading[] {
  const all = (world.lists.lists[list - 1] ?? []).map((id) => world.book.at(id))
  // What neighbours say lists nothing.
  const statements = all.filter(({ evidence }) => evidence.match !== 'near')
  return statements.map(({ evidence, range }) => {
    const others = statements.filter((other) => kindOf(other.evidence) === kindOf(evidence))
    const { id, group } = evidence.voice
    const publisher = publisherOf(id)
    return {
      evidence,
      size: rangeSize(range as Range),
      unique: others.every((other) => other.evidence.voice.id === id),
      confirmed: others.some(
        ({ evidence: { voice } }) =>
          voice.group !== group &&
          voice.id !== vpnOperatorsFeed.id &&
          publisherOf(voice.id) !== publisher,
      ),
    }
  })
}

function addCell(
  state: {
    readonly sums: Map<string, FeedTallySums>
    readonly contradiction: Contradiction
    readonly reading: readonly Reading[]
  },
  one: Reading,
  at: { readonly cell: Cell; readonly network: Network | undefined },
): void {
  const { sums, contradiction, reading } = state
  const { id } = one.evidence.voice
  const sum = sums.get(id) ?? { ...noFeedTally }
  sums.set(id, sum)
  const part = at.cell.size / one.size
  sum.entries += part
  if (one.unique) sum.unique += part
  if (one.confirmed) sum.confirmed += part
  const beside = reading.map(({ evidence }) => evidence)
  const contradicted = contradiction(one.evidence, { network: at.network, beside })
  if (contradicted === 'open') sum.contradicted += part
  if (contradicted === 'settled') sum.settled += part
}

/** Of each feed the share of announced IPv4 space that other groups of its kind list. */
function chances(
  world: World,
  readings: ReadonlyMap<number, readonly Reading[]>,
): (feedId: string) => number {
  let announced = 0
  const voices = new Map<string, { readonly kind: Kind; readonly group: string }>()
  const sizes = new Map<string, number>()
  for (const { family, network, list, size } of world.cells) {
    if (family !== 4 || network === 0) continue
    announced += size
    const groups = new Set<string>()
    for (const { evidence } of readings.get(list) ?? []) {
      const { id, group } = evidence.voice
      voices.set(id, { kind: kindOf(evidence), group })
      groups.add(`${kindOf(evidence)} ${group}`)
    }
    if (groups.size === 0) continue
    const key = [...groups].sort().join()
    sizes.set(key, (sizes.get(key) ?? 0) + size)
  }
  return (feedId) => {
    const voice = voices.get(feedId)
    if (voice === undefined || announced === 0) return 0
    let covered = 0
    for (const [key, size] of sizes) {
      const others = key.split(',').filter((each) => each.startsWith(`${voice.kind} `))
      if (others.some((each) => each !== `${voice.kind} ${voice.group}`)) covered += size
    }
    return covered / announced
  }
}

/** By feed id; only ASes that announce something. */
export function tallyAsFeeds(
  world: Pick<World, 'networks' | 'facts' | 'tables'>,
): ReadonlyMap<string, FeedTally> {
  const sums = new Map<string, FeedTallySums>()
  const seen = new Set<number>()
  const all: (readonly string[])[] = []
  for (const { asn, access, type } of world.networks) {
    // Within an ASN the AS itself comes before its special prefixes.
    if (seen.has(asn)) continue
    seen.add(asn)
    const lists = hostingVoices(world.facts.get(asn))
    const isTable = world.tables.asRow(asn)?.table === 'hosting'
    const voices = isTable ? [hostingTableVoice, ...lists] : lists
    all.push(voices)
    for (const voice of lists) {
      const sum = sums.get(voice) ?? { ...noFeedTally }
      sums.set(voice, sum)
      sum.entries++
      if (voices.length === 1) sum.unique++
      const others = voices.filter((other) => hostingGroup(other) !== hostingGroup(voice))
      if (groupCount(others) > 0) sum.confirmed++
      if (access || type === 'education') sum.settled++
    }
  }
  for (const [voice, sum] of sums) {
    const group = hostingGroup(voice)
    const byOthers = all.filter((voices) => voices.some((other) => hostingGroup(other) !== group))
    sum.chance = byOthers.length / all.length
  }
  return sums
}
