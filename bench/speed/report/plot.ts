// The report's plots: throughput, latency, cost as the table grows, memory as workers grow. Pure:
// a run in, SVG text out, from the same few words of SVG as the calibration's plots.

import { type Point, circle, colours, label, line, path, rect, svg } from '../../harness/svg.ts'
import { formatCount } from '../../../src/base/text/number-format.ts'
import { type VariantName, variantNames } from '../servers/variant.ts'
import { growthRows, peakRate, figureText } from './figure.ts'
import type { BenchRun } from './kept-run.ts'

const [left, top, plotWidth, plotHeight] = [64, 24, 480, 260]
const labelWidth = 150

interface Axis {
  readonly at: (value: number) => number
  readonly ticks: readonly number[]
  readonly text: (value: number) => string
}

/** Powers of ten from the first at or below `low` to the first at or above `high`. */
function decades(low: number, high: number): readonly number[] {
  const first = Math.floor(Math.log10(low))
  const last = Math.max(first + 1, Math.ceil(Math.log10(high)))
  return Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at))
}

function logAxis(
  values: readonly number[],
  from: number,
  length: number,
  text: (value: number) => string,
): Axis {
  const ticks = decades(Math.min(...values), Math.max(...values))
  const [low = 1, high = 10] = [ticks[0], ticks.at(-1)]
  const at = (value: number): number =>
    from + (Math.log10(value / low) / Math.log10(high / low)) * length
  return { at, ticks, text }
}

/** From 0 to a round number at or above `high`, four steps. */
function linearAxis(high: number, from: number, length: number): Axis {
  const step = 10 ** Math.floor(Math.log10(Math.max(high, 1e-9)))
  const end = [1, 2, 4, 6, 8, 10].map((n) => n * step).find((it) => it >= high) ?? 10 * step
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => share * end)
  return {
    at: (value) => from + (value / end) * length,
    ticks,
    text: (value) => formatCount(value),
  }
}

function frame(x: Axis, y: Axis, titles: { readonly x: string; readonly y: string }): string[] {
  const right = left + plotWidth
  const bottom = top + plotHeight
  return [
    ...y.ticks.flatMap((tick) => [
      line({ x: left, y: y.at(tick) }, { x: right, y: y.at(tick) }),
      label({ x: left - 6, y: y.at(tick) + 4 }, y.text(tick), { anchor: 'end' }),
    ]),
    ...x.ticks.map((tick) =>
      label({ x: x.at(tick), y: bottom + 16 }, x.text(tick), { anchor: 'middle' }),
    ),
    label({ x: left + plotWidth / 2, y: bottom + 34 }, titles.x, { anchor: 'middle' }),
    label({ x: 4, y: 12 }, titles.y),
  ]
}

interface Series {
  readonly name: string
  readonly points: readonly Point[]
}

function curves(series: readonly Series[], x: Axis, y: Axis, dots: boolean): string[] {
  return series.flatMap(({ name, points }, at) => {
    const colour = colours[at % colours.length] ?? colours[0]
    const placed = points.map((point) => ({ x: x.at(point.x), y: y.at(point.y) }))
    return [
      path(placed, colour),
      ...(dots ? placed.map((point) => circle(point, 3, colour)) : []),
      label({ x: left + plotWidth + 10, y: top + 12 + at * 18 }, name, { fill: colour }),
    ]
  })
}

function canvas(parts: readonly string[]): string {
  return svg({ width: left + plotWidth + labelWidth, height: top + plotHeight + 44 }, parts)
}

/** Requests a second at the peak, a bar a server. */
export function throughputPlot(run: BenchRun): string | undefined {
  const bars = variantNames.flatMap((name) => {
    const rate = peakRate(run, name)
    return rate === undefined ? [] : [{ name, rate }]
  })
  if (bars.length === 0) return undefined
  const x = linearAxis(Math.max(...bars.map(({ rate }) => rate)), 90, 440)
  const height = 34 + bars.length * 26
  const parts = x.ticks.flatMap((tick) => [
    line({ x: x.at(tick), y: 24 }, { x: x.at(tick), y: height - 4 }),
    label({ x: x.at(tick), y: 16 }, x.text(tick), { anchor: 'middle' }),
  ])
  bars.forEach(({ name, rate }, at) => {
    const y = 30 + at * 26
    const fill = colours[name === 'iprisk' ? 0 : 4]
    parts.push(
      label({ x: 84, y: y + 14 }, name, { anchor: 'end' }),
      rect({ x: 90, y, width: x.at(rate) - 90, height: 18 }, fill),
      label({ x: x.at(rate) + 6, y: y + 14 }, formatCount(Math.round(rate))),
    )
  })
  return svg({ width: 620, height }, parts)
}

