// Which table answers, what changed with it, and what its feeds hold.

import type { ServerStatus } from '../../../admin/status.ts'
import type { FeedsView, TableChanges, RefreshView } from '../../../api/admin-answers.ts'
import { useLoad, useLoadUntilDone } from '../ask/use-load.ts'
import { Panel, Fact, Meaning } from '../parts/panel.tsx'
import { Waiting } from '../parts/problem.tsx'
import { KindTag, kindTag } from '../parts/tag.tsx'
import { useState, useEffect, useRef } from 'preact/hooks'
import { type Column, DataTable, freeText, sorted, sortedNumber } from '../parts/data-table.tsx'
import { TextField } from '../parts/fields.tsx'
import { SparkLine } from '../parts/spark-line.tsx'
import { count, counted, shortCount, words, utcTime } from '../text/figures.ts'
import { TitledBars } from '../parts/bar-list.tsx'
import { askOrNotify } from '../ask/ask.ts'
import { notify } from '../ask/notices.ts'
import { useMay } from '../ask/session.ts'
import { AskFirst } from '../parts/dialog.tsx'

export function FeedsPage() {
  const loaded = useLoad<FeedsView>('/admin/feeds')
  const { value: view } = loaded
  return (
    <>
      <div class="page-head">
        <h1>Table and feeds</h1>
      </div>
      <div class="grid table-page">
        <LiveTable onSwapped={loaded.again} />
        {view !== undefined && <Coverage coverage={view.coverage} />}
        <Changes key={view?.table ?? ''} />
        <Panel wide title="Feeds" meaning="feeds">
          <Waiting loaded={loaded} />
          {view !== undefined && <FeedList feeds={view.feeds} />}
        </Panel>
      </div>
    </>
  )
}

const states: Readonly<Record<string, string>> = {
  full: 'covered',
  covered: 'covered',
  partly: 'in part',
  missing: 'not covered',
}

