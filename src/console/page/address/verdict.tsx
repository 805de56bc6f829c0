// The answer at a glance: class, score, level, decision, network.

import type { AddressView } from '../../../api/admin-answers.ts'
import { networkLink } from './network.tsx'
import { Fact, Meaning, Panel } from '../parts/panel.tsx'
import { ActionTag, KindTag, LevelTag } from '../parts/tag.tsx'
import { signed, words } from '../text/figures.ts'
import { levelTone, reasonTone } from '../text/tone.ts'
import { scorePieces } from '../text/score-pieces.ts'

const ring = { cx: 32, cy: 32, r: 27, pathLength: 100 } as const

export function Verdict({ view }: { readonly view: AddressView }) {
  const { answer, insights, decision } = view
  const { classification, risk_score, risk_level, ip, address, signals } = answer
  const [low, high] = insights.score_range
  const set = Object.entries(signals).filter(([, isSet]) => isSet)
  return (
    <Panel title="Verdict" meaning="classification" aside={<code>{address ?? ip}</code>}>
      <div class="verdict">
        <p class="score">
          <span class={`score-ring ${levelTone(risk_level)}`} aria-hidden="true">
            <svg viewBox="0 0 64 64">
              <circle class="ring-rest" {...ring} />
              <circle class="ring" {...ring} stroke-dasharray={`${risk_score} 100`} />
            </svg>
          </span>
          <strong>{risk_score}</strong>
        </p>
        <div>
          <p class="verdict-class">
            <KindTag kind={classification} />
          </p>
          <p>
            <LevelTag level={risk_level} />{' '}
            {low !== high && (
              <span class="quiet">
                <Meaning of="score-range">
                  between {low} and {high}
                </Meaning>
              </span>
            )}
          </p>
          {decision !== null && (
            <p>
              <ActionTag action={decision.action} />{' '}
              <span class="quiet">
                {decision.rule === '' ? 'no rule matched' : `by rule ${decision.rule}`} of{' '}
                {decision.policy}
              </span>
            </p>
          )}
        </div>
      </div>
      <ul class="chips" aria-label="Signals">
        {set.length === 0 && <li class="quiet">no signals</li>}
        {set.map(([name]) => (
          <li key={name} class="chip">
            {words(name)}
          </li>
        ))}
      </ul>
      <Facts view={view} />
    </Panel>
  )
}

function Facts({ view }: { readonly view: AddressView }) {
  const { network, prefix, proxy, bot } = view.answer
  const { table } = view.insights
  return (
    <dl class="facts">
      <Fact name="Network">
        {network === null ? (
          'not announced'
        ) : (
          <>
            {networkLink(`AS${network.asn}`)} {network.organization} · {words(network.type)}
          </>
        )}
      </Fact>
      {prefix !== undefined && (
        <Fact name="Same answer for">
          <code>{networkLink(prefix)}</code>
        </Fact>
      )}
      {proxy !== null && (
        <Fact name="Proxy">
          {words(proxy.type)}
          {proxy.provider !== '' && ` of ${proxy.provider}`}, confidence {proxy.confidence}, last
          seen {proxy.last_seen_at}, on {proxy.percent_days_seen} % of recent days
        </Fact>
      )}
      {bot !== null && (
        <Fact name="Bot">
          {bot.provider}, {words(bot.category)}, confidence {bot.confidence}
        </Fact>
      )}
      <Fact name="Data as of">
        {table.as_of}, table {table.id}
      </Fact>
    </dl>
  )
}

export function Score({ view }: { readonly view: AddressView }) {
  const { reasons } = view.insights
  const sum = view.answer.risk_score
  const said = reasons.map(({ code, points }) => `${code} ${points}`).join(', ')
  return (
    <Panel title="Score" meaning="score" aside={<span>{sum} of 100</span>}>
      <svg
        class="score-bar"
        viewBox="0 0 100 10"
        preserveAspectRatio="none"
        role="img"
        aria-label={said === '' ? 'No reason has points.' : `${sum}: ${said}`}
      >
        <rect class="tone-rest" width="100" height="10" />
        {scorePieces(reasons).map(({ code, from, to }) => (
          <rect
            key={code}
            class={`${reasonTone(code)} piece`}
            x={from}
            width={to - from}
            height="10"
          />
        ))}
      </svg>
      <Reasons reasons={reasons} />
    </Panel>
  )
}

export function Reasons({ reasons }: Pick<AddressView['insights'], 'reasons'>) {
  if (reasons.length === 0) return <p class="quiet">There is no reason against this address.</p>
  return (
    <table class="reasons">
      <caption class="hidden">Reasons and their points</caption>
      <tbody>
        {reasons.map(({ code, text, points }, at) => (
          <tr key={at}>
            <td>
              <span class={`dot ${reasonTone(code)}`} aria-hidden="true" />
            </td>
            <td>
              <code>{code}</code>
              <p>{text}</p>
            </td>
            <td class="number">{signed(points)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
