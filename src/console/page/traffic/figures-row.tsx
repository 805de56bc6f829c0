// The newest minutes in a row of numbers.

import type { TrafficView } from '../../../api/admin-answers.ts'
import { Meaning } from '../parts/meaning-link.tsx'
import { count, duration, percent, rate } from '../text/figures.ts'

type Minute = TrafficView['minutes'][number]

export function Figures({ minutes }: { readonly minutes: readonly Minute[] }) {
  const checks = sum(minutes, (minute) => minute.checks)
  const clean = sum(minutes, (minute) => minute.classes['clean'] ?? 0)
  const failed = sum(minutes, (minute) => failures(minute.statuses))
  const limited = sum(minutes, ({ limited: { rate: byRate, quota } }) => byRate + quota)
  const newest = minutes.at(-1)
  const figures = [
    { of: 'checks', title: 'checks a second', text: rate((newest?.checks ?? 0) / 60) },
    { of: 'checks', title: 'checks', text: count(checks) },
    { of: 'classes', title: 'not clean', text: percent(checks === 0 ? 0 : 1 - clean / checks) },
    {
      of: 'latency',
      title: '99 of 100 within',
      text: newest?.latency ? duration(newest.latency.p99) : '–',
    },
    { of: 'limits', title: 'limited', text: count(limited) },
    { of: 'errors', title: 'failed', text: count(failed) },
  ]
  return (
    <dl class="figures">
      {figures.map(({ of, title, text }) => (
        <div key={title}>
          <dt>
            <Meaning of={of}>{title}</Meaning>
          </dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  )
}

const sum = (minutes: readonly Minute[], of: (minute: Minute) => number): number =>
  minutes.reduce((all, minute) => all + of(minute), 0)

const failures = (statuses: Minute['statuses']): number =>
  Object.entries(statuses).reduce((all, [code, n]) => (code.startsWith('5') ? all + n : all), 0)
