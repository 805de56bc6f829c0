// What the draft would have decided on a dropped log or on the server's sample.

import { useState } from 'preact/hooks'
import type { RehearsalReport, RequestShare } from '../../../api/admin-answers.ts'
import { useRun } from '../ask/use-load.ts'
import { TitledBars } from '../parts/bar-list.tsx'
import { type Column, DataTable, plain, sortedNumber } from '../parts/data-table.tsx'
import { FileDrop } from '../parts/file-drop.tsx'
import { Panel } from '../parts/panel.tsx'
import type { PoliciesAnswer } from '../parts/policy-choice.tsx'
import { RunState } from '../parts/problem.tsx'
import { ActionTag, addressLink, kindTag } from '../parts/tag.tsx'
import { count, counted, percent } from '../text/figures.ts'
import { actionTone } from '../text/tone.ts'

const logBytesMax = 2_000_000

export function Rehearsal(props: {
  readonly policies: PoliciesAnswer['policies']
  readonly policy: string
  readonly isUsable: boolean
}) {
  const { policies, policy, isUsable } = props
  const [tried, setTried] = useState({ policies, policy })
  const rehearsal = useRun<RehearsalReport>('/admin/rehearsals')
  const { value: run, isRunning } = rehearsal
  const begin = (on: { readonly log: string } | { readonly sample: true }): void => {
    setTried({ policies, policy })
    void rehearsal.begin({ policies, policy, ...on })
  }
  const isAnother = tried.policies !== policies || tried.policy !== policy
  return (
    <Panel title="Rehearsal" meaning="rehearsal">
      <div class="actions">
        <button
          type="button"
          disabled={!isUsable || isRunning}
          onClick={() => begin({ sample: true })}
        >
          Rehearse on the sample
        </button>
        <FileDrop
          label="Or drop a log (2 MB)"
          bytesMax={logBytesMax}
          onText={(log) => begin({ log })}
        />
      </div>
      <RunState label="Rehearsing" of={rehearsal}>
        {run?.status === 'done' && isAnother && (
          <p class="warn">The draft has changed since. Rehearse it again.</p>
        )}
      </RunState>
      {run?.status === 'done' && run.report !== undefined && <Outcome report={run.report} />}
    </Panel>
  )
}

type Rule = RehearsalReport['rules'][number]
type Example = RehearsalReport['examples'][number]

const share = (one: RequestShare): string =>
  `${count(one.requests)} · ${percent(one.percent / 100)}`

function bars<Row extends RequestShare>(rows: readonly Row[], name: (row: Row) => string) {
  return rows.map((row) => ({ name: name(row), value: row.requests, text: share(row) }))
}

function Outcome({ report }: { readonly report: RehearsalReport }) {
  const { requests, bad_lines: bad, actions, rules, changed, hit, examples } = report
  const affected = [
    ['networks', bars(hit.networks, ({ asn, organization }) => `AS${asn} ${organization}`)],
    ['providers', bars(hit.providers, ({ provider }) => provider)],
    ['countries', bars(hit.countries, ({ country }) => country)],
  ] as const
  return (
    <>
      <p>
        {counted(requests, 'request')}
        {bad > 0 && `, ${counted(bad, 'line')} without an address`}
        {changed !== undefined && (
          <>
            ; <strong>{percent(changed.percent / 100)}</strong> of them would get another decision
          </>
        )}
        .
      </p>
      <div class="columns">
        <TitledBars
          title="Decisions"
          bars={actions.map((one) => ({
            name: one.action,
            value: one.requests,
            text: share(one),
            tone: actionTone(one.action),
          }))}
        />
        {changed !== undefined && (
          <TitledBars
            title="Changes"
            bars={bars(changed.by_action, ({ from, to }) => `${from} → ${to}`)}
          />
        )}
        {affected.map(([title, rows]) => (
          <TitledBars key={title} title={`Most affected ${title}`} bars={rows} />
        ))}
      </div>
      <h3>Rules</h3>
      <DataTable
        label="Rules of the draft"
        columns={ruleColumns}
        rows={rules}
        keyOf={({ rule }) => rule}
      />
      <details>
        <summary>Examples, {count(examples.length)}</summary>
        <DataTable
          label="Examples"
          columns={exampleColumns}
          rows={examples}
          keyOf={({ ip }) => ip}
        />
      </details>
    </>
  )
}

const ruleColumns: readonly Column<Rule>[] = [
  plain('Rule', ({ rule }) => rule || 'otherwise'),
  plain('Action', ({ action }) => <ActionTag action={action} />),
  sortedNumber('Requests', ({ requests }) => requests),
  sortedNumber('Share', (rule) => rule.percent / 100, percent),
  plain('In observation', ({ would_change: number }) =>
    number === undefined ? '' : `would change ${count(number)}`,
  ),
]

const exampleColumns: readonly Column<Example>[] = [
  plain('Address', ({ ip }) => addressLink(ip)),
  sortedNumber('Requests', ({ requests }) => requests),
  plain('Class', ({ classification }) => kindTag(classification)),
  plain('Now', ({ action_before: before = '' }) => before && <ActionTag action={before} />),
  plain('Then', ({ action }) => <ActionTag action={action} />),
  plain('Rule', ({ rule }) => rule),
]
