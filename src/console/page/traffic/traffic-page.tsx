// Traffic of the last hours by minute, updated live. It contains no addresses.

import { useEffect, useMemo, useState, useRef } from 'preact/hooks'
import type { KeysView, TrafficView } from '../../../api/admin-answers.ts'
import { ask, type Refusal } from '../ask/ask.ts'
import { useMay } from '../ask/session.ts'
import { type Loaded, useLoad } from '../ask/use-load.ts'
import { BarList } from '../parts/bar-list.tsx'
import { FigureList } from '../parts/figure-list.tsx'
import { Meaning, Panel } from '../parts/panel.tsx'
import { Problem, Waiting } from '../parts/problem.tsx'
import {
  count,
  duration,
  joinMinutes,
  minutesSince,
  percent,
  rate,
  wholeMinutes,
  words,
  utcMinute,
} from '../text/figures.ts'
import { routeTo } from '../route.ts'
import { type Chart, chartsOf } from './traffic-charts.ts'
import type { Drawing } from './draw-plot.ts'

const followMs = 15_000
/** A day and the current minute. */
const minutesMax = 1441

const spans = [
  { minutes: 60, title: '1 h' },
  { minutes: 360, title: '6 h' },
  { minutes: 1440, title: '24 h' },
] as const

export function TrafficPage() {
  const loaded = useLoad<TrafficView>('/admin/traffic')
  const { minutes, top, refusal, answeredAt } = useFollowed(loaded)
  const [span, setSpan] = useState(360)
  const shown = useMemo(() => minutesSince(wholeMinutes(minutes), span), [minutes, span])
  const { value: keys } = useLoad<KeysView>(useMay('admin') ? '/admin/keys' : null)
  const charts = useMemo(() => {
    const nameOf = (id: string): string => keys?.keys.find((key) => key.id === id)?.name || id
    return chartsOf(shown, span, nameOf)
  }, [shown, span, keys])
  return (
    <>
      <div class="page-head">
        <h1>Traffic</h1>
        <fieldset class="choice">
          <legend class="hidden">How far back</legend>
          {spans.map(({ minutes: one, title }) => (
            <label key={one}>
              <input
                type="radio"
                name="span"
                checked={span === one}
                onChange={() => setSpan(one)}
              />
              {title}
            </label>
          ))}
        </fieldset>
      </div>
      <Waiting loaded={loaded} />
      {refusal && <p class="warn">No answer since {utcMinute(answeredAt)} UTC.</p>}
      <Problem refusal={refusal} />
      {loaded.value !== undefined && (
        <>
          <Figures minutes={shown} />
          <div class="grid plots">
            {charts.map((chart) => (
              <ChartPanel key={chart.meaning} chart={chart} />
            ))}
          </div>
          <div class="grid tops">
            <Top title="Networks" rows={top.networks} />
            <Top title="Countries" rows={top.countries} />
            <Top title="Providers" rows={top.providers} />
            <Top title="Blocked networks" rows={top.blocked} />
          </div>
        </>
      )}
    </>
  )
}

const noView: Pick<TrafficView, 'minutes' | 'top'> = {
  minutes: [],
  top: { networks: [], countries: [], providers: [], blocked: [], keys: [] },
}

/** The first answer's minutes and newer ones. */
function useFollowed(loaded: Loaded<TrafficView>) {
  const [state, setState] = useState({ ...noView, answeredAt: 0 })
  // Why the newest minutes are missing.
  const [refusal, setRefusal] = useState<Refusal | undefined>(undefined)
  const { value } = loaded
  useEffect(() => {
    if (value === undefined) return undefined
    setState({ ...value, answeredAt: Date.now() })
    let minutes = value.minutes
    const follow = async (): Promise<void> => {
      if (document.visibilityState !== 'visible') return
      const since = minutes.at(-1)?.at ?? ''
      const path = `/admin/traffic${since === '' ? '' : `?${new URLSearchParams({ since })}`}`
      const answer = await ask<TrafficView>('GET', path)
      setRefusal(answer.kind === 'refused' ? answer : undefined)
      if (answer.kind === 'refused') return
      minutes = joinMinutes(minutes, answer.value.minutes, minutesMax)
      setState({ minutes, top: answer.value.top, answeredAt: Date.now() })
    }
    const timer = setInterval(() => void follow(), followMs)
    return () => clearInterval(timer)
  }, [value])
  return { ...state, refusal }
}

const texts: Readonly<Record<Chart['unit'], (value: number) => string>> = {
  rate: (value) => `${rate(value)}/s`,
  seconds: duration,
}

function ChartPanel({ chart }: { readonly chart: Chart }) {
  const { title, meaning, unit } = chart
  return (
    <Panel title={title} meaning={meaning}>
      {chart.series.length === 0 ? (
        <p class="quiet">No data in this time.</p>
      ) : (
        <Plot chart={chart} text={texts[unit]} />
      )}
    </Panel>
  )
}

export function Top(props: {
  readonly title: string
  readonly rows: TrafficView['top']['networks']
}) {
  const { title, rows } = props
  const bars = rows.map(({ name, checks, error }) => ({
    name: words(name),
    value: checks,
    href: name.startsWith('AS') ? routeTo('address', name.split(' ', 1)[0]) : undefined,
    text: error === 0 ? count(checks) : `${count(checks - error)}–${count(checks)}`,
  }))
  return (
    <Panel title={title} meaning="top" aside={<span>last hour</span>}>
      <BarList label={`${title} of the last hour`} bars={bars} />
    </Panel>
  )
}

type Minute = TrafficView['minutes'][number]

function Figures({ minutes }: { readonly minutes: readonly Minute[] }) {
  const checks = sum(minutes, (minute) => minute.checks)
  const clean = sum(minutes, (minute) => minute.classes['clean'] ?? 0)
  const failed = sum(minutes, (minute) => failures(minute.statuses))
  const limited = sum(minutes, ({ limited: { rate: byRate, quota } }) => byRate + quota)
  const newest = minutes.at(-1)
  const p99 = newest?.latency ? duration(newest.latency.p99) : '–'
  const figures = [
    figure('checks', 'checks a second', rate((newest?.checks ?? 0) / 60)),
    figure('checks', 'checks', count(checks)),
    figure('classes', 'not clean', percent(checks === 0 ? 0 : 1 - clean / checks)),
    figure('latency', 'p99 latency', p99),
    figure('limits', 'limited', count(limited)),
    figure('errors', 'failed', count(failed)),
  ]
  return <FigureList figures={figures} />
}

const figure = (of: string, title: string, text: string) => {
  return { title: <Meaning of={of}>{title}</Meaning>, text }
}

const sum = (minutes: readonly Minute[], of: (minute: Minute) => number): number =>
  minutes.reduce((all, minute) => all + of(minute), 0)

const failures = (statuses: Minute['statuses']): number =>
  Object.entries(statuses).reduce((all, [code, n]) => (code.startsWith('5') ? all + n : all), 0)

function Plot({ chart, text }: { readonly chart: Chart; readonly text: (of: number) => string }) {
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
