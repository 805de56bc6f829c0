// Data sets: who announces the space (networks), and where it is (places). From the operator's
// files, an edition that acceptance chose, or the packages.

import { formatCount, formatCounted } from '../src/base/text/number-format.ts'
import type { BuildStages } from './build-stages.ts'
import { isDataSet } from './catalogue/feed.ts'
import type { ObtainedFile } from './fetch/obtain-snapshots.ts'
import { type ChosenEdition, chooseEdition } from './acceptance/edition-acceptance.ts'
import type { AsFacts } from './networks/as-facts.ts'
import type { NetworkTables } from './networks/network-tables.ts'
import { type Networks, readNetworks } from './networks/read-networks.ts'
import type { Paired } from './places/kept-places.ts'
import { type PendingPlaces, startPlaceReader } from './places/place-reader.ts'
import { type Places, defaultPlaceFiles } from './places/read-places.ts'

export interface DataSetInput {
  /** The history's store; `undefined` builds from the snapshots alone. */
  readonly history: string | undefined
  /** The operator's own files; by default those of the data sets. */
  readonly networkFiles: readonly string[] | undefined
  readonly placeFiles: readonly string[] | undefined
  /** Keeps parsed data sets for the next build. */
  readonly cache?: string
  /** Fetched files of the data sets; without any the packages' are used. */
  readonly dataSets?: readonly ObtainedFile[]
  /** Accept editions that change too much. */
  readonly force?: boolean
}

/** Runs before the feeds are read, so that places are read in parallel. */
export async function chooseDataSets(input: DataSetInput, stages: BuildStages) {
  const editions = await chooseEditions(input, stages)
  const ofPlaces = editions.find(({ feed }) => feed.kind === 'places')
  const placeFiles = input.placeFiles ?? ofPlaces?.edition.files ?? defaultPlaceFiles() ?? []
  return {
    /** To be committed after acceptance of feeds, when the table is live. */
    editions,
    ofNetworks: editions.find(({ feed }) => feed.kind === 'networks'),
    ofPlaces,
    placeFiles,
    /** Already being read. */
    places: startPlaceReader(placeFiles, input.cache),
  }
}

export function readNetworkData(
  { networkFiles, cache }: DataSetInput,
  of: {
    readonly edition: ChosenEdition | undefined
    readonly facts: AsFacts
    readonly tables: NetworkTables
  },
  stages: BuildStages,
): Promise<Networks> {
  const { edition, facts, tables } = of
  const files = networkFiles ?? edition?.edition.files
  return stages.run('networks', async (say) => {
    const networks = await readNetworks({ files, cache, facts, tables })
    const { count, samples } = networks.stats.problems
    const leftOut =
      count === 0 ? '' : `; ${formatCounted(count, 'row', 'rows')} left out, ${samples[0]}`
    say(`${formatCount(networks.networks.length)} networks${leftOut}`)
    return networks
  })
}

export function readPlaceData(places: PendingPlaces, stages: BuildStages): Promise<Paired<Places>> {
  return stages.run('places', async (say) => {
    const read = await places.read()
    const leftOut = read.files.flatMap((file) => file.leftOut ?? [])
    say([`${formatCount(read.locations.length)} places`, ...leftOut].join('; '))
    return read
  })
}

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
