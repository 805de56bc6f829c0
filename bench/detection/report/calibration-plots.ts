// The report's plots: of each feed what others say of it, its weight before and after, and how long
// its entries live. Pure: data in, SVG text out.

import type { LifetimeEstimate } from '../calibration/entry-lifetime.ts'
import { circle, colours, label, line, path, rect, svg } from '../../harness/svg.ts'

const rowHeight = 16
const labelWidth = 170
const plotWidth = 520
const headHeight = 40

/** Shares of one feed's entries, 0 to 1. */
export interface ShareRow {
  readonly feed: string
  readonly confirmed: number
  readonly settled: number
  readonly contradicted: number
}

/** Two bars a feed: confirmed; contradicted, in its two parts. */
export function sharesPlot(rows: readonly ShareRow[]): string {
  const height = headHeight + rows.length * rowHeight + 10
  const keys = [
    ['confirmed by another group', colours[0]],
    ['contradicted, settled by the model', colours[4]],
    ['contradicted', colours[1]],
  ] as const
  const parts = keys.flatMap(([text, fill], at) => [
    rect({ x: labelWidth + at * 190, y: 6, width: 10, height: 10 }, fill),
    label({ x: labelWidth + at * 190 + 14, y: 15 }, text),
  ])
  parts.push(...ticks(height))
  rows.forEach(({ feed, confirmed, settled, contradicted }, at) => {
    const y = headHeight + at * rowHeight
    const bar = (from: number, share: number, lower: number, fill: string): string =>
      rect(
        { x: labelWidth + from * plotWidth, y: y + 2 + lower, width: share * plotWidth, height: 5 },
        fill,
      )
    parts.push(
      label({ x: labelWidth - 6, y: y + 12 }, feed, { anchor: 'end' }),
      bar(0, confirmed, 0, colours[0]),
      bar(0, contradicted, 6, colours[1]),
      bar(contradicted, settled, 6, colours[4]),
    )
  })
  return svg({ width: labelWidth + plotWidth + 30, height }, parts)
}

export interface WeightRow {
  readonly feed: string
  readonly before: number
  readonly after: number
}

/** A dot of the old weight, a dot of the new one over it, a line between them. */
export function weightsPlot(rows: readonly WeightRow[]): string {
  const height = headHeight + rows.length * rowHeight + 10
  const parts = [
    circle({ x: labelWidth + 5, y: 11 }, 4, colours[4]),
    label({ x: labelWidth + 14, y: 15 }, 'in the catalogue'),
    circle({ x: labelWidth + 195, y: 11 }, 4, colours[0]),
    label({ x: labelWidth + 204, y: 15 }, 'by this calibration'),
    ...ticks(height),
  ]
  rows.forEach(({ feed, before, after }, at) => {
    const y = headHeight + at * rowHeight + 8
    const x = (weight: number): number => labelWidth + weight * plotWidth
    parts.push(
      label({ x: labelWidth - 6, y: y + 4 }, feed, { anchor: 'end' }),
      line({ x: x(before), y }, { x: x(after), y }, colours[0]),
      circle({ x: x(before), y }, 4, colours[4]),
      circle({ x: x(after), y }, 4, colours[0]),
    )
  })
  return svg({ width: labelWidth + plotWidth + 30, height }, parts)
}

export interface SurvivalRow {
  readonly feed: string
  readonly lives: LifetimeEstimate
}

/** Share of entries still listed after so many days, a curve a feed. */
export function survivalPlot(rows: readonly SurvivalRow[]): string {
  const [left, top, height] = [44, 14, 260]
  const daysMax = Math.max(1, ...rows.map(({ lives }) => lives.daysMax))
  const x = (day: number): number => left + (day / daysMax) * plotWidth
  const y = (share: number): number => top + (1 - share) * height
  const parts = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    line({ x: left, y: y(share) }, { x: left + plotWidth, y: y(share) }),
    label({ x: left - 6, y: y(share) + 4 }, `${share * 100} %`, { anchor: 'end' }),
  ])
  for (let day = 0; day <= daysMax; day += 10) {
    parts.push(label({ x: x(day), y: top + height + 16 }, String(day), { anchor: 'middle' }))
  }
  parts.push(
    label({ x: left + plotWidth / 2, y: top + height + 32 }, 'days since first listed', {
      anchor: 'middle',
    }),
  )
  rows.forEach(({ feed, lives }, at) => {
    const colour = colours[at % colours.length] ?? colours[0]
    const points = lives.survival.flatMap((share, day) => [
      { x: x(day), y: y(lives.survival[day - 1] ?? 1) },
      { x: x(day), y: y(share) },
    ])
    // The seventh feed has the first one's colour again, and a dashed line.
    const dashed = at >= colours.length
    const from = { x: left + plotWidth + 10, y: top + 12 + at * rowHeight }
    const text = dashed ? `${feed} (dashed)` : feed
    parts.push(path(points, colour, dashed), label(from, text, { fill: colour }))
  })
  return svg({ width: left + plotWidth + labelWidth, height: top + height + 44 }, parts)
}

function ticks(height: number): readonly string[] {
  return [0, 0.25, 0.5, 0.75, 1].flatMap((share) => {
    const x = labelWidth + share * plotWidth
    return [
      line({ x, y: headHeight - 4 }, { x, y: height - 6 }),
      label({ x, y: headHeight - 8 }, String(share), { anchor: 'middle' }),
    ]
  })
}
