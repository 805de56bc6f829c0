// The verdict of a past day, which only a server with the history and the compiler can give.

import { useState } from 'preact/hooks'
import type { PastDay as PastDayAnswer } from '../../../api/admin-answers.ts'
import { useRun } from '../ask/use-load.ts'
import { Form, TextField } from '../parts/fields.tsx'
import { RunState } from '../parts/problem.tsx'
import { KindTag, LevelTag } from '../parts/tag.tsx'
import { counted } from '../text/figures.ts'
import { EvidenceTable } from './evidence.tsx'
import { Reasons } from './verdict.tsx'

export function PastDay({ ip }: { readonly ip: string }) {
  const [day, setDay] = useState('')
  const past = useRun<PastDayAnswer>('/admin/past-days')
  const report = past.value?.report
  return (
    <>
      <Form class="actions past-day" send={() => past.begin({ ip, day })}>
        <TextField
          label="On a past day"
          type="date"
          required
          max={new Date().toISOString().slice(0, 10)}
          value={day}
          set={setDay}
        />
        <button type="submit" disabled={past.isRunning}>
          Show verdict
        </button>
      </Form>
      <RunState label="Building the table of that day" of={past} />
      {report !== undefined && <PastVerdict of={report} />}
    </>
  )
}

function PastVerdict({ of }: { readonly of: PastDayAnswer }) {
  const { classification, risk_score, risk_level, insights, left_out: leftOut } = of
  const day = insights.table.as_of
  return (
    <>
      <h3>On {day}</h3>
      <p>
        <KindTag kind={classification} /> <strong>{risk_score}</strong>{' '}
        <LevelTag level={risk_level} />
      </p>
      <p class="quiet">
        By each feed’s newest list up to that day, and today’s networks and locations.
      </p>
      {leftOut.length > 0 && (
        <details>
          <summary>
            Left out: {counted(leftOut.length, 'feed')} without a snapshot up to that day
          </summary>
          <p class="free">{leftOut.join(', ')}</p>
        </details>
      )}
      <Reasons reasons={insights.reasons} />
      <EvidenceTable label={`Evidence on ${day}`} insights={insights} />
    </>
  )
}
