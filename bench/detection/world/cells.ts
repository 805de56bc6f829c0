// The world as a build sees it, without places and without a file: which evidence holds where, and
// in which network. It is reduced to cells, so that every measure is one pass over them:
//
//   networks  ├──── AS 1 ────┼────── AS 2 ───────┤      cell = (network, list of statements) with
//   evidence    ├ a ┤   ├──── b ───┤  ├ a ┤             the addresses of all its pieces together
//
// Invariant: the sizes of a family's cells add up to its whole space.

import { memoise } from '../../../src/base/memoise.ts'
import type { Day } from '../../../src/base/day.ts'
import type { Family } from '../../../src/ip/address.ts'
import type { Evidence } from '../../../src/model/evidence.ts'
import type { Network } from '../../../src/model/network.ts'
import { newAsEvidence } from '../../../build/evidence/as-evidence.ts'
import { type EvidenceBook, newEvidenceBook } from '../../../build/evidence/evidence-book.ts'
import { type History, noHistory } from '../../../build/history/read-history.ts'
import {
  type ListInterner,
  type Observation,
  flattenEvidence,
  newListInterner,
} from '../../../build/layer/flatten-evidence.ts'
import { type Layers, valueAt } from '../../../build/layer/layer.ts'
import { clearTransitionPrefixes, overlayTwoLayers } from '../../../build/layer/overlay.ts'
import { type AsFacts, collectAsFacts } from '../../../build/networks/as-facts.ts'
import { type Networks, readNetworks } from '../../../build/networks/read-networks.ts'
import {
  type NormaliseContext,
  newNormaliser,
  parseAsn,
} from '../../../build/evidence/normalise.ts'
import type { ParsedSnapshot } from '../../../build/evidence/read-snapshots.ts'
import { toRangeSet } from '../../../src/ip/range-set.ts'
import { feedSources } from '../../../build/evidence/source-list.ts'
import { networksPart } from '../../../build/evidence/builtin-feeds.ts'
import { coverageByKind, feedContents } from '../../../build/evidence/kind-coverage.ts'
import { dropFormerOwners } from '../../../build/evidence/former-owners.ts'
import { addNeighbourhoods } from '../../../build/evidence/neighbourhoods.ts'
import { operatorsFiles } from '../../../build/evidence/operator-ranges.ts'
import type { NetworkTables } from '../../../build/networks/network-tables.ts'
import { pieceSize } from './address-count.ts'

export interface Cell {
  readonly family: Family
  /** 0 where no AS announces it. */
  readonly network: number
  /** 0 where nothing is said. */
  readonly list: number
  /** Addresses. */
  size: number
}

export interface World {
  readonly asOf: Day
  readonly networks: readonly Network[]
  readonly facts: AsFacts
  readonly tables: NetworkTables
  readonly book: EvidenceBook
  readonly lists: ListInterner
  readonly observations: Readonly<Record<Family, readonly Observation[]>>
  readonly evidenceLayers: Layers
  readonly networkLayers: Layers
  readonly cells: readonly Cell[]
  /** Feed ids by index; what a statement's `source` is. */
  readonly sources: readonly string[]
  /** Evidence of a network's AS, for each id; ids from 1. */
  readonly asEvidence: (network: number) => readonly Evidence[]
}

/** AS ranges and their networks: the part of a world that no day changes. */
export interface WorldNetworks {
  readonly networks: Networks
  readonly facts: AsFacts
}

export async function readWorldNetworks(options: {
  readonly files: readonly ParsedSnapshot[]
  readonly tables: NetworkTables
  readonly networkFiles?: readonly string[] | undefined
}): Promise<WorldNetworks> {
  const facts = collectAsFacts(
    options.files.flatMap(({ feed, entries }) =>
      (feed.kind === 'blocklist' ? [] : entries).flatMap(({ text, label = '', name = '' }) => {
        const asn = parseAsn(text)
        return asn === undefined ? [] : [{ asn, source: feed.id, label, name }]
      }),
    ),
  )
  const files = options.networkFiles
  const networks = await readNetworks({
    ...(files === undefined ? {} : { files }),
    facts,
    tables: options.tables,
  })
  return { networks, facts }
}

