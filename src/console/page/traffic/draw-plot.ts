// The one home of uPlot: draws a chart, follows width and colour scheme, and reports the pointed
// minute. Colours come from the style sheet.

import UPlot from 'uplot'
import { stacked, type Chart } from './traffic-charts.ts'
import { utcMinute } from '../text/figures.ts'

export type Drawing = ReturnType<typeof drawPlot>

interface Told {
  readonly text: (value: number) => string
  readonly onPoint: (index: number | null) => void
}

const height = 168

export function drawPlot(place: HTMLElement, first: Chart, told: Told) {
  let chart = first
  const range = (): UPlot.Range.MinMax => [chart.from, chart.to]
  let plot = newPlot(place, chart, range, told)
  const anew = (): void => {
    plot.destroy()
    plot = newPlot(place, chart, range, told)
  }
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  scheme.addEventListener('change', anew)
  const sizes = new ResizeObserver(() => {
    if (place.clientWidth > 0) plot.setSize({ width: place.clientWidth, height })
  })
  sizes.observe(place)
  return {
    show(next: Chart): void {
      const isAlike = namesOf(next) === namesOf(chart)
      chart = next
      if (isAlike) plot.setData(dataOf(next))
      else anew()
    },
    point(index: number): void {
      const left = plot.valToPos(chart.at[index] ?? 0, 'x')
      plot.setCursor({ left, top: 0 })
    },
    end(): void {
      scheme.removeEventListener('change', anew)
      sizes.disconnect()
      plot.destroy()
    },
  }
}

const namesOf = ({ series }: Chart): string => series.map(({ name }) => name).join('\n')

/** Stacked series are reversed: each is drawn over the higher one. */
function dataOf({ at, series, unit }: Chart): UPlot.AlignedData {
  if (unit !== 'rate') return [[...at], ...series.map(({ values }) => [...values])]
  const sums = stacked(series.map(({ values }) => values.map((value) => value ?? 0)))
  return [[...at], ...sums.toReversed()]
}

function newPlot(
  place: HTMLElement,
  chart: Chart,
  range: () => UPlot.Range.MinMax,
  { text, onPoint }: Told,
): UPlot {
  const ink = colourOf(place, 'ink-quiet')
  const line = colourOf(place, 'ink-line')
  const isStacked = chart.unit === 'rate'
  const series = isStacked ? chart.series.toReversed() : chart.series
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { show: false } } as const
  const font = `11px ${getComputedStyle(document.body).fontFamily}`
  return new UPlot(
    {
      width: Math.max(place.clientWidth, 200),
      height,
      padding: [6, 20, 0, 0],
      legend: { show: false },
      cursor: { points: { show: false }, drag: { setScale: false, x: false, y: false }, y: false },
      scales: { x: { range }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] } },
      axes: [
        {
          ...axis,
          font,
          size: 26,
          values: (_, ticks) => ticks.map((tick) => utcMinute(tick * 1000)),
        },
        { ...axis, font, size: 52, values: (_, ticks) => ticks.map(text) },
      ],
      series: [
        {},
        ...series.map(({ tone }): UPlot.Series => {
          const colour = colourOf(place, tone)
          const points = { show: false }
          return isStacked
            ? { stroke: colour, fill: colour, width: 0.5, points }
            : { stroke: colour, width: 1.5, points }
        }),
      ],
      hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    },
    dataOf(chart),
    place,
  )
}

/** A style class's text colour. */
function colourOf(place: HTMLElement, name: string): string {
  const probe = document.createElement('span')
  probe.className = name
  place.append(probe)
  const { fill } = getComputedStyle(probe)
  probe.remove()
  return fill
}
