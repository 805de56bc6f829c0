// What the live table says otherwise than the one before it.

import type { TableChanges } from '../../../api/admin-answers.ts'
import { useLoadUntilDone } from '../ask/use-load.ts'
import { TitledBars } from '../parts/bar-list.tsx'
import { type Column, DataTable, sorted, sortedNumber } from '../parts/data-table.tsx'
import { Panel } from '../parts/panel.tsx'
import { Waiting } from '../parts/problem.tsx'
import { kindTag } from '../parts/tag.tsx'
import { count, counted, shortCount, words } from '../text/figures.ts'

const pollMs = 1500

export function Changes() {
  const loaded = useLoadUntilDone<TableChanges>('/admin/table/changes', pollMs)
  const { value: changes, isRunning } = loaded
  const against = changes?.against ?? null
  return (
    <Panel
      wide
      title="Changed"
      meaning="changes"
      aside={against !== null && <span>against {against}</span>}
    >
      <Waiting loaded={loaded} />
      {isRunning && <p class="waiting">The two tables are being compared…</p>}
      {changes?.status === 'none' && <p class="quiet">There is no table before this one.</p>}
      {changes?.status === 'done' && <Done changes={changes} />}
    </Panel>
  )
}

function Done({ changes }: { readonly changes: TableChanges }) {
  const { classes = [], countries = [], networks = [], largest = [], ipv6 } = changes
  const lines = ipv6?.lines_changed ?? 0
  return (
    <>
      <p>
        {counted(changes.addresses_changed ?? 0, 'IPv4 address', 'IPv4 addresses')} and{' '}
        {counted(lines, '/64 of IPv6', '/64s of IPv6')} changed.
      </p>
      <Counts of="IPv4" classes={classes} countries={countries} networks={networks} />
      {ipv6 !== undefined && lines > 0 && <Counts of="IPv6" {...ipv6} />}
      <details>
        <summary>The largest, {count(largest.length)}</summary>
        <DataTable
          label="The largest changes"
          columns={flips}
          rows={largest}
          keyOf={({ prefix }) => prefix}
        />
      </details>
    </>
  )
}

type Flip = NonNullable<TableChanges['largest']>[number]

type Counted = Required<Pick<TableChanges, 'classes' | 'countries' | 'networks'>>

function Counts(props: Counted & { readonly of: string }) {
  const { of, classes, countries, networks } = props
  const moves = classes.map(({ from, to, addresses }) => ({
    name: `${words(from)} → ${words(to)}`,
    value: addresses,
    text: shortCount(addresses),
  }))
  const named = (rows: Counted['countries']) =>
    rows.map(({ name, addresses }) => ({ name, value: addresses, text: shortCount(addresses) }))
  return (
    <div class="columns">
      <TitledBars title={`${of} by class`} bars={moves} />
      <TitledBars title={`${of} by country`} bars={named(countries)} />
      <TitledBars title={`${of} by network`} bars={named(networks)} />
    </div>
  )
}

const flips: readonly Column<Flip>[] = [
  sorted(
    'Prefix',
    ({ prefix }) => prefix,
    (prefix) => <code>{prefix}</code>,
  ),
  sorted('From', ({ from }) => from, kindTag),
  sorted('To', ({ to }) => to, kindTag),
  sortedNumber(
    'Score',
    (flip) => Math.abs(flip.score_to - flip.score_from),
    (_, flip) => `${flip.score_from} → ${flip.score_to}`,
  ),
]
