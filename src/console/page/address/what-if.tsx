// What the answer would be without a feed, some days later if nothing is seen again, to a visitor
// with a User-Agent, or after a login elsewhere.

import { useState } from 'preact/hooks'
import type { AddressView } from '../../../api/admin-answers.ts'
import { useLoad } from '../ask/use-load.ts'
import { Choice, Field, TextField } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { Waiting } from '../parts/problem.tsx'
import { ActionTag, KindTag } from '../parts/tag.tsx'
import { count, counted, dayAfter, words } from '../text/figures.ts'
import { levelTone } from '../text/tone.ts'
import { riskLevelOf } from '../../../model/kind.ts'
import { addressPath } from '../route.ts'

const daysMax = 365

export function WhatIf(props: {
  readonly ip: string
  readonly policy: string
  readonly view: AddressView
}) {
  const { ip, policy, view } = props
  const { without_feed, falls_below } = view.insights.counterfactuals
  const asOf = view.insights.table.as_of
  return (
    <Panel title="What if" meaning="what-if">
      <Asked ip={ip} policy={policy} feeds={without_feed.map(({ feed }) => feed)} asOf={asOf} />
      {without_feed.length > 0 && (
        <table class="what-ifs">
          <thead>
            <tr>
              <th scope="col">Without the feed</th>
              <th scope="col" class="number">
                Score
              </th>
              <th scope="col">Class</th>
            </tr>
          </thead>
          <tbody>
            {without_feed.map(({ feed, risk_score, classification }) => (
              <tr key={feed}>
                <td>{feed}</td>
                <td class="number">
                  <ScoreBox score={risk_score} />
                </td>
                <td>
                  <KindTag kind={classification} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {falls_below.length > 0 && (
        <ul class="falls">
          {falls_below.map(({ risk_level, day }) => (
            <li key={risk_level}>
              below <strong>{words(risk_level)}</strong> {day === null ? 'never' : `from ${day}`}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function ScoreBox({ score }: { readonly score: number }) {
  return (
    <span class="score-box">
      <span class={`dot ${levelTone(riskLevelOf(score))}`} aria-hidden="true" />
      {score}
    </span>
  )
}

function Asked(props: {
  readonly ip: string
  readonly policy: string
  readonly feeds: readonly string[]
  readonly asOf: string
}) {
  const { ip, policy, feeds, asOf } = props
  const [days, setDays] = useState(0)
  const [without, setWithout] = useState('')
  const [userAgent, setUserAgent] = useState('')
  const [previous, setPrevious] = useState('')
  const [hours, setHours] = useState('1')
  const isAsked = days > 0 || without !== '' || userAgent !== '' || previous !== ''
  const ahead = days > 0 ? String(days) : ''
  const travelled = previous === '' ? {} : { previous, previous_hours: hours }
  const members = { policy, without, days: ahead, user_agent: userAgent, ...travelled }
  const loaded = useLoad<AddressView>(isAsked ? addressPath(ip, members) : null)
  return (
    <>
      <div class="asked">
        <Field label={`In ${days} days, on ${dayAfter(asOf, days)}`}>
          <input
            type="range"
            min="0"
            max={daysMax}
            value={days}
            onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}
          />
        </Field>
        <Choice
          label="Without"
          value={without}
          options={[['', 'no feed'], ...feeds]}
          choose={setWithout}
        />
        <TextField label="User-Agent" place="grow" value={userAgent} set={setUserAgent} />
        <Field label="Previous address">
          <input
            class="mono"
            value={previous}
            onChange={({ currentTarget }) => setPrevious(currentTarget.value.trim())}
          />
        </Field>
        <Choice label="Seen" value={hours} options={timesAgo} choose={setHours} />
      </div>
      <p class="asked-answer" aria-live="polite">
        {!isAsked && (
          <span class="quiet">
            Move the days, leave out a feed, or give a User-Agent or a previous address.
          </span>
        )}
        {loaded.value && <AskedAnswer view={loaded.value} />}
      </p>
      {isAsked && loaded.value === undefined && <Waiting loaded={loaded} />}
    </>
  )
}

const timesAgo = [
  ['1', 'an hour ago'],
  ['6', '6 hours ago'],
  ['24', 'a day ago'],
  ['168', 'a week ago'],
] as const

function AskedAnswer({ view }: { readonly view: AddressView }) {
  const { what_if: asked, decision } = view
  const { agent, travel, context_errors: errors = [] } = view.answer
  const facts = [
    agent && `${agent.name || 'no known agent'}: ${agent.status}`,
    ...(errors.length > 0 ? errors.map(({ message }) => message) : [travel && travelText(travel)]),
  ].filter((fact) => fact !== undefined)
  return (
    <>
      {asked && (
        <>
          <ScoreBox score={asked.risk_score} /> <KindTag kind={asked.classification} />{' '}
        </>
      )}
      {facts.join('; ')} {facts.length > 0 && decision && <ActionTag action={decision.action} />}
    </>
  )
}

function travelText(of: NonNullable<AddressView['answer']['travel']>): string {
  const { known, km, hours, kmh, reliable, unreliable_because: doubts } = of
  if (!known) return 'the distance is unknown'
  const trust = reliable ? 'reliable' : `not reliable (${doubts.map(words).join(', ')})`
  return `${count(km)} km in ${counted(Math.round(hours), 'hour')}, ${count(kmh)} km/h, ${trust}`
}