function Coverage({ coverage }: { readonly coverage: FeedsView['coverage'] }) {
  return (
    <Panel title="Coverage" meaning="coverage">
      <ul class="coverage">
        {Object.entries(coverage).map(([kind, { state, day }]) => (
          <li key={kind}>
            <KindTag kind={kind} />
            <span class={state === 'missing' || state === 'partly' ? 'warn' : undefined}>
              {states[state] ?? state}
            </span>
            <span class="quiet">{day ?? 'no day'}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

type Feed = FeedsView['feeds'][number]

function FeedList({ feeds }: { readonly feeds: readonly Feed[] }) {
  const [filter, setFilter] = useState('')
  const wanted = filter.trim().toLowerCase()
  const shown = feeds.filter(({ id, name, kind }) =>
    `${id} ${name} ${kind}`.toLowerCase().includes(wanted),
  )
  const quarantined = feeds.filter((feed) => feed.quarantined !== null)
  return (
    <>
      {quarantined.length > 0 && (
        <ul class="problem">
          {quarantined.map(({ id, quarantined: why }) => (
            <li key={id}>
              <strong>{id}</strong> is in quarantine: {why}
            </li>
          ))}
        </ul>
      )}
      <TextField
        label={`Filter; ${counted(shown.length, 'feed')}`}
        place="filter"
        type="search"
        value={filter}
        set={setFilter}
      />
      <DataTable
        label="Feeds"
        columns={columns}
        rows={shown}
        keyOf={({ id }) => id}
        empty="No feed matches."
      />
    </>
  )
}

const columns: readonly Column<Feed>[] = [
  sorted(
    'Feed',
    ({ id }) => id,
    (id, { name }) => (
      <>
        <strong>{id}</strong>
        {name !== id && <p class="quiet free">{name}</p>}
      </>
    ),
  ),
  sorted('Kind', ({ kind }) => kind, kindTag),
  sortedNumber('Entries', ({ entries }) => entries),
  {
    title: '60 days',
    meaning: 'entries',
    cell: ({ history }) => <SparkLine values={history} unit="days" />,
  },
  sortedNumber(
    'Age',
    ({ age_days }) => age_days,
    (days, { day }) => (
      <span class={days > 7 ? 'warn' : undefined} title={day}>
        {counted(days, 'day')}
      </span>
    ),
  ),
  sorted('Day', ({ day }) => day),
  sorted(
    'State',
    ({ quarantined }) => (quarantined === null ? 1 : 0),
    (isUsed) => (isUsed ? 'in use' : <span class="warn">quarantine</span>),
  ),
  sorted('Licence', ({ licence }) => licence, freeText),
]

export const changedText = ({ addresses_changed: addresses = 0, ipv6 }: TableChanges): string =>
  `${counted(addresses, 'IPv4 address', 'IPv4 addresses')} and ` +
  `${counted(ipv6?.lines_changed ?? 0, '/64 of IPv6', '/64s of IPv6')} changed.`

export function Changes() {
  const loaded = useLoadUntilDone<TableChanges>('/admin/table/changes')
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
      {isRunning && <p class="waiting">Comparing the two tables…</p>}
      {changes?.status === 'none' && <p class="quiet">There is no earlier table.</p>}
      {changes?.status === 'done' && <Done changes={changes} />}
    </Panel>
  )
}

function Done({ changes }: { readonly changes: TableChanges }) {
  const { classes = [], countries = [], networks = [], largest = [], ipv6 } = changes
  const lines = ipv6?.lines_changed ?? 0
  return (
    <>
      <p>{changedText(changes)}</p>
      <Counts of="IPv4" classes={classes} countries={countries} networks={networks} />
      {ipv6 !== undefined && lines > 0 && <Counts of="IPv6" {...ipv6} />}
      <details>
        <summary>Largest changes, {count(largest.length)}</summary>
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

/** Bars of how many addresses went from one class to another. */
export const classMoves = (classes: Counted['classes']) =>
  classes.map(({ from, to, addresses }) => ({
    name: `${words(from)} → ${words(to)}`,
    value: addresses,
    text: shortCount(addresses),
  }))

type Flip = NonNullable<TableChanges['largest']>[number]

type Counted = Required<Pick<TableChanges, 'classes' | 'countries' | 'networks'>>

function Counts(props: Counted & { readonly of: string }) {
  const { of, classes, countries, networks } = props
  const named = (rows: Counted['countries']) =>
    rows.map(({ name, addresses }) => ({ name, value: addresses, text: shortCount(addresses) }))
  return (
    <div class="columns">
      <TitledBars title={`${of} by class`} bars={classMoves(classes)} />
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

/** GET /admin/table */
type TableAnswer = Pick<ServerStatus, 'table' | 'tables'>

const followMs = 5000

function LiveTable({ onSwapped }: { readonly onSwapped: () => void }) {
  const loaded = useLoad<TableAnswer>('/admin/table', followMs)
  const refresh = useLoad<RefreshView>('/admin/refresh', followMs)
  useWhenAnother(loaded.value && (loaded.value.table?.id ?? null), onSwapped)
  const mayChange = useMay('admin')
  const swap = async (path: string, done: string): Promise<void> => {
    const swapped = await askOrNotify<{ readonly kind: string }>('POST', path, {})
    if (swapped) notify(swapped.kind === 'unchanged' ? 'This table is already live.' : done)
    loaded.again()
  }
  const start = async (): Promise<void> => {
    if (await askOrNotify('POST', '/admin/refresh', {})) notify('Refresh started.')
    refresh.again()
  }
  const { table, tables } = loaded.value ?? {}
  return (
    <Panel title="Live table" meaning="table">
      <Waiting loaded={loaded} />
      {table === null && <p>This server has no table yet; it answers 503.</p>}
      {table && tables && <TableFacts table={table} tables={tables} />}
      {refresh.value && <RefreshState refresh={refresh.value} />}
      {mayChange && (
        <div class="actions">
          <AskFirst
            label="Load new table"
            title="Load the new table?"
            text="It is tested first, as with “iprisk reload”; then all workers switch together."
            yes="Load it"
            act={() => swap('/admin/table/reload', 'The new table is live.')}
          />
          <AskFirst
            label="Roll back"
            title="Roll back to the previous table?"
            text={`All workers answer from ${tables?.previous ?? 'it'} again; the current table stays out.`}
            yes="Roll back"
            isDanger
            disabled={!tables?.previous}
            act={() => swap('/admin/table/rollback', 'Rolled back to the previous table.')}
          />
          <button type="button" disabled={refresh.value?.running} onClick={() => void start()}>
            Refresh the feeds
          </button>
        </div>
      )}
    </Panel>
  )
}

/** This page, a refresh or another admin may swap it. */
function useWhenAnother(id: string | null | undefined, onSwapped: () => void): void {
  const before = useRef(id)
  useEffect(() => {
    if (before.current !== undefined && id !== before.current) onSwapped()
    before.current = id
  }, [id, onSwapped])
}

type Facts = TableAnswer & { readonly table: NonNullable<TableAnswer['table']> }

function TableFacts({ table, tables }: Facts) {
  const { last_swap: swap, last_refusal: refusal } = tables
  const days = Math.floor(table.age_seconds / 86_400)
  return (
    <dl class="facts">
      <Fact name="Id">
        <code>{table.id}</code>
      </Fact>
      <Fact name="Data as of">
        {table.as_of} <span class={days > 7 ? 'warn' : 'quiet'}>{counted(days, 'day')} old</span>
      </Fact>
      <Fact name="Live since">{swap === null ? 'server start' : utcTime(swap.at)}</Fact>
      <Fact name="Contains">
        {counted(table.feeds, 'feed')}, {count(Math.ceil(table.bytes / 1e6))} MB
      </Fact>
      <Fact name="Previous">
        {tables.previous === null ? 'none' : <code>{tables.previous}</code>}
      </Fact>
      {tables.held !== null && (
        <Fact name="Rolled back">
          <code>{tables.held}</code>
        </Fact>
      )}
      {refusal !== null && (
        <Fact isWrong name={<Meaning of="refusal">Rejected</Meaning>}>
          {utcTime(refusal.at)} {refusal.reason}
        </Fact>
      )}
    </dl>
  )
}

function RefreshState({ refresh }: { readonly refresh: RefreshView }) {
  const { running, stage, last } = refresh
  if (running) {
    return (
      <p class="running" role="status">
        <progress aria-label="Refresh" /> Refresh: {words(stage ?? 'starting')}
      </p>
    )
  }
  if (last === null) return null
  return (
    <p class={last.outcome === 'failed' ? 'warn' : 'quiet'}>
      Last refresh {utcTime(last.at)}: {last.outcome}
      {last.message !== '' && `, ${last.message}`}
    </p>
  )
}
