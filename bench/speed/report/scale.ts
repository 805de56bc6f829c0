// docs/scale.md out of a run: what more ranges, more requests and more nodes would need. Each
// figure is a measured slope times a size; what is assumed and not measured stands in one table of
// the text. Pure. It is no promise: no test has run a billion ranges.

import { formatCount } from '../../../src/base/text/number-format.ts'
import type { Family } from '../../../src/ip/address.ts'
import { fileBytesMax } from '../../../src/schema/table-layout.ts'
import { type Figure, growthRows, peakRate, figureText, workerMb } from './figure.ts'
import { markdownTable } from '../../harness/markdown-table.ts'
import type { BenchRun } from './kept-run.ts'

/** Not measured; change them to one's own. */
export const assumed = {
  /** A listed range ends somewhere: it cuts a piece in two, and then once more. */
  boundariesPerRange: 2,
  /** Load at which a node is meant to run. */
  busyShare: 0.6,
  networkBytesPerSecond: 125_000_000,
} as const

const rangeCounts = [100_000_000, 1_000_000_000] as const
const requestsPerSecond = 1_000_000
const nodes = 1000

/**
 * One real day of the world's table, as a publisher's parts: the mean of `npm run bench -- transfer
 * --first 2026-06-24 --days 60` (docs/distribute.md).
 */
export const day = {
  storedBytes: 43_690_000,
  movedBytes: 17_590_000,
  pullSeconds: 5.4,
  pollSeconds: 15,
} as const

export interface Slopes {
  readonly bytesPerBoundary: Figure
  readonly nsAtMost: Figure
  readonly boundariesAtMost: Figure
  /** More nanoseconds for twice as many boundaries. */
  readonly nsPerDoubling: Figure
  /** Sorting and indexing. */
  readonly sortSecondsPerMillion: Figure
}

/** From the two largest sizes that were measured. */
export function growthSlopes(run: BenchRun, family: Family): Slopes {
  const rows = growthRows(run, family, 'dependent')
  const [before, last] = [rows.at(-2), rows.at(-1)]
  if (before === undefined || last === undefined) {
    const none = undefined
    return {
      bytesPerBoundary: none,
      nsAtMost: none,
      boundariesAtMost: none,
      nsPerDoubling: none,
      sortSecondsPerMillion: none,
    }
  }
  const more = last.ranges - before.ranges
  return {
    bytesPerBoundary: (last.bytes - before.bytes) / more,
    nsAtMost: last.nsMedian,
    boundariesAtMost: last.ranges,
    nsPerDoubling: (last.nsMedian - before.nsMedian) / Math.log2(last.ranges / before.ranges),
    sortSecondsPerMillion: (last.buildMs - before.buildMs) / 1000 / (more / 1e6),
  }
}

export function scaleText(run: BenchRun): string {
  const lines = [
    '# What more would need',
    '',
    'What would a billion listed ranges, a million requests a second, or a thousand nodes need?',
    `\`npm run bench -- report\` answers from the run \`bench/runs/${run.name}\`; do not edit.`,
    `Measured on ${run.all.machine.cpu}, Node ${run.all.machine.node}, ${run.all.at.slice(0, 10)}. Each`,
    'figure is a slope of that run times a size. Beyond the sizes measured it is an extrapolation.',
    '',
    '## Assumed, not measured',
    '',
    ...markdownTable(
      ['assumption', 'value'],
      [
        ['boundaries that a listed range adds', String(assumed.boundariesPerRange)],
        ['load at which a node is meant to run', `${assumed.busyShare * 100} %`],
        ['network of a node', `${assumed.networkBytesPerSecond / 1e6} MB/s (1 Gbit/s)`],
      ],
    ),
    '',
    '## Slopes',
    '',
    ...slopeLines(run),
    '## More listed ranges',
    '',
    ...rangeLines(run),
    '## A million requests a second, a thousand nodes',
    '',
    ...requestLines(run),
    '## A table a day for a thousand nodes',
    '',
    ...tableLines(),
  ]
  return `${lines.join('\n').trimEnd()}\n`
}

function slopeLines(run: BenchRun): readonly string[] {
  const rows = ([4, 6] as const).map((family) => {
    const slopes = growthSlopes(run, family)
    return [
      `IPv${family}`,
      figureText(slopes.bytesPerBoundary),
      `${figureText(slopes.nsAtMost)} at ${slopes.boundariesAtMost === undefined ? '?' : formatCount(slopes.boundariesAtMost)}`,
      figureText(slopes.nsPerDoubling),
      figureText(slopes.sortSecondsPerMillion),
    ]
  })
  const title =
    'family|bytes a boundary|ns a lookup (dependent)|more ns a doubling|seconds to sort and index a million'
  return [...markdownTable(title.split('|'), rows), '']
}

/** Whole seconds for the parts of a build that grow with the ranges; `undefined` where unknown. */
function buildSecondsPerMillion({ world, lookup, growth }: BenchRun): Figure {
  const pieces = (growth ?? lookup)?.table.pieces
  if (world === undefined || pieces === undefined) return undefined
  return world.seconds / (pieces.reduce((sum, it) => sum + it, 0) / 1e6)
}

function peakBytesPerBoundary({ world, lookup, growth }: BenchRun): Figure {
  const pieces = (growth ?? lookup)?.table.pieces
  if (world === undefined || pieces === undefined) return undefined
  return world.peakBytes / pieces.reduce((sum, it) => sum + it, 0)
}

