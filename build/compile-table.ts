// The inner part of a build: from snapshots on disk to the content of a table. Each step is one
// room's work; this file has their order and what passes between them.
//
//   snapshots ─ read ─ gate ─▶ entries ┬ AS facts ─▶ networks ─┐
//   history (adds them, knows ─────────┴ normalise ─▶ observations ─ flatten ─▶ evidence ┐
//   since when) ───────────────────────────┘                                             │
//   place files ────────────────────────────▶ places ────────────────────────────────────┴ assemble

import { formatCount } from '../src/base/number-format.ts'
import type { Day } from '../src/base/day.ts'
import type { Range } from '../src/ip/range.ts'
import { toRangeSet } from '../src/ip/range-set.ts'
import type { Network } from '../src/model/network.ts'
import { type AssembledTable, assembleTable } from './assemble-table.ts'
import { newAsEvidence } from './evidence/as-evidence.ts'
import { crawlersFile, newestTableDay } from './evidence/builtin-feeds.ts'
import { type Coverage, coverage } from './evidence/coverage.ts'
import { newEvidenceBook } from './evidence/evidence-book.ts'
import { type GateResult, gateFeeds } from './gate/feed-gate.ts'
import { type HistoryTransaction, beginHistoryTransaction } from './gate/history-transaction.ts'
import { type History, noHistory, readHistory } from './history/read-history.ts'
import { recordToday } from './history/record-today.ts'
import { flattenEvidence, newListInterner } from './layer/flatten-evidence.ts'
import { valueAt } from './layer/layer.ts'
import { type AsEntry, type AsFacts, collectAsFacts } from './networks/as-facts.ts'
import { type Networks, readNetworks } from './networks/read-networks.ts'
import { type NetworkTables, loadNetworkTables } from './networks/network-tables.ts'
import { type NormaliseContext, newNormaliser, parseAsn } from './evidence/normalise.ts'
import { type Places, defaultPlaceFiles, readPlaces } from './places/read-places.ts'
import {
  type ParsedSnapshot,
  type SnapshotFile,
  medianDay,
  parseSnapshot,
} from './evidence/read-snapshots.ts'
import { feedSources, networkSources, placeSources } from './evidence/source-list.ts'
import type { BuildStages } from './build-stages.ts'
import { clearTransitionPrefixes } from './evidence/transition-prefixes.ts'
import type { Source } from '../src/table/file/table-source.ts'

export interface CompileInput {
  readonly snapshots: readonly SnapshotFile[]
  /** The day that counts as today; by default the median day of the snapshots. */
  readonly asOf: Day | undefined
  /** The store of the history; `undefined` builds from the snapshots alone. */
  readonly history: string | undefined
  /** The operator's own files; by default those of the packages. */
  readonly networkFiles: readonly string[] | undefined
  readonly placeFiles: readonly string[] | undefined
}

/** What became of one file, for the report. */
export interface NormalisedFile {
  readonly read: ParsedSnapshot
  readonly kept: number
  readonly duplicates: number
  /** Of its feed: ranges that are no longer listed and fade. The same for all files of a feed. */
  readonly lapsed: number
  readonly source: number
}

export interface CompiledTable {
  readonly assembled: AssembledTable
  readonly asOf: Day
  readonly files: readonly NormalisedFile[]
  readonly networks: Networks
  readonly places: Places
  readonly sources: readonly Source[]
  readonly coverage: Coverage
  /** Which feeds are quarantined; its `commit` is called when the table is live. */
  readonly gate: GateResult
  /** Holds the history since before it was read; released when the table is judged. */
  readonly transaction: HistoryTransaction
  /** What went wrong with the history, one line each. */
  readonly problems: readonly string[]
}

/**
 * Throws what reading networks and places throws, and `history_locked` while another run writes the
 * history. The history then has nothing of this build.
 */
export async function compileTable(
  input: CompileInput,
  stages: BuildStages,
): Promise<CompiledTable> {
  const transaction = await beginHistoryTransaction(input.history)
  try {
    return await compileWithHistory(input, transaction, stages)
  } catch (thrown) {
    await transaction.release()
    throw thrown
  }
}

