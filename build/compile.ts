// The conductor's inner part: from snapshots on disk to the content of a table. Each step is one
// room's work; here is only their order and what passes between them.
//
//   snapshots ─ read ─▶ entries ─┬─ AS facts ─▶ networks ─┐
//                                └─ normalise ─▶ observations ─ flatten ─▶ evidence ─┐
//   place files ──────────────────────────────▶ places ──────────────────────────────┴─ assemble

import type { Day } from '../src/base/day.ts'
import type { Range } from '../src/ip/range.ts'
import { toRangeSet } from '../src/ip/set.ts'
import type { Network } from '../src/model/network.ts'
import type { Source } from '../src/table/table.ts'
import { type Assembled, assemble } from './assemble.ts'
import { newAsStatements } from './as.ts'
import { crawlersFile, newestDay } from './builtin.ts'
import { type Coverage, coverage } from './cover.ts'
import { newEvidenceBook } from './evidence.ts'
import { flatten, newListInterner } from './layer/flatten.ts'
import { valueAt } from './layer/layer.ts'
import { type AsEntry, collectFacts } from './networks/facts.ts'
import { type Networks, readNetworks } from './networks/read.ts'
import { type Tables, loadTables } from './networks/tables.ts'
import { type Ground, newNormaliser, parseAsn } from './normalise.ts'
import { type Places, defaultPlaceFiles, readPlaces } from './places/read.ts'
import { type ReadFile, type SnapshotFile, medianDay, readFile } from './read.ts'
import { feedSources, networkSources, placeSources } from './source.ts'
import type { Stages } from './stage.ts'
import { clearTransition } from './transition.ts'

export interface CompileInput {
  readonly snapshots: readonly SnapshotFile[]
  /** The day that counts as today; by default the median day of the snapshots. */
  readonly asOf: Day | undefined
  /** The operator's own files; by default those of the packages. */
  readonly networkFiles: readonly string[] | undefined
  readonly placeFiles: readonly string[] | undefined
}

/** What became of one file, for the report. */
export interface FileResult {
  readonly read: ReadFile
  readonly kept: number
  readonly duplicates: number
  readonly source: number
}

export interface Compiled {
  readonly assembled: Assembled
  readonly asOf: Day
  readonly files: readonly FileResult[]
  readonly networks: Networks
  readonly places: Places
  readonly sources: readonly Source[]
  readonly coverage: Coverage
}

export async function compile(input: CompileInput, stages: Stages): Promise<Compiled> {
  const tables = loadTables()
  const read = await stages.run('read feeds', (say) => readAll(input.snapshots, tables, say))
  const facts = collectFacts(asEntriesOf(read))
  const networks = await stages.run('networks', async (say) => {
    const files = input.networkFiles
    const found = await readNetworks({ ...(files === undefined ? {} : { files }), facts, tables })
    say(`${count(found.networks.length)} networks`)
    return found
  })
  const places = await stages.run('places', async (say) => {
    const found = await readPlaces(input.placeFiles ?? defaultPlaceFiles() ?? [])
    say(`${count(found.locations.length)} places`)
    return found
  })
  const asOf = input.asOf ?? medianDay(read) ?? newestDay(tables)
  const sources = [
    ...networkSources(input.networkFiles, networks, asOf),
    ...placeSources(places, asOf),
    ...feedSources(read, asOf),
  ]
  const ground = newGround(asOf, networks, tables)
  const files = await stages.run('normalise', (say) => {
    const results = normaliseAll(read, sources, ground)
    say(`${count(ground.book.count)} statements`)
    return results
  })
  const lists = newListInterner()
  const evidenceLayers = await stages.run('flatten', (say) => {
    const layers = {
      4: flatten(4, ground.observations[4], lists),
      6: flatten(6, ground.observations[6], lists),
    }
    say(`${count(layers[4].count)} IPv4 and ${count(layers[6].count)} IPv6 pieces of evidence`)
    return layers
  })
  const covered = coverage(evidenceLayers, lists.lists, ground.book)
  const statementsOfAs = newAsStatements({ tables, facts, sources, asOf, files: read }, ground.book)
  const assembled = await stages.run('verdicts', (say) => {
    const result = assemble({
      asOf,
      sources,
      networks: networks.networks,
      networkLayers: { 4: networks.layers[4], 6: clearTransition(networks.layers[6]) },
      locations: places.locations,
      placeLayers: { 4: places.layers[4], 6: clearTransition(places.layers[6]) },
      book: ground.book,
      lists,
      evidenceLayers,
      statementsOfAs,
    })
    const { 4: ipv4, 6: ipv6 } = result.pieces
    say(`${count(ipv4.count)} IPv4 and ${count(ipv6.count)} IPv6 boundaries`)
    return result
  })
  return { assembled, asOf, files, networks, places, sources, coverage: covered }
}

async function readAll(
  snapshots: readonly SnapshotFile[],
  tables: Tables,
  say: (text: string) => void,
): Promise<readonly ReadFile[]> {
  const files: ReadFile[] = [crawlersFile(tables)]
  for (const snapshot of snapshots) files.push(await readFile(snapshot))
  const entries = files.reduce((sum, file) => sum + file.entries.length, 0)
  say(`${count(entries)} entries from ${files.length} files`)
  return files
}

/** Entries about ASes, for the networks; entries about addresses wait for normalise. */
function asEntriesOf(files: readonly ReadFile[]): AsEntry[] {
  const facts: AsEntry[] = []
  for (const { feed, entries } of files) {
    for (const { text, label = '', name = '' } of entries) {
      const asn = parseAsn(text)
      if (asn !== undefined) facts.push({ asn, source: feed.id, label, name })
    }
  }
  return facts
}

function normaliseAll(
  files: readonly ReadFile[],
  sources: readonly Source[],
  ground: Ground,
): readonly FileResult[] {
  return files.map((read) => {
    const source = sources.findIndex((source) => source.id === read.feed.id)
    const normaliser = newNormaliser(read.feed, { day: read.day, source }, ground)
    for (const entry of read.entries) normaliser.take(entry, read.tally)
    return { read, source, ...normaliser.counts }
  })
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

function newGround(asOf: Day, networks: Networks, tables: Tables): Ground {
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

function resolversOf(tables: Tables, family: 4 | 6): readonly Range[] {
  const ranges = tables.resolvers.map(({ range }) => range)
  return toRangeSet(ranges.filter((range) => range.family === family))
}
