// `npm run bench -- growth`: what a lookup costs as the table grows, from 10,000 ranges to 50
// million. The search itself (src/table/lookup/search.ts) over sections of the same layout, in
// memory: those of the real table, thinned out, or with more boundaries at random places of
// announced space, so that they stay where the Internet has its addresses. Checksum: every lookup
// must find the last start at or below its address, which a search by lower bound over all starts
// finds too, on a sample.
//
// Addresses are drawn evenly from announced space. That space is mostly the real table's few widest
// pieces, which caches hold, while each drawn boundary makes a piece as likely asked for as any
// other. So the real table against the largest compares two makes as well as two sizes. What size
// alone costs is shown by a table of 3.6 M that is thinned out of the largest: of its make. Both
// comparisons are rows of the report.
//
//   --table FILE  --milliseconds 400  --rounds 5  --smoke  --json  --save
//
// All sizes of a family are in memory together: 2 GB at the most.

import { ipv4StartSections, ipv6KeySections } from '../../build/write/address-sections.ts'
import { formatCount } from '../../src/base/text/number-format.ts'
import type { Family } from '../../src/ip/address.ts'
import { bucketKeys } from '../../src/schema/table-layout.ts'
import type { SectionViews } from '../../src/schema/table-sections.ts'
import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import { ipv4StartList, ipv6KeyList } from '../../test/table/piece-lists.ts'
import { ipv6Bucket, ipv6Key, searchIpv4, searchIpv6 } from '../../src/table/lookup/search.ts'
import { type AnnouncedSpace, announcedSpace, lastAtMost } from './lookups/announced.ts'
import { type PreparedScenario, chunkAddresses, prepareInProcess } from './lookups/measure.ts'
import { interleave } from '../harness/interleave.ts'
import { tablePath, readFlags } from '../harness/option.ts'
import type { Step } from './lookups/loop.ts'
import { runProgram, logProgress, showReport } from '../harness/program.ts'
import { newRandom } from '../harness/random.ts'
import { type RunHead, runHead } from '../harness/run.ts'
import { type Addresses, defaultSeed, drawAddresses, scenarioNamed } from './lookups/scenario.ts'
import { median } from '../harness/statistics.ts'
import { partText } from './report/markdown.ts'

export interface GrowthRow {
  readonly family: Family
  readonly ranges: number
  /** Whether these are the real table's own boundaries. */
  readonly real: boolean
  /** Whether these are thinned out of the largest table's boundaries. */
  readonly thinned?: boolean
  readonly distribution: 'uniform' | 'dependent'
  readonly nsMedian: number
  readonly rounds: readonly number[]
  /** Of starts or keys, records and index. */
  readonly bytes: number
  /** Filling the sections from sorted boundaries, and sorting them. */
  readonly buildMs: number
}

export interface GrowthReport extends RunHead {
  readonly kind: 'growth'
  readonly table: {
    readonly id: string
    readonly bytes: number
    readonly pieces: readonly number[]
  }
  readonly rows: readonly GrowthRow[]
}

const sizes = [10_000, 100_000, 1_000_000, 'real', 10_000_000, 25_000_000, 50_000_000] as const
const smokeSizes = [1000, 'real', 20_000] as const
/** Of the table that is thinned out of the largest. */
const thinnedSize = { full: 3_600_000, smoke: 2000 } as const

type Starts = Uint32Array | Float64Array

interface Grown {
  readonly views: SectionViews
  readonly starts: Starts
  readonly bytes: number
}

/** Sorted boundaries, about `size` of them: the table's own, thinned out or with drawn ones. */
function drawStarts(views: SectionViews, space: AnnouncedSpace, size: number): Starts {
  const { family } = space
  const own = family === 4 ? ipv4StartList(views) : ipv6KeyList(views)
  if (size <= own.length) return thin(own, size)
  const starts = family === 4 ? new Uint32Array(size) : new Float64Array(size)
  starts.set(own)
  const random = newRandom(defaultSeed)
  const words = new Uint32Array(4)
  for (let at = own.length; at < size; at++) {
    space.draw(random, words)
    starts[at] = family === 4 ? words[0]! : keyOf(words)
  }
  starts.sort()
  return starts.subarray(0, dropEqual(starts))
}

/** So many of the boundaries, at equal distances in their order; the first stays. */
function thin(starts: Starts, size: number): Starts {
  const kept = starts.slice(0, size)
  for (let at = 0; at < size; at++) kept[at] = starts[Math.floor((at * starts.length) / size)]!
  return kept
}

/** The address sections with these boundaries; record i is i. */
function grow(views: SectionViews, starts: Starts): Grown {
  const ranges = starts.length
  const records = new Uint32Array(ranges)
  for (let at = 0; at < ranges; at++) records[at] = at
  const grown =
    starts instanceof Uint32Array
      ? { ...ipv4StartSections(starts), ipv4_records: records }
      : { ...ipv6KeySections(starts), ipv6_records: records }
  const bytes = Object.values(grown).reduce((sum, { byteLength }) => sum + byteLength, 0)
  return { views: { ...views, ...grown }, starts, bytes }
}