function times(a: Figure, b: Figure): Figure {
  return a === undefined || b === undefined ? undefined : a * b
}

function rangeLines(run: BenchRun): readonly string[] {
  const rows = rangeCounts.flatMap((ranges) =>
    ([4, 6] as const).map((family) => {
      const slopes = growthSlopes(run, family)
      const boundaries = ranges * assumed.boundariesPerRange
      const bytes = times(slopes.bytesPerBoundary, boundaries)
      const files = bytes === undefined ? undefined : Math.ceil(bytes / fileBytesMax)
      const { nsAtMost, boundariesAtMost, nsPerDoubling } = slopes
      // Each file is searched alone, so what counts is how many boundaries one file holds.
      const inFile = files === undefined ? boundaries : boundaries / files
      const lookup =
        nsAtMost === undefined || boundariesAtMost === undefined || nsPerDoubling === undefined
          ? undefined
          : nsAtMost + nsPerDoubling * Math.log2(inFile / boundariesAtMost)
      const buildSeconds = times(buildSecondsPerMillion(run), boundaries / 1e6)
      const peakBytes = times(peakBytesPerBoundary(run), boundaries)
      const gb = (value: Figure): string => figureText(times(value, 1e-9))
      return [
        `${formatCount(ranges / 1e6)} M, IPv${family}`,
        gb(bytes),
        files === undefined ? 'not measured' : String(files),
        figureText(lookup),
        figureText(times(buildSeconds, 1 / 60)),
        gb(peakBytes),
      ]
    }),
  )
  const title =
    'listed ranges|address sections, GB|files of 2 GiB|ns a lookup|build as it is, minutes|its memory, GB'
  return [
    ...markdownTable(title.split('|'), rows),
    '',
    'A file ends at 2 GiB (32-bit offsets), so a larger table is split by address: the first bits choose',
    'the file, which costs a lookup one more comparison and no more memory. Records, places and evidence',
    'come on top; they are stored once each and grow with what is said, not with the ranges. Where a',
    "build's memory is beyond one machine, the history does what it does today (sorting out of core)",
    'and each file is compiled by itself, from its own part of the address space.',
    '',
  ]
}

function requestLines(run: BenchRun): readonly string[] {
  const rate = peakRate(run, 'iprisk')
  const iprisk = run.http?.variants.find(({ name }) => name === 'iprisk')
  const cpuUs = iprisk?.cpuUsPerRequest ?? undefined
  const perCore = times(rate, assumed.busyShare / (run.http?.workers ?? 1))
  const cores = perCore === undefined ? undefined : Math.ceil(requestsPerSecond / perCore)
  const bytes = run.world?.tableBytes ?? run.http?.table.bytes
  const memory = workerMb(run)
  const rows = [
    [
      'requests a second of one core at its peak',
      figureText(times(rate, 1 / (run.http?.workers ?? 1))),
    ],
    [
      `cores for ${formatCount(requestsPerSecond)} a second at ${assumed.busyShare * 100} %`,
      figureText(cores),
    ],
    [
      `cores a node with ${formatCount(nodes)} nodes`,
      cores === undefined ? 'not measured' : String(Math.ceil(cores / nodes)),
    ],
    ['private memory of all workers, GB', figureText(times(times(memory, cores), 2 ** 20 / 1e9))],
    [
      `pages of the table on ${formatCount(nodes)} nodes, GB`,
      figureText(times(bytes, nodes / 1e9)),
    ],
    ['core seconds a million checks', figureText(cpuUs)],
  ]
  return [
    ...markdownTable(['what', 'figure'], rows),
    '',
    'Nodes share nothing but keys and quotas: any of them answers any address, so they stand behind any',
    'balancer. Measured over loopback with the load generator beside it; a network card and TLS cost',
    'more, and are not in these figures.',
    '',
  ]
}

/** What distribution (docs/distribute.md) asks of the one place that all nodes take tables from. */
function tableLines(): readonly string[] {
  const { storedBytes, movedBytes, pullSeconds, pollSeconds } = day
  const secondsOf = (bytes: number): string =>
    figureText((bytes * nodes) / assumed.networkBytesPerSecond)
  const rows = [
    ['MB of all parts of a table', figureText(storedBytes / 1e6)],
    ['MB of them that are new a day', figureText(movedBytes / 1e6)],
    [`GB that ${formatCount(nodes)} nodes fetch a day`, figureText((movedBytes * nodes) / 1e9)],
    ['seconds of one origin at full speed for that', secondsOf(movedBytes)],
    ['the same for nodes that have no table yet', secondsOf(storedBytes)],
    ['requests a second for the manifest', figureText(nodes / pollSeconds)],
    ['seconds to put a table together on a node', figureText(pullSeconds)],
  ]
  return [
    ...markdownTable(['what', 'figure'], rows),
    '',
    'The parts are those of `npm run bench -- transfer --first 2026-08-18 --days 5`, measured apart from',
    'the run above. Nodes ask at different moments (every 15 s, give or take a fifth), and an object store',
    'or a cache in front of a web server has more than one line; parts never change, so any cache may keep',
    'them. What twenty servers do while all of that breaks: `npm run prove -- fleet`.',
    '',
  ]
}