async function compileWithHistory(
  input: CompileInput,
  transaction: HistoryTransaction,
  stages: BuildStages,
): Promise<CompiledTable> {
  const tables = loadNetworkTables()
  const gate = await stages.run('read feeds', async (say) => {
    const files = await readAll(input.snapshots, tables, say)
    return gateFeeds({ files, snapshots: input.snapshots, store: input.history, tables })
  })
  const read = gate.files
  const facts = collectAsFacts(asEntriesOf(read))
  const { networks, places } = await readNetworksAndPlaces({ input, facts, tables }, stages)
  const asOf = input.asOf ?? medianDay(read) ?? newestTableDay(tables)
  const sources = [
    ...networkSources(input.networkFiles, networks, asOf),
    ...placeSources(places, asOf),
    ...feedSources(read, asOf, gate.quarantined),
  ]
  const ground = newNormaliseContext(asOf, networks, tables)
  const past = await stages.run('history', (say) =>
    recordAndReadHistory(transaction, gate, asOf, say),
  )
  const files = await stages.run('normalise', (say) => {
    const results = normaliseAll({ files: read, sources, history: past.history }, ground)
    say(`${formatCount(ground.book.count)} statements`)
    return results
  })
  const lists = newListInterner()
  const evidenceLayers = await stages.run('flatten', (say) => {
    const layers = {
      4: flattenEvidence(4, ground.observations[4], lists),
      6: flattenEvidence(6, ground.observations[6], lists),
    }
    const { 4: ipv4, 6: ipv6 } = layers
    say(`${formatCount(ipv4.count)} IPv4 and ${formatCount(ipv6.count)} IPv6 pieces of evidence`)
    return layers
  })
  const statementsOfAs = newAsEvidence({ tables, facts, sources, asOf, files: read }, ground.book)
  const assembled = await stages.run('verdicts', (say) => {
    const result = assembleTable({
      asOf,
      sources,
      networks: networks.networks,
      networkLayers: { 4: networks.layers[4], 6: clearTransitionPrefixes(networks.layers[6]) },
      locations: places.locations,
      placeLayers: { 4: places.layers[4], 6: clearTransitionPrefixes(places.layers[6]) },
      book: ground.book,
      lists,
      evidenceLayers,
      statementsOfAs,
    })
    const { 4: ipv4, 6: ipv6 } = result.pieces
    say(`${formatCount(ipv4.count)} IPv4 and ${formatCount(ipv6.count)} IPv6 boundaries`)
    return result
  })
  const problems = [...gate.problems, ...past.problems]
  return {
    assembled,
    asOf,
    files,
    networks,
    places,
    sources,
    coverage: coverage(evidenceLayers, lists.lists, ground.book),
    gate,
    transaction,
    problems,
  }
}

/** What does not come from feeds of addresses: who announces the space, and where it is. */
async function readNetworksAndPlaces(
  from: { readonly input: CompileInput; readonly facts: AsFacts; readonly tables: NetworkTables },
  stages: BuildStages,
): Promise<{ readonly networks: Networks; readonly places: Places }> {
  const { facts, tables } = from
  const { networkFiles, placeFiles } = from.input
  const networks = await stages.run('networks', async (say) => {
    const files = networkFiles === undefined ? {} : { files: networkFiles }
    const found = await readNetworks({ ...files, facts, tables })
    say(`${formatCount(found.networks.length)} networks`)
    return found
  })
  const places = await stages.run('places', async (say) => {
    const found = await readPlaces(placeFiles ?? defaultPlaceFiles() ?? [])
    say(`${formatCount(found.locations.length)} places`)
    return found
  })
  return { networks, places }
}

async function readAll(
  snapshots: readonly SnapshotFile[],
  tables: NetworkTables,
  say: (text: string) => void,
): Promise<readonly ParsedSnapshot[]> {
  const files: ParsedSnapshot[] = [crawlersFile(tables)]
  for (const snapshot of snapshots) files.push(await parseSnapshot(snapshot))
  const entries = files.reduce((sum, file) => sum + file.entries.length, 0)
  say(`${formatCount(entries)} entries from ${files.length} files`)
  return files
}

/** Entries about ASes, for the networks; entries about addresses wait for normalise. */
function asEntriesOf(files: readonly ParsedSnapshot[]): AsEntry[] {
  const facts: AsEntry[] = []
  for (const { feed, entries } of files) {
    for (const { text, label = '', name = '' } of entries) {
      const asn = parseAsn(text)
      if (asn !== undefined) facts.push({ asn, source: feed.id, label, name })
    }
  }
  return facts
}

/** Stages what passed the gate, then reads with the history what concerns this build. */
async function recordAndReadHistory(
  { history: folders }: HistoryTransaction,
  { files, quarantined }: GateResult,
  asOf: Day,
  say: (text: string) => void,
): Promise<{ readonly history: History; readonly problems: readonly string[] }> {
  if (folders === undefined) return { history: noHistory, problems: [] }
  const without = new Set(quarantined.keys())
  const recorded = await recordToday(files, { ...folders, without })
  const feeds = [...new Set(files.map(({ feed }) => feed))]
  const history = await readHistory({ ...folders, feeds, asOf })
  say(`${recorded.writtenCount} days added, ${recorded.unchangedCount} known`)
  return { history, problems: [...recorded.problems, ...history.problems] }
}

/** All files of a feed go through one normaliser: two of them may mean the same line. */
function normaliseAll(
  input: {
    readonly files: readonly ParsedSnapshot[]
    readonly sources: readonly Source[]
    readonly history: History
  },
  ground: NormaliseContext,
): readonly NormalisedFile[] {
  const feeds = new Set(input.files.map(({ feed }) => feed))
  return [...feeds].flatMap((feed) => {
    const files = input.files.filter((file) => file.feed === feed)
    const source = input.sources.findIndex(({ id }) => id === feed.id)
    const history = input.history.of(feed.id)
    const normaliser = newNormaliser(feed, { source, history }, ground)
    const results = files.map((read) => {
      const counts = { kept: 0, duplicate: 0, dropped: 0 }
      for (const entry of read.entries) counts[normaliser.addEntry(entry, read.day, read.tally)]++
      return { read, source, kept: counts.kept + counts.duplicate, duplicates: counts.duplicate }
    })
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
