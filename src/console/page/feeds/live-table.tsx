// The live table: load the next one, roll back, refresh.

import { useEffect, useRef } from 'preact/hooks'
import type { RefreshView } from '../../../api/admin-answers.ts'
import { askOrNotify } from '../ask/ask.ts'
import { notify } from '../ask/notices.ts'
import { useMay } from '../ask/session.ts'
import { useLoad } from '../ask/use-load.ts'
import { AskFirst } from '../parts/dialog.tsx'
import { Fact, Meaning, Panel } from '../parts/panel.tsx'
import { Waiting } from '../parts/problem.tsx'
import { count, counted, utcTime, words } from '../text/figures.ts'

/** The members of GET /admin/table that are shown. */
interface TableAnswer {
  readonly table: {
    readonly id: string
    readonly as_of: string
    readonly age_seconds: number
    readonly bytes: number
    readonly feeds: number
  } | null
  readonly tables: {
    readonly previous: string | null
    readonly held: string | null
    readonly last_swap: { readonly at: string; readonly took_ms: number } | null
    readonly last_refusal: { readonly at: string; readonly reason?: string } | null
  }
}

const followMs = 5000

export function LiveTable({ onSwapped }: { readonly onSwapped: () => void }) {
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
    if (await askOrNotify('POST', '/admin/refresh', {})) notify('The refresh has begun.')
    refresh.again()
  }
  const { table, tables } = loaded.value ?? {}
  return (
    <Panel title="Live table" meaning="table">
      <Waiting loaded={loaded} />
      {table === null && <p>This server has no table yet: it answers nothing but 503.</p>}
      {table && tables && <TableFacts table={table} tables={tables} />}
      {refresh.value && <RefreshState refresh={refresh.value} />}
      {mayChange && (
        <div class="actions">
          <AskFirst
            label="Take in the next"
            title="Take in the table at its place?"
            text="It is tried first, as by “iprisk reload”. All workers change over together."
            yes="Take it in"
            act={() => swap('/admin/table/reload', 'The new table answers now.')}
          />
          <AskFirst
            label="Go back"
            title="Go back to the table before?"
            text={`All workers answer from ${tables?.previous ?? 'it'} again, and the table of now stays out.`}
            yes="Go back"
            isDanger
            disabled={!tables?.previous}
            act={() => swap('/admin/table/rollback', 'The table before answers again.')}
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
      <Fact name="Today in it">
        {table.as_of} <span class={days > 7 ? 'warn' : 'quiet'}>{counted(days, 'day')} old</span>
      </Fact>
      <Fact name="Live since">{swap === null ? 'the start of the server' : utcTime(swap.at)}</Fact>
      <Fact name="Holds">
        {counted(table.feeds, 'feed')}, {count(Math.ceil(table.bytes / 1e6))} MB
      </Fact>
      <Fact name="Before it">
        {tables.previous === null ? 'none' : <code>{tables.previous}</code>}
      </Fact>
      {tables.held !== null && (
        <Fact name="Rolled back">
          <code>{tables.held}</code>
        </Fact>
      )}
      {refusal !== null && (
        <Fact isWrong name={<Meaning of="refusal">Refused</Meaning>}>
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
