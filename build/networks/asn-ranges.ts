// AS range files (CSV or MMDB, by file name) to one layer of ASNs per family and the organizations'
// names. Among overlapping CSV ranges the more specific wins; among MMDB files, and between them
// and CSV, the file named first.

import { environmentError, inputError, IpriskError } from '../../src/base/coded-error.ts'
import { compilerRequire } from '../../src/base/package-root.ts'
import type { Family } from '../../src/ip/address.ts'
import { type Reading, keptReading } from '../layer/reading-cache.ts'
import type { Layer } from '../layer/layer.ts'
import { openMmdb } from '../mmdb/mmdb-file.ts'
import { networkOf } from '../mmdb/mmdb-layouts.ts'
import { type MmdbWalk, walkMmdb } from '../mmdb/walk-tree.ts'
import { newRangeCollector, type RangeCollector } from './collect-ranges.ts'
import { rangeRowsName } from '../parse/range-rows.ts'
import { rangeLayouts, readRangeCsv } from './asn-csv.ts'
import { flattenMostSpecific } from '../layer/most-specific.ts'
import { overlayTwoLayers } from '../layer/overlay.ts'

export type AsRanges = Awaited<ReturnType<typeof readAsRanges>>

/** The installed package's files. */
export function defaultRangeFiles(): readonly string[] {
  const require = compilerRequire()
  try {
    return ['asn-ipv4.csv', 'asn-ipv6.csv'].map((name) =>
      require.resolve(`@ip-location-db/asn/${name}`),
    )
  } catch (cause) {
    const message =
      'The package @ip-location-db/asn is not installed and no ASN file is named. ' +
      'Install iprisk-compiler (in a clone: `npm ci` without --omit=dev), or name a file.'
    throw environmentError('ranges_missing', message, { cause })
  }
}

const reading = {
  kind: 'networks',
  code: ['../networks', '../mmdb', '../layer', '../parse', '../../src/base', '../../src/ip'],
  tables: [],
} as const satisfies Partial<Reading>

/** `readAsRanges` through `cache`; throws its errors. */
export async function readAsRangesCached(
  files: readonly string[],
  cache?: string,
): Promise<AsRanges> {
  if (cache === undefined) return readAsRanges(files)
  const kept = await keptReading({ ...reading, files }, cache, async () =>
    // The cache must not contain paths.
    renameFiles(
      await readAsRanges(files),
      files.map((_, index) => `file ${index}`),
    ),
  )
  return renameFiles(kept, files)
}

function renameFiles(ranges: AsRanges, files: readonly string[]): AsRanges {
  const { rowCount, problems, files: before } = ranges.stats
  const samples = problems.samples.map((sample) => {
    const at = before.findIndex((name) => sample.startsWith(`${name}:`))
    return at < 0 ? sample : `${files[at]}${sample.slice(before[at]!.length)}`
  })
  return { ...ranges, stats: { rowCount, files, problems: { ...problems, samples } } }
}

/**
 * Throws `ranges_unreadable`, `ranges_empty` if no file has a range, `ranges_format` for another
 * file ending, and the errors of openMmdb and walkMmdb.
 */
export async function readAsRanges(files: readonly string[]) {
  const collector = newRangeCollector()
  const walked: MmdbWalk['layers'][] = []
  let csvAt = -1
  for (const file of files) {
    if (rangeRowsName.test(file)) {
      if (csvAt < 0) csvAt = walked.length
      await readRangeCsv(file, collector)
    } else if (/\.mmdb$/i.test(file)) {
      walked.push(walkNetworks(file, collector))
    } else {
      throw new IpriskError({
        code: 'ranges_format',
        message: `${file}: an ASN file must end in .csv or .tsv, perhaps with .gz, or in .mmdb.`,
        fault: 'usage',
      })
    }
  }
  const rowCount = collector.ranges(4).count + collector.ranges(6).count
  const layerOf = (family: Family): Layer => {
    const layers: (Layer | undefined)[] = walked.map((layers) => layers[family])
    layers.splice(Math.max(csvAt, 0), 0, flattenMostSpecific(collector.ranges(family)))
    return layers
      .filter((layer) => layer !== undefined)
      .reduce((base, top) =>
        overlayTwoLayers({ base, top, combine: (first, later) => (first === 0 ? later : first) }),
      )
  }
  const layers = { 4: layerOf(4), 6: layerOf(6) }
  const problems = collector.problems()
  if (layers[4].count + layers[6].count <= 2) {
    const why = problems.count === 0 ? '' : ` ${problems.count} bad rows: ${problems.samples[0]}.`
    const named = files.join(', ')
    throw inputError(
      'ranges_empty',
      `${named}: no AS range in it.${why} Known layouts: ${rangeLayouts}.`,
    )
  }
  return {
    /** Values are ASNs, or 0. */
    layers,
    organizations: collector.organizations(),
    /** `rowCount`: readable rows of the CSV files. */
    stats: { files, rowCount, problems },
  }
}

/** Names go into `collector`. */
function walkNetworks(path: string, collector: RangeCollector): MmdbWalk['layers'] {
  const idOf = (record: unknown): number => {
    const network = networkOf(record)
    if (network === undefined) return 0
    collector.name(network.asn, network.organization)
    return network.asn
  }
  return walkMmdb({ file: openMmdb(path), idOf }).layers
}
