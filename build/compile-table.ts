// The inner part of a build: from snapshots on disk to a table's content, in order.
//
//   snapshots ─ read ─ accept ─▶ entries ┬ AS facts ─▶ networks ─┐
//   history (adds them, knows ─────────┴ normalise ─▶ observations ─ flatten ─▶ evidence ┐
//   since when) ───────────────────────────┘                                             │
//   place files ─────────▶ places, laid over the networks ───────────────────────────────┴ assemble
//   (an edition that acceptance of data sets chose, as the ranges of networks are; the thread that
//   reads them waits for the networks)

import { groupBy } from '../src/base/counts.ts'
import { formatCount, formatCounted } from '../src/base/text/number-format.ts'
import type { Day } from '../src/base/day.ts'
import { assert } from '../src/base/assert.ts'
import type { Range } from '../src/ip/range.ts'
import { toRangeSet } from '../src/ip/range-set.ts'
import type { Network } from '../src/model/network.ts'
import { assembleTable } from './assemble-table.ts'
import { newAsEvidence } from './evidence/as-evidence.ts'
import { crawlersFile, networksPart, newestTableDay } from './evidence/builtin-feeds.ts'
import {
  coverageByKind,
  feedContents,
  newestDays,
  tableCoverage,
} from './evidence/kind-coverage.ts'
import { type ListedAddresses, listedAddresses } from './evidence/listed-addresses.ts'
import { dropFormerOwners } from './evidence/former-owners.ts'
import { addNeighbourhoods } from './evidence/neighbourhoods.ts'
import { newEvidenceBook } from './evidence/evidence-book.ts'
import { type FeedAcceptance, acceptFeeds } from './acceptance/accept-feeds.ts'
import type { HistoryTransaction } from './acceptance/history-transaction.ts'
import { noHistory, recordAndRead, type History } from './history/read-history.ts'
import { type ListInterner, flattenEvidence, newListInterner } from './layer/flatten-evidence.ts'
import { type Layer, type Layers, valueAt } from './layer/layer.ts'
import { clearTransitionPrefixes } from './layer/overlay.ts'
import { type AsEntry, collectAsFacts } from './networks/as-facts.ts'
import type { Networks } from './networks/read-networks.ts'
import { type NetworkTables, loadNetworkTables } from './networks/network-tables.ts'
import { type NormaliseContext, newNormaliser, parseAsn } from './evidence/normalise.ts'
import {
  type MissingFeed,
  type ParsedSnapshot,
  type SnapshotFile,
  medianDay,
  parseSnapshot,
  withoutEntries,
} from './evidence/read-snapshots.ts'
import { announcedRanges, corporateEgress, operatorsFiles } from './evidence/operator-ranges.ts'
import { feedSources, networkSources, placeSources } from './evidence/source-list.ts'
import {
  type DataSetInput,
  chooseDataSets,
  readNetworkData,
  readPlaceData,
} from './read-data-sets.ts'
import type { BuildStages } from './build-stages.ts'

interface CompileInput extends DataSetInput {
  readonly snapshots: readonly SnapshotFile[]
  /** Files of days that were accepted before, already read: acceptance ignores its past. */
  readonly read?: readonly ParsedSnapshot[]
  /** Feeds whose last good content stands in, if acceptance has any. */
  readonly missing?: readonly MissingFeed[]
  /** Counts as today; by default the median day of the snapshots. */
  readonly asOf: Day | undefined
}

export type NormalisedFile = ReturnType<typeof normaliseAll>[number]

export type CompiledTable = Awaited<ReturnType<typeof compileTable>>

