// What a rehearsal found: what each action and rule would get, and what changes.

import { BarList } from '../parts/bar-list.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { ActionTag, KindTag } from '../parts/tag.tsx'
import { routeTo } from '../route.ts'
import { count, counted, percent } from '../text/figures.ts'
import { actionTone } from '../text/tone.ts'

interface Requests {
  readonly requests: number
  readonly percent: number
}

/** What `iprisk policy test --json` prints, as far as it is shown. */
interface Report {
  readonly requests: number
  readonly bad_lines: number
  readonly actions: readonly ({ readonly action: string } & Requests)[]
  readonly rules: readonly Rule[]
  readonly changed?: Requests & {
    readonly by_action: readonly ({ readonly from: string; readonly to: string } & Requests)[]
  }
  readonly hit: {
    readonly networks: readonly ({
      readonly asn: number
      readonly organization: string
    } & Requests)[]
    readonly providers: readonly ({ readonly provider: string } & Requests)[]
    readonly countries: readonly ({ readonly country: string } & Requests)[]
  }
  readonly examples: readonly Example[]
}

type Rule = {
  readonly rule: string
  readonly action: string
  readonly would_change?: number
} & Requests

interface Example {
  readonly ip: string
  readonly requests: number
  readonly classification?: string
  readonly action: string
  readonly rule: string
  readonly action_before?: string
}

const share = (one: Requests): string => `${count(one.requests)} · ${percent(one.percent / 100)}`

function bars<Row extends Requests>(rows: readonly Row[], name: (row: Row) => string) {
  return rows.map((row) => ({ name: name(row), value: row.requests, text: share(row) }))
}

export function RehearsalOutcome(props: { readonly report: Readonly<Record<string, unknown>> }) {
  const report = props.report as unknown as Report
  const { requests, bad_lines: bad, actions, rules, changed, hit, examples } = report
  return (
    <>
      <p>
        {counted(requests, 'request')}
        {bad > 0 && `, ${counted(bad, 'line')} without an address`}
        {changed !== undefined && (
          <>
            ; <strong>{percent(changed.percent / 100)}</strong> of them would be decided otherwise
            than now
          </>
        )}
        .
      </p>
      <div class="columns">
        <div>
          <h3>Decisions</h3>
          <BarList
            label="Decisions"
            bars={actions.map((one) => ({
              name: one.action,
              value: one.requests,
              text: share(one),
              tone: actionTone(one.action),
            }))}
          />
        </div>
        {changed !== undefined && (
          <div>
            <h3>Changes</h3>
            <BarList
              label="Changes"
              bars={bars(changed.by_action, ({ from, to }) => `${from} → ${to}`)}
            />
          </div>
        )}
        <HitMost hit={hit} />
      </div>
      <h3>Rules</h3>
      <DataTable
        label="Rules of the draft"
        columns={ruleColumns}
        rows={rules}
        keyOf={({ rule }) => rule}
      />
      <details>
        <summary>Addresses that asked most of these, {count(examples.length)}</summary>
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

function HitMost({ hit }: Pick<Report, 'hit'>) {
  const kinds = {
    Networks: bars(hit.networks, ({ asn, organization }) => `AS${asn} ${organization}`),
    Providers: bars(hit.providers, ({ provider }) => provider),
    Countries: bars(hit.countries, ({ country }) => country),
  }
  return (
    <>
      {Object.entries(kinds).map(([kind, rows]) => (
        <div key={kind}>
          <h3>{kind} hit most</h3>
          <BarList label={`${kind} hit most`} bars={rows} />
        </div>
      ))}
    </>
  )
}

const ruleColumns: readonly Column<Rule>[] = [
  { id: 'rule', title: 'Rule', cell: ({ rule }) => (rule === '' ? 'otherwise' : rule) },
  { id: 'action', title: 'Action', cell: ({ action }) => <ActionTag action={action} /> },
  {
    id: 'requests',
    title: 'Requests',
    isNumber: true,
    by: ({ requests }) => requests,
    cell: ({ requests }) => count(requests),
  },
  {
    id: 'percent',
    title: 'Share',
    isNumber: true,
    by: (rule) => rule.percent,
    cell: (rule) => percent(rule.percent / 100),
  },
  {
    id: 'observe',
    title: 'In observation',
    cell: ({ would_change: number }) =>
      number === undefined ? '' : `would change ${count(number)}`,
  },
]

const exampleColumns: readonly Column<Example>[] = [
  {
    id: 'ip',
    title: 'Address',
    cell: ({ ip }) => (
      <a class="mono" href={routeTo('address', ip)}>
        {ip}
      </a>
    ),
  },
  {
    id: 'requests',
    title: 'Requests',
    isNumber: true,
    by: ({ requests }) => requests,
    cell: ({ requests }) => count(requests),
  },
  {
    id: 'class',
    title: 'Class',
    cell: ({ classification = '' }) => classification && <KindTag kind={classification} />,
  },
  {
    id: 'before',
    title: 'Now',
    cell: ({ action_before: before = '' }) => before && <ActionTag action={before} />,
  },
  { id: 'action', title: 'Then', cell: ({ action }) => <ActionTag action={action} /> },
  { id: 'rule', title: 'Rule', cell: ({ rule }) => rule },
]