function keyOf(words: Uint32Array): number {
  return ipv6Bucket(words) * bucketKeys + ipv6Key(words)
}

/** Moves distinct values to the front; gives their number. */
function dropEqual(sorted: Starts): number {
  let length = 1
  for (let at = 1; at < sorted.length; at++) {
    if (sorted[at] !== sorted[length - 1]) sorted[length++] = sorted[at]!
  }
  return length
}

function stepOf(views: SectionViews, { family, words }: Addresses): Step {
  if (family === 4) return (at) => searchIpv4(views, words[at * 4]!)
  const address = new Uint32Array(4)
  return (at) => {
    for (let word = 0; word < 4; word++) address[word] = words[at * 4 + word]!
    return searchIpv6(views, address)
  }
}

/** Throws where a lookup does not find what a plain search over all starts finds. */
function checkSample(grown: Grown, addresses: Addresses, step: Step): void {
  const starts = Float64Array.from(grown.starts)
  for (let at = 0; at < Math.min(2000, addresses.count); at++) {
    const words = addresses.words.subarray(at * 4, at * 4 + 4)
    const expected = lastAtMost(starts, addresses.family === 4 ? words[0]! : keyOf(words))
    if (step(at) !== expected) {
      throw new Error(`${addresses.texts[at]} is in piece ${expected}, found ${step(at)}.`)
    }
  }
}

async function measureFamily(options: {
  readonly table: OpenTable
  readonly family: Family
  readonly smoke: boolean
  readonly rounds: number
  readonly milliseconds: number
}): Promise<readonly GrowthRow[]> {
  const { table, family, smoke, rounds, milliseconds } = options
  const { views } = table.reader
  const real = (family === 4 ? views.ipv4_starts : views.ipv6_keys).length
  const space = announcedSpace(views, family)
  const scenarios = [
    scenarioNamed(`ipv${family}-uniform`)!,
    scenarioNamed(`ipv${family}-dependent`)!,
  ]
  const draw = { space, count: (smoke ? 8 : 512) * chunkAddresses, seed: defaultSeed + 1 }
  const addresses = drawAddresses(scenarios[0]!, draw)
  const measured: { row: Omit<GrowthRow, 'nsMedian' | 'rounds'>; prepared: PreparedScenario }[] = []
  const add = async (name: string, of: Partial<GrowthRow>, make: () => Starts): Promise<Starts> => {
    const begun = performance.now()
    const starts = make()
    const grown = grow(views, starts)
    const buildMs = performance.now() - begun
    const step = stepOf(grown.views, addresses)
    checkSample(grown, addresses, step)
    for (const scenario of scenarios) {
      const prepared = await prepareInProcess(`growth-${name}`, scenario, { addresses, step })
      const distribution = scenario.distribution === 'dependent' ? 'dependent' : 'uniform'
      const facts = { family, ranges: starts.length, bytes: grown.bytes, buildMs } as const
      measured.push({ row: { ...facts, real: false, ...of, distribution }, prepared })
    }
    logProgress(`IPv${family}, ${formatCount(starts.length)} ranges`)
    return starts
  }
  let largest: Starts | undefined
  for (const size of smoke ? smokeSizes : sizes) {
    largest = await add(String(size), { real: size === 'real' }, () =>
      drawStarts(views, space, size === 'real' ? real : size),
    )
  }
  const thinned = largest
  if (thinned !== undefined) {
    const size = Math.min(thinned.length, smoke ? thinnedSize.smoke : thinnedSize.full)
    await add('thinned', { thinned: true }, () => thin(thinned, size))
  }
  const timed = measured.map((one) => ({ ...one, rounds: [] as number[] }))
  await interleave(timed, rounds, async ({ prepared, rounds: own }) => {
    own.push((await prepared.time(milliseconds)).nsMedian)
  })
  return timed.map(({ row, rounds: own }) => ({ ...row, nsMedian: median(own), rounds: own }))
}

async function main(): Promise<number> {
  const { smoke, json, save, ...flags } = readFlags({
    numbers: {
      milliseconds: { max: 3_600_000, otherwise: 150, smoke: 1 },
      rounds: { max: 1000, otherwise: 5, smoke: 1 },
    },
    texts: ['table'],
    switches: ['smoke', 'json', 'save'],
  })
  const { milliseconds, rounds } = flags
  const table = openTable(tablePath(flags.table))
  try {
    const { views } = table.reader
    const rows: GrowthRow[] = []
    for (const family of [4, 6] as const) {
      rows.push(...(await measureFamily({ table, family, smoke, rounds, milliseconds })))
    }
    const report = {
      ...runHead(process.argv.slice(2)),
      kind: 'growth',
      table: {
        id: table.id,
        bytes: table.bytes,
        pieces: [views.ipv4_starts.length, views.ipv6_keys.length],
      },
      rows,
    } satisfies GrowthReport
    showReport('growth', report, { json, save, text: partText('growth', report) })
    return 0
  } finally {
    table.close()
  }
}

await runProgram(main)
