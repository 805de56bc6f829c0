// A chart with a legend of the newest or pointed minute; arrow keys move along the minutes.

import { useEffect, useRef, useState } from 'preact/hooks'
import { utcMinute } from '../text/figures.ts'
import type { Drawing } from './draw-plot.ts'
import type { Chart } from './traffic-charts.ts'

export function Plot({
  chart,
  text,
}: {
  readonly chart: Chart
  readonly text: (value: number) => string
}) {
  const place = useRef<HTMLDivElement>(null)
  const drawing = useRef<Drawing | undefined>(undefined)
  const newest = useRef(chart)
  newest.current = chart
  const [at, setAt] = useState<number | null>(null)
  useEffect(() => {
    let isOver = false
    const load = async (): Promise<void> => {
      const { drawPlot } = await import('./draw-plot.ts')
      if (isOver || place.current === null) return
      drawing.current = drawPlot(place.current, newest.current, { text, onPoint: setAt })
    }
    void load()
    return () => {
      isOver = true
      drawing.current?.end()
      drawing.current = undefined
    }
  }, [text])
  useEffect(() => drawing.current?.show(chart), [chart])
  const last = chart.at.length - 1
  const index = at === null ? last : Math.min(at, last)
  const when = utcMinute((chart.at[index] ?? 0) * 1000)
  const said = chart.series.map(
    ({ name, values }) => `${name} ${shown(values[index] ?? null, text)}`,
  )
  const walk = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -last, End: last }[event.key]
    if (step === undefined) return
    event.preventDefault()
    drawing.current?.point(Math.min(last, Math.max(0, index + step)))
  }
  return (
    <>
      <div
        ref={place}
        class="plot"
        role="slider"
        tabIndex={0}
        aria-label={`${chart.title}, by minute`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, last)}
        aria-valuenow={Math.max(0, index)}
        aria-valuetext={`${when} UTC: ${said.join(', ')}`}
        onKeyDown={walk}
      />
      <ul class="legend" aria-hidden="true">
        <li class="legend-when">{when} UTC</li>
        {chart.series.map(({ name, tone, values }) => (
          <li key={name}>
            <span class={`dot ${tone}`} />
            {name} <span class="legend-value">{shown(values[index] ?? null, text)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

const shown = (value: number | null, text: (value: number) => string): string =>
  value === null ? '–' : text(value)
