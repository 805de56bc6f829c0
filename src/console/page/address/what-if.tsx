// What the answer would be without a feed, some days later if nothing is seen again, or to a visitor
// with a User-Agent.

import { useState } from 'preact/hooks'
import type { AddressView } from '../../../api/admin-answers.ts'
import { useLoad } from '../ask/use-load.ts'
import { Choice, Field, TextField } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { Waiting } from '../parts/problem.tsx'
import { ActionTag, KindTag } from '../parts/tag.tsx'
import { dayAfter, words } from '../text/figures.ts'
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
  const isAsked = days > 0 || without !== '' || userAgent !== ''
  const members = { policy, without, days: days > 0 ? String(days) : '', user_agent: userAgent }
  const loaded = useLoad<AddressView>(isAsked ? addressPath(ip, members) : null)
  const { what_if: asked, answer, decision } = loaded.value ?? {}
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
        <TextField label="User-Agent" value={userAgent} set={setUserAgent} />
      </div>
      <p class="asked-answer" aria-live="polite">
        {!isAsked && (
          <span class="quiet">Move the days, leave out a feed, or give a User-Agent.</span>
        )}
        {asked && (
          <>
            <ScoreBox score={asked.risk_score} /> <KindTag kind={asked.classification} />
          </>
        )}
        {answer?.agent && (
          <>
            {' '}
            {answer.agent.name || 'no known agent'}: {answer.agent.status}{' '}
            {decision && <ActionTag action={decision.action} />}
          </>
        )}
      </p>
      {isAsked && loaded.value === undefined && <Waiting loaded={loaded} />}
    </>
  )
}