/** Latency by percentile at the offered rate, all rounds of a server together. */
export function latencyPlot(run: BenchRun): string | undefined {
  const series = variantNames.flatMap((name: VariantName) => {
    const own = (run.http?.steady.rounds ?? []).filter(({ variant }) => variant === name)
    return own.length === 0 ? [] : [{ name, points: percentiles(own.map(({ load }) => load)) }]
  })
  if (series.length === 0) return undefined
  const points = series.flatMap(({ points }) => points)
  // The axis is how many requests one that slow stands among: 100 is the 99th percentile.
  const names = new Map([
    [1, '0 %'],
    [10, '90 %'],
    [100, '99 %'],
    [1000, '99.9 %'],
    [10_000, '99.99 %'],
    [100_000, '99.999 %'],
  ])
  const x = logAxis(
    [1, ...points.map((point) => point.x)],
    left,
    plotWidth,
    (value) => names.get(Math.round(value)) ?? '',
  )
  const y = logAxis(
    points.map((point) => point.y),
    top + plotHeight,
    -plotHeight,
    formatCount,
  )
  const titles = {
    x: 'share of requests at most so slow',
    y: 'microseconds since a request was due',
  }
  return canvas([...frame(x, y, titles), ...curves(series, x, y, false)])
}

interface Histogram {
  readonly histogram: readonly (readonly [number, number])[]
}

/** (1 / (1 - share), microseconds) at each bucket, up to where ten requests are left. */
export function percentiles(loads: readonly Histogram[]): readonly Point[] {
  const counts = new Map<number, number>()
  for (const { histogram } of loads) {
    for (const [edge, count] of histogram) counts.set(edge, (counts.get(edge) ?? 0) + count)
  }
  const buckets = [...counts].sort(([a], [b]) => a - b)
  const all = buckets.reduce((sum, [, count]) => sum + count, 0)
  let before = 0
  return buckets.flatMap(([edge, count]) => {
    const point = { x: all / (all - before), y: Math.max(edge, 0.001) }
    before += count
    return all - before + count >= 10 ? [point] : []
  })
}

/** Nanoseconds a lookup by ranges in the table. */
export function growthPlot(run: BenchRun): string | undefined {
  const series = ([4, 6] as const).flatMap((family) =>
    (['uniform', 'dependent'] as const).map((load) => ({
      name: `IPv${family} ${load}`,
      points: growthRows(run, family, load).map((row) => ({ x: row.ranges, y: row.nsMedian })),
    })),
  )
  const points = series.flatMap(({ points }) => points)
  if (points.length === 0) return undefined
  const x = logAxis(
    points.map((point) => point.x),
    left,
    plotWidth,
    formatCount,
  )
  const y = linearAxis(Math.max(...points.map((point) => point.y)), top + plotHeight, -plotHeight)
  const titles = { x: 'ranges in the table', y: 'nanoseconds a lookup' }
  return canvas([...frame(x, y, titles), ...curves(series, x, y, true)])
}

/** Memory of all processes by workers: what is private, and each one's share of the table. */
export function memoryPlot(run: BenchRun): string | undefined {
  const rows = run.memory?.rows ?? []
  if (rows.length === 0) return undefined
  const mb = (bytes: number): number => bytes / 2 ** 20
  const bars = rows.map(({ workers, processes }) => {
    const sum = (of: (it: (typeof processes)[number]) => number): number =>
      mb(processes.reduce((all, it) => all + of(it), 0))
    const [table, total] = [sum((it) => it.tablePss), sum((it) => it.pss)]
    return { workers, parts: [table, sum((it) => it.privateDirty)], total }
  })
  const y = linearAxis(Math.max(...bars.map(({ total }) => total)), top + plotHeight, -plotHeight)
  const x: Axis = { at: (value) => left + value, ticks: [], text: String }
  const parts = frame(x, y, { x: 'workers', y: 'MB, all processes' })
  const width = plotWidth / bars.length
  bars.forEach(({ workers, parts: [table = 0, own = 0], total }, at) => {
    const from = left + at * width + width / 4
    const steps = [table, own, Math.max(0, total - table - own)]
    let base = 0
    steps.forEach((value, part) => {
      const upper = y.at(base + value)
      const fill = colours[[0, 1, 4][part] ?? 0] ?? colours[0]
      parts.push(rect({ x: from, y: upper, width: width / 2, height: y.at(base) - upper }, fill))
      base += value
    })
    const middle = from + width / 4
    parts.push(
      label({ x: middle, y: y.at(base) - 4 }, figureText(base), { anchor: 'middle' }),
      label({ x: middle, y: top + plotHeight + 16 }, String(workers), { anchor: 'middle' }),
    )
  })
  const keys = ['table (Pss)', 'private', 'other shared (Pss)']
  keys.forEach((text, at) =>
    parts.push(
      label({ x: left + plotWidth + 10, y: top + 12 + at * 18 }, text, {
        fill: colours[[0, 1, 4][at] ?? 0] ?? colours[0],
      }),
    ),
  )
  return canvas(parts)
}