/** Reads the history that `transaction` holds. Throws the errors of reading networks and places. */
export async function compileTable(
  input: CompileInput,
  transaction: { readonly history: HistoryTransaction['history'] | undefined },
  stages: BuildStages,
) {
  const statements = await readStatements(input, transaction, stages)
  const { asOf, book, files, acceptance, networks, choice, problems } = statements
  const lists = newListInterner()
  const evidenceLayers = await flattenObservations(statements.observations, lists, stages)
  const listed = listedAddresses({
    layers: evidenceLayers,
    lists: lists.lists,
    book,
    newestDays: newestDays(files, asOf),
  })
  // Awaited as late as possible: places are read in parallel.
  const places = await readPlaceData(statements.places, stages)
  const [ofNetworks, ofFeeds] = [statements.networkSources, statements.feedSources]
  const sources = [...ofNetworks, ...placeSources(places, asOf, choice.ofPlaces), ...ofFeeds]
  const isNumbered = sources.length === statements.sourceIds.length
  assert(isNumbered, 'compile: evidence is numbered by other sources')
  const assembled = await stages.run('verdicts', (say) => {
    const result = assembleTable({
      asOf,
      sources,
      coverage: statements.coverage(listed),
      networks: networks.networks,
      locations: places.locations,
      placeRuns: places.runs,
      pairs: places.pairs,
      book,
      lists,
      evidenceLayers,
      statementsOfAs: statements.statementsOfAs,
    })
    const { 4: ipv4, 6: ipv6 } = result.boundaries
    say(`${formatCount(ipv4)} IPv4 and ${formatCount(ipv6)} IPv6 boundaries`)
    return result
  })
  return {
    assembled,
    asOf,
    files,
    networks,
    locationCount: places.locations.length,
    listed,
    /** `commit` is called once the table is live. */
    acceptance,
    /** Chosen by acceptance of data sets; committed after acceptance of feeds. */
    editions: choice.editions,
    problems,
  }
}

/** All inputs of a table; the entries and the history are freed on return. */
async function readStatements(
  input: CompileInput,
  { history: folders }: Parameters<typeof compileTable>[1],
  stages: BuildStages,
) {
  const tables = loadNetworkTables()
  const choice = await chooseDataSets(input, stages)
  const acceptance = await stages.run('read feeds', async (say) => {
    const { snapshots, missing = [], read, history } = input
    const files = [...(await readAll(snapshots, tables, say)), ...(read ?? [])]
    const store = read === undefined ? history : undefined
    return acceptFeeds({ files, snapshots, missing, store, tables })
  })
  const facts = collectAsFacts(asEntriesOf(acceptance.files))
  const withEgress = { ...tables, corporatePrefixes: corporateEgress(tables, acceptance.files) }
  const edition = choice.ofNetworks
  const networks = await readNetworkData(input, { edition, facts, tables: withEgress }, stages)
  const places = choice.places.layOver({
    4: networks.layers[4],
    6: clearTransitionPrefixes(networks.layers[6]),
  })
  const asOf = input.asOf ?? medianDay(acceptance.files) ?? newestTableDay(tables)
  const { history, problems } = await stages.run('history', (say) =>
    recordAndReadHistory(folders, acceptance, asOf, say),
  )
  const byFeeds = coverageByKind(feedContents(acceptance.files, acceptance.held), asOf)
  const operators = operatorsFiles(tables, { space: networks, asOf, byFeeds })
  const read = [...announcedRanges(acceptance.files, networks), ...operators]
  const ofFeeds = feedSources(read, asOf, acceptance.quarantined)
  const ofNetworks = networkSources(input.networkFiles, networks, asOf, edition)
  const [networkIds, feedIds] = [ofNetworks, ofFeeds].map((some) => some.map(({ id }) => id))
  // Places are not read yet and have no evidence: their paths stand for their ids.
  const sourceIds = [...networkIds!, ...choice.placeFiles, ...feedIds!]
  const context = newNormaliseContext(asOf, networks, tables)
  const { book, observations } = context
  const files = await stages.run('normalise', (say) => {
    const results = normaliseAll({ files: read, sourceIds, history }, context)
    const former = dropFormerOwners({ observations, book, networks, tables })
    addNeighbourhoods({ asOf, book, observations, sourceIds, networks })
    say(`${formatCount(book.count)} statements; ${formatCount(former)} of former owners left out`)
    return results
  })
  const { quarantined, commit } = acceptance
  // Keeps only hand-kept files, not the entries of all feeds.
  const byHand = read.filter(({ feed }) => feed.files.length === 0)
  return {
    asOf,
    files,
    networks,
    choice,
    places,
    book,
    observations,
    sourceIds,
    networkSources: ofNetworks,
    feedSources: ofFeeds,
    acceptance: { quarantined, commit },
    statementsOfAs: newAsEvidence(
      { tables, facts, sourceIds, asOf, files: read.map(withoutEntries) },
      book,
    ),
    coverage: ({ newestIpv4: addresses }: ListedAddresses) =>
      tableCoverage(byFeeds, { files: byHand, addresses }),
    problems: [...acceptance.problems, ...problems],
  }
}

