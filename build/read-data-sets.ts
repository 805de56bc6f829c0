// What does not come from feeds of addresses: who announces the space (networks), and where it is
// (places). From the operator's own files, from an edition that acceptance of data sets chose, or
// from the packages.

import { formatCount, formatCounted } from '../src/base/text/number-format.ts'
import type { Day } from '../src/base/day.ts'
import type { Source } from '../src/table/file/table-source.ts'
import type { BuildStages } from './build-stages.ts'
import { type DataSetKind, isDataSet } from './catalogue/feed.ts'
import {
  type EditionInUse,
  networkSources,
  placeSourceId,
  placeSources,
} from './evidence/source-list.ts'
import type { ObtainedFile } from './fetch/obtain-snapshots.ts'
import { type ChosenEdition, chooseEdition } from './acceptance/edition-acceptance.ts'
import type { AsFacts } from './networks/as-facts.ts'
import type { NetworkTables } from './networks/network-tables.ts'
import { type Networks, readNetworks } from './networks/read-networks.ts'
import type { Paired } from './places/kept-places.ts'
import { type PendingPlaces, type PlaceReader, startPlaceReader } from './places/place-reader.ts'
import { type Places, defaultPlaceFiles } from './places/read-places.ts'

export interface DataSetInput {
  /** The store of the history; `undefined` builds from the snapshots alone. */
  readonly history: string | undefined
  /** The operator's own files; by default those of the data sets. */
  readonly networkFiles: readonly string[] | undefined
  readonly placeFiles: readonly string[] | undefined
  /** Where what was read of data sets is kept for the next build; absent: nowhere. */
  readonly cache?: string
  /** Files of the data sets as they were fetched; without any the packages' own are used. */
  readonly dataSets?: readonly ObtainedFile[]
  /** Editions of data sets that change too much are used, too. */
  readonly force?: boolean
}

/** Which files are read; places are being read from here on. */
export interface DataSetChoice {
  /** Each is to be committed behind acceptance of feeds, when the table is live. */
  readonly editions: readonly ChosenEdition[]
  readonly places: PlaceReader
  /** The files of places. */
  readonly placeFiles: readonly string[]
}

/** A build's input with what was chosen of it. */
export type ChosenData = DataSetInput & { readonly choice: DataSetChoice }

/** Before the feeds are read, for places can be read beside them. */
export async function chooseDataSets(
  input: DataSetInput,
  stages: BuildStages,
): Promise<DataSetChoice> {
  const editions = await chooseEditions(input, stages)
  const edition = inUse(editions, 'places')
  const files = input.placeFiles ?? edition?.files ?? defaultPlaceFiles() ?? []
  return { editions, places: startPlaceReader(files, input.cache), placeFiles: files }
}

/** Throws what reading networks throws. */
export function readNetworkData(
  input: ChosenData & {
    readonly facts: AsFacts
    readonly tables: NetworkTables
  },
  stages: BuildStages,
): Promise<Networks> {
  const { choice, facts, tables } = input
  const files = input.networkFiles ?? inUse(choice.editions, 'networks')?.files
  return stages.run('networks', async (say) => {
    const networks = await readNetworks({ files, cache: input.cache, facts, tables })
    const { count, samples } = networks.stats.problems
    const leftOut =
      count === 0 ? '' : `; ${formatCounted(count, 'row', 'rows')} left out, ${samples[0]}`
    say(`${formatCount(networks.networks.length)} networks${leftOut}`)
    return networks
  })
}

/** Waits for them. Throws what reading places throws. */
export function readPlaceData(places: PendingPlaces, stages: BuildStages): Promise<Paired<Places>> {
  return stages.run('places', async (say) => {
    const read = await places.read()
    const leftOut = read.files.flatMap((file) => file.leftOut ?? [])
    say([`${formatCount(read.locations.length)} places`, ...leftOut].join('; '))
    return read
  })
}

/** The ids of what `dataSources` gives, in its order, before places are read. */
export function dataSourceIds(
  chosen: ChosenData,
  of: { readonly networks: Networks; readonly asOf: Day },
): readonly string[] {
  const { editions, placeFiles } = chosen.choice
  const edition = inUse(editions, 'places')
  return [
    ...sourcesOfNetworks(chosen, of).map(({ id }) => id),
    ...placeFiles.map((path) => placeSourceId(path, edition)),
  ]
}

export function dataSources(
  chosen: ChosenData,
  of: { readonly networks: Networks; readonly places: Pick<Places, 'files'>; readonly asOf: Day },
): readonly Source[] {
  const edition = inUse(chosen.choice.editions, 'places')
  return [...sourcesOfNetworks(chosen, of), ...placeSources(of.places, of.asOf, edition)]
}

function sourcesOfNetworks(
  { networkFiles, choice }: ChosenData,
  { networks, asOf }: { readonly networks: Networks; readonly asOf: Day },
): readonly Source[] {
  return networkSources(networkFiles, networks, asOf, inUse(choice.editions, 'networks'))
}

/** Of each data set whose files were asked for, the edition that may be used. */
async function chooseEditions(
  { dataSets = [], history, force = false }: DataSetInput,
  stages: BuildStages,
): Promise<readonly ChosenEdition[]> {
  const feeds = [...new Set(dataSets.map(({ feed }) => feed))].filter(isDataSet)
  if (feeds.length === 0) return []
  return stages.run('editions', async (say) => {
    const chosen: ChosenEdition[] = []
    for (const feed of feeds) {
      const obtained = dataSets.filter((file) => file.feed.id === feed.id)
      const edition = await chooseEdition({ feed, obtained, store: history, force })
      if (edition !== undefined) chosen.push(edition)
    }
    say(chosen.map(({ feed, from }) => `${feed.kind} ${from}`).join(', '))
    return chosen
  })
}

function inUse(editions: readonly ChosenEdition[], kind: DataSetKind): EditionInUse | undefined {
  const chosen = editions.find(({ feed }) => feed.kind === kind)
  if (chosen === undefined) return undefined
  const { edition, feed, from, quarantine } = chosen
  const whose = from === 'embedded' ? {} : { feed }
  return { ...edition, quarantined: quarantine !== undefined, ...whose }
}
