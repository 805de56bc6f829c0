// The score's reasons, as a bar of what is left of their points, and as a list.

import type { AddressView } from '../../../api/admin-answers.ts'
import { Panel } from '../parts/panel.tsx'
import { scorePieces } from '../text/score-pieces.ts'
import { reasonTone } from '../text/tone.ts'

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
      {reasons.length === 0 ? (
        <p class="quiet">Nothing speaks against this address.</p>
      ) : (
        <Reasons reasons={reasons} />
      )}
    </Panel>
  )
}

function Reasons({ reasons }: { readonly reasons: AddressView['insights']['reasons'] }) {
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
            <td class="number">{points > 0 ? `+${points}` : points}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
