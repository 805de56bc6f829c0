// The report's plots: throughput, latency, cost as the table grows, memory as workers grow. Pure:
// a run in, SVG text out, readable on light and dark pages alike. Curves or stacked bars in one
// frame; not a plotting library.

import { formatCount } from '../../../src/base/text/number-format.ts'
import { type VariantName, variantNames } from '../servers/variant.ts'
import { growthRows, peakRate, figureText } from './figure.ts'
import type { BenchRun } from './kept-run.ts'

export interface Point {
  readonly x: number
  readonly y: number
}

/** Mid tones, apart for the colour-blind (Okabe and Ito, 2008), on either ground. */
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'] as const
const ink = '#808080'

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
    const colour = colourAt(at)
    const placed = points.map((point) => ({ x: x.at(point.x), y: y.at(point.y) }))
    return [
      path(placed, colour),
      ...(dots ? placed.map((point) => circle(point, 3, colour)) : []),
      keyLabel(name, at),
    ]
  })
}

function keyLabel(text: string, at: number): string {
  return label({ x: left + plotWidth + 10, y: top + 12 + at * 18 }, text, { fill: colourAt(at) })
}

function colourAt(index: number): string {
  return colours[index % colours.length] ?? ink
}

function canvas(parts: readonly string[]): string {
  const [width, height] = [left + plotWidth + labelWidth, top + plotHeight + 44]
  const head =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ` +
    `width="${width}" height="${height}" font-family="sans-serif" font-size="11" fill="${ink}">`
  return `${[head, ...parts, '</svg>'].join('\n')}\n`
}

interface Bar {
  readonly name: string
  /** From below to above. */
  readonly parts: readonly number[]
}

/** Stacked bars, each with its sum above it; `keys` name the parts. */
function barPlot(
  bars: readonly Bar[],
  titles: { readonly x: string; readonly y: string },
  keys: readonly string[] = [],
): string {
  const sumOf = ({ parts }: Bar): number => parts.reduce((sum, part) => sum + part, 0)
  const y = linearAxis(Math.max(...bars.map(sumOf)), top + plotHeight, -plotHeight)
  const width = plotWidth / bars.length
  const drawn = bars.flatMap((bar, at) => {
    const x = left + (at + 0.25) * width
    let base = 0
    const rects = bar.parts.map((part, index) => {
      const from = y.at(base)
      base += part
      return rect(
        { x, y: y.at(base), width: width / 2, height: from - y.at(base) },
        colourAt(index),
      )
    })
    const middle = x + width / 4
    return [
      ...rects,
      label({ x: middle, y: y.at(base) - 4 }, figureText(base), { anchor: 'middle' }),
      label({ x: middle, y: top + plotHeight + 16 }, bar.name, { anchor: 'middle' }),
    ]
  })
  const x: Axis = { at: (value) => left + value, ticks: [], text: String }
  return canvas([...frame(x, y, titles), ...drawn, ...keys.map(keyLabel)])
}

/** Requests a second at the peak, a bar a server. */
export function throughputPlot(run: BenchRun): string | undefined {
  const bars = variantNames.flatMap((name) => {
    const rate = peakRate(run, name)
    return rate === undefined ? [] : [{ name, parts: [rate] }]
  })
  return bars.length === 0 ? undefined : barPlot(bars, { x: 'server', y: 'requests a second' })
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
  const bars = rows.map(({ workers, processes }) => {
    const sum = (of: (it: (typeof processes)[number]) => number): number =>
      processes.reduce((all, it) => all + of(it), 0) / 2 ** 20
    const [table, own] = [sum((it) => it.tablePss), sum((it) => it.privateDirty)]
    const others = Math.max(0, sum((it) => it.pss) - table - own)
    return { name: String(workers), parts: [table, own, others] }
  })
  const keys = ['table (Pss)', 'private', 'other shared (Pss)']
  return barPlot(bars, { x: 'workers', y: 'MB, all processes' }, keys)
}

const plots = {
  throughput: throughputPlot,
  latency: latencyPlot,
  growth: growthPlot,
  memory: memoryPlot,
}

export type PlotName = keyof typeof plots

/** The plots of what the run has measured. */
export function plotsOf(run: BenchRun): ReadonlyMap<PlotName, string> {
  const drawn = new Map<PlotName, string>()
  for (const [name, draw] of Object.entries(plots)) {
    const text = draw(run)
    if (text !== undefined) drawn.set(name as PlotName, text)
  }
  return drawn
}

function rect(
  at: Point & { readonly width: number; readonly height: number },
  fill: string,
): string {
  const { x, y, width, height } = at
  return `<rect x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" fill="${fill}"/>`
}

function line(from: Point, to: Point, stroke: string = ink): string {
  return `<line x1="${n(from.x)}" y1="${n(from.y)}" x2="${n(to.x)}" y2="${n(to.y)}" stroke="${stroke}" stroke-width="0.7"/>`
}

function path(points: readonly Point[], stroke: string): string {
  const steps = points.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${n(x)} ${n(y)}`)
  return `<path d="${steps.join('')}" fill="none" stroke="${stroke}" stroke-width="1.6"/>`
}

function circle(at: Point, radius: number, fill: string): string {
  return `<circle cx="${n(at.x)}" cy="${n(at.y)}" r="${n(radius)}" fill="${fill}"/>`
}

function label(
  at: Point,
  text: string,
  style: { readonly anchor?: 'start' | 'middle' | 'end'; readonly fill?: string } = {},
): string {
  const { anchor = 'start', fill = ink } = style
  return `<text x="${n(at.x)}" y="${n(at.y)}" text-anchor="${anchor}" fill="${fill}">${escape(text)}</text>`
}

/** At most two decimals, so that the same data give the same bytes. */
function n(value: number): string {
  return String(Math.round(value * 100) / 100)
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