export interface WorldOptions {
  readonly land: WorldNetworks
  readonly files: readonly ParsedSnapshot[]
  readonly tables: NetworkTables
  readonly asOf: Day
  readonly history?: History | undefined
}

export function newWorld(options: WorldOptions): World {
  const { land, tables, asOf } = options
  const byFeeds = coverageByKind(feedContents(options.files, new Map()), asOf)
  const space = land.networks
  const files = [...options.files, ...operatorsFiles(tables, { space, asOf, byFeeds })]
  const history = options.history ?? noHistory
  const { networks } = land.networks
  const layers = land.networks.layers
  const book = newEvidenceBook()
  const sourceIds = feedSources(files, asOf).map(({ id }) => id)
  const ground: NormaliseContext = {
    asOf,
    book,
    observations: { 4: [], 6: [] },
    resolvers: { 4: resolversOf(tables, 4), 6: resolversOf(tables, 6) },
    inAccess: (family, words) => networks[valueAt(layers[family], words) - 1]?.access === true,
  }
  for (const feed of new Set(files.map((file) => file.feed))) {
    const source = sourceIds.indexOf(feed.id)
    const part = networksPart(feed)
    const networks = part && {
      feed: part,
      source: sourceIds.indexOf(part.id),
    }
    const from = { source, history: history.of(feed.id), networks }
    const normaliser = newNormaliser(feed, from, ground)
    for (const { day, entries, tally, feed: owner } of files) {
      if (owner === feed) for (const entry of entries) normaliser.addEntry(entry, day, tally)
    }
    if (source >= 0) normaliser.finish()
  }
  const { observations } = ground
  dropFormerOwners({ observations, book, networks: { networks, layers }, tables })
  addNeighbourhoods({ asOf, book, observations, sourceIds, networks: { networks, layers } })
  const lists = newListInterner()
  const evidenceLayers = {
    4: flattenEvidence(4, ground.observations[4], lists),
    6: flattenEvidence(6, ground.observations[6], lists),
  }
  const networkLayers = { 4: layers[4], 6: clearTransitionPrefixes(layers[6]) }
  const ofAs = newAsEvidence({ tables, facts: land.facts, sourceIds, asOf, files }, book)
  return {
    asOf,
    networks,
    facts: land.facts,
    tables,
    book,
    lists,
    observations,
    evidenceLayers,
    networkLayers,
    cells: [
      ...cellsOf(4, { networkLayers, evidenceLayers }),
      ...cellsOf(6, { networkLayers, evidenceLayers }),
    ],
    sources: sourceIds,
    asEvidence: memoise((network) => {
      const found = networks[network - 1]
      return found === undefined ? [] : ofAs(found).map((id) => book.at(id).evidence)
    }),
  }
}

function cellsOf(
  family: Family,
  layers: Pick<World, 'networkLayers' | 'evidenceLayers'>,
): readonly Cell[] {
  const cells: Cell[] = []
  const ids = new Map<number, number>()
  const pieces = overlayTwoLayers({
    base: layers.networkLayers[family],
    top: layers.evidenceLayers[family],
    combine(network, list) {
      // Both are dictionary numbers far below 2^26.
      const key = network * 2 ** 26 + list
      let id = ids.get(key)
      if (id === undefined) {
        id = cells.length
        ids.set(key, id)
        cells.push({ family, network, list, size: 0 })
      }
      return id
    },
  })
  for (let piece = 0; piece < pieces.count; piece++) {
    cells[pieces.values[piece]!]!.size += pieceSize(pieces, piece)
  }
  return cells
}

function resolversOf(tables: NetworkTables, family: Family) {
  const ranges = tables.resolvers.map(({ range }) => range)
  return toRangeSet(ranges.filter((range) => range.family === family))
}
