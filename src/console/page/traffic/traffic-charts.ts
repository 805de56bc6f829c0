// Minutes of traffic as charts.

import type { TrafficView } from '../../../api/admin-answers.ts'
import { words } from '../text/figures.ts'
import { actionTone, kindTone } from '../text/tone.ts'
import { largestSums } from '../../../base/counts.ts'
import { kinds } from '../../../model/kind.ts'

interface ChartSeries {
  readonly name: string
  readonly tone: string
  readonly values: readonly (number | null)[]
}

export type Chart = ReturnType<typeof chartsOf>[number]

type Minute = TrafficView['minutes'][number]

const seriesMax = 9

/** Each with another `meaning`. The series of a rate are stacked; `at` is in seconds since 1970. The
 * axis has `span` minutes, however few are known. `keyName`: of a key's id. */
export function chartsOf(
  minutes: readonly Minute[],
  span: number,
  keyName = (id: string): string => id,
) {
  const at = minutes.map((minute) => Date.parse(minute.at) / 1000)
  const to = at.at(-1) ?? 0
  const axis = { at, from: to - span * 60, to }
  const rates = { ...axis, unit: 'rate' } as const
  const by = (of: (minute: Minute) => Readonly<Record<string, number>>, tone: Tone) =>
    seriesBy(minutes, of, tone)
  const classes = by((minute) => minute.classes, kindTone)
  const sources = by((minute) => minute.sources, sourceTone)
  const keys = by((minute) => minute.keys, placeTone).map((one) => {
    return { ...one, name: keyName(one.name) }
  })
  const policies = by((minute) => sumsByPolicy(minute.decisions), placeTone)
  const decisionTone: Tone = (name) => actionTone(name.split('/').at(-1) ?? '')
  const decisions = by((minute) => minute.decisions, decisionTone)
  const errors = by(({ statuses }) => without200(statuses), statusTone)
  const limits = by(({ limited: { rate, quota } }) => ({ rate, quota }), limitTone)
  const bySource = { ...rates, meaning: 'sources', title: 'Checks by source', series: sources }
  const seconds = { ...axis, unit: 'seconds', series: latencyOf(minutes) } as const
  return [
    { ...rates, meaning: 'classes', title: 'Checks by class', series: classes },
    // Where the API alone is asked it would show the same as the first.
    ...(sources.some(({ name }) => name !== 'check') ? [bySource] : []),
    ...(keys.length > 0
      ? [{ ...rates, meaning: 'key-checks', title: 'Checks by key', series: keys }]
      : []),
    ...(policies.length > 1
      ? [{ ...rates, meaning: 'policy-checks', title: 'Decisions by policy', series: policies }]
      : []),
    { ...rates, meaning: 'scores', title: 'Scores', series: scoresOf(minutes) },
    { ...rates, meaning: 'decisions', title: 'Decisions', series: decisions },
    { ...seconds, meaning: 'latency', title: 'Time to answer' },
    { ...rates, meaning: 'errors', title: 'Non-200 responses', series: errors },
    { ...rates, meaning: 'limits', title: 'Limited', series: limits },
  ]
}

type Tone = (name: string, place: number) => string

function seriesBy(
  minutes: readonly Minute[],
  of: (minute: Minute) => Readonly<Record<string, number>>,
  tone: Tone,
): readonly ChartSeries[] {
  const points = minutes.map(of)
  return seriesNames(points, seriesMax).map((name, place) => ({
    name: words(name),
    tone: tone(name, place),
    values: points.map((point) => (point[name] ?? 0) / 60),
  }))
}

function scoresOf(minutes: readonly Minute[]): readonly ChartSeries[] {
  if (!minutes.some(({ scores }) => scores.some((one) => one > 0))) return []
  return Array.from({ length: 10 }, (_, ten) => ({
    name: `${ten * 10}–${ten === 9 ? 100 : ten * 10 + 9}`,
    tone: `ten-${ten}`,
    values: minutes.map(({ scores }) => (scores[ten] ?? 0) / 60),
  }))
}

const percentiles = [
  { name: 'p50', tone: 'line-0' },
  { name: 'p90', tone: 'line-1' },
  { name: 'p99', tone: 'line-2' },
] as const

function latencyOf(minutes: readonly Minute[]): readonly ChartSeries[] {
  if (!minutes.some(({ latency }) => latency !== null)) return []
  return percentiles.map(({ name, tone }) => ({
    name,
    tone,
    values: minutes.map(({ latency }) => latency?.[name] ?? null),
  }))
}

function without200(statuses: Minute['statuses']): Minute['statuses'] {
  return Object.fromEntries(Object.entries(statuses).filter(([code]) => code !== '200'))
}

const statusTones: Readonly<Record<string, string>> = {
  '400': 'tone-hosting',
  '401': 'tone-vpn',
  '403': 'tone-tor',
  '404': 'tone-relay',
  '429': 'tone-proxy',
}

const statusTone: Tone = (code) =>
  code.startsWith('5') ? 'tone-blocklist' : (statusTones[code] ?? 'tone-other')

const sourceTones = { check: 'line-0', gate: 'line-1', bouncer: 'line-2' } as const
const sourceTone: Tone = (name) => sourceTones[name as keyof typeof sourceTones]

/** Of names without a meaning. */
const placeTone: Tone = (_, place) => kindTone(kinds[place] ?? '')

const sumsByPolicy = (decisions: Minute['decisions']): Minute['decisions'] =>
  Object.fromEntries(
    largestSums(Object.entries(decisions).map(([name, sum]) => [name.split('/', 1)[0]!, sum])),
  )

const limitTone: Tone = (name) => (name === 'rate' ? 'tone-proxy' : 'tone-vpn')

export function stacked(series: readonly (readonly number[])[]): readonly number[][] {
  let below: readonly number[] = []
  return series.map((values) => {
    const sums = values.map((value, at) => value + (below[at] ?? 0))
    below = sums
    return sums
  })
}

export function seriesNames(points: readonly Readonly<Record<string, number>>[], max: number) {
  return largestSums(points.flatMap((point) => Object.entries(point)))
    .filter(([, sum]) => sum > 0)
    .slice(0, max)
    .map(([name]) => name)
}