/** Empties the observations: the verdicts need their memory. */
function flattenObservations(
  observations: NormaliseContext['observations'],
  lists: ListInterner,
  stages: BuildStages,
): Promise<Layers> {
  const take = (family: 4 | 6): Layer => {
    const layer = flattenEvidence(family, observations[family], lists)
    observations[family].length = 0
    return layer
  }
  return stages.run('flatten', (say) => {
    const layers = { 4: take(4), 6: take(6) }
    const { 4: ipv4, 6: ipv6 } = layers
    say(`${formatCount(ipv4.count)} IPv4 and ${formatCount(ipv6.count)} IPv6 pieces of evidence`)
    return layers
  })
}

async function readAll(
  snapshots: readonly SnapshotFile[],
  tables: NetworkTables,
  say: (text: string) => void,
): Promise<readonly ParsedSnapshot[]> {
  const files: ParsedSnapshot[] = [crawlersFile(tables)]
  for (const snapshot of snapshots) files.push(await parseSnapshot(snapshot))
  const entries = files.reduce((sum, file) => sum + file.entries.length, 0)
  say(`${formatCount(entries)} entries from ${formatCounted(files.length, 'file', 'files')}`)
  return files
}

/** Entries about ASes; `corporateEgress` reads prefixes of networks. */
function asEntriesOf(files: readonly ParsedSnapshot[]): AsEntry[] {
  const facts: AsEntry[] = []
  for (const { feed, entries } of files) {
    if (feed.kind === 'blocklist') continue
    for (const { text, range, label = '', name = '' } of entries) {
      const asn = range === undefined ? parseAsn(text) : undefined
      if (asn !== undefined) facts.push({ asn, source: feed.id, label, name })
    }
  }
  return facts
}

/** Stages what passed acceptance, and reads the history that this build needs. */
async function recordAndReadHistory(
  folders: HistoryTransaction['history'] | undefined,
  { files, quarantined }: FeedAcceptance,
  asOf: Day,
  say: (text: string) => void,
) {
  if (folders === undefined) return { history: noHistory, problems: [] }
  const without = new Set(quarantined.keys())
  const { recorded, history } = await recordAndRead(files, { ...folders, without, asOf })
  say(`${recorded.writtenCount} days added, ${recorded.unchangedCount} known`)
  return { history, problems: [...recorded.problems, ...history.problems] }
}

/** One normaliser per feed: two of its files may mean the same line. */
function normaliseAll(
  input: {
    readonly files: readonly ParsedSnapshot[]
    readonly sourceIds: readonly string[]
    readonly history: History
  },
  context: NormaliseContext,
) {
  const sourceOf = (id: string): number => input.sourceIds.indexOf(id)
  return [...groupBy(input.files, ({ feed }) => feed)].flatMap(([feed, files]) => {
    const source = sourceOf(feed.id)
    const history = input.history.of(feed.id)
    const part = networksPart(feed)
    const networks = part && { feed: part, source: sourceOf(part.id) }
    const normaliser = newNormaliser(feed, { source, history, networks }, context)
    const results = files.map((read) => {
      const counts = { kept: 0, duplicate: 0, dropped: 0 }
      for (const entry of read.entries) counts[normaliser.addEntry(entry, read.day, read.tally)]++
      return {
        read: withoutEntries(read),
        source,
        kept: counts.kept + counts.duplicate,
        duplicates: counts.duplicate,
      }
    })
    // Ranges of the feed, hence of all its files, that are no longer listed and fade.
    const { lapsed } = source < 0 ? { lapsed: 0 } : normaliser.finish()
    return results.map((result) => ({ ...result, lapsed }))
  })
}

function newNormaliseContext(
  asOf: Day,
  networks: Networks,
  tables: NetworkTables,
): NormaliseContext {
  const networkAt = (family: 4 | 6, words: Uint32Array): Network | undefined =>
    networks.networks[valueAt(networks.layers[family], words) - 1]
  return {
    asOf,
    book: newEvidenceBook(),
    observations: { 4: [], 6: [] },
    resolvers: { 4: resolversOf(tables, 4), 6: resolversOf(tables, 6) },
    inAccess: (family, words) => networkAt(family, words)?.access === true,
  }
}

function resolversOf(tables: NetworkTables, family: 4 | 6): readonly Range[] {
  const ranges = tables.resolvers.map(({ range }) => range)
  return toRangeSet(ranges.filter((range) => range.family === family))
}
