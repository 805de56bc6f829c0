// Own lists, policies, published sets, and the audit log.

import { type Route, routeTo } from '../route.ts'
import { ListsPart } from './lists-part.tsx'
import { PoliciesPart } from './policies-part.tsx'
import { SetsPart } from './sets-part.tsx'
import { useState } from 'preact/hooks'
import type { AuditView } from '../../../api/admin-answers.ts'
import { askOrNotify } from '../ask/ask.ts'
import { useLoad } from '../ask/use-load.ts'
import { type Column, DataTable, freeText, plain, sorted } from '../parts/data-table.tsx'
import { Choice, TextField } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { Waiting } from '../parts/problem.tsx'
import { count, counted, utcTime } from '../text/figures.ts'

const parts = [
  ['lists', 'Lists'],
  ['policies', 'Policies'],
  ['sets', 'Published sets'],
  ['audit', 'Audit'],
] as const

export function RulesPage({ route }: { readonly route: Route }) {
  const [part = 'lists', name = ''] = route.rest.split('/')
  const here = parts.find(([one]) => one === part)?.[0] ?? 'lists'
  return (
    <>
      <div class="page-head">
        <h1>Rules</h1>
        <nav class="tabs" aria-label="Rules">
          {parts.map(([one, title]) => (
            <a
              key={one}
              href={routeTo('rules', one)}
              aria-current={one === here ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      </div>
      {here === 'policies' && <PoliciesPart />}
      {here === 'sets' && <SetsPart />}
      {here === 'audit' && <AuditLog />}
      {here === 'lists' && <ListsPart name={name} add={route.query.get('add') ?? ''} />}
    </>
  )
}

type Row = AuditView['rows'][number]

const pageRows = 100

function AuditLog() {
  const loaded = useLoad<AuditView>(`/admin/audit?limit=${pageRows}`)
  const [older, setOlder] = useState<readonly Row[]>([])
  const [isAll, setAll] = useState(false)
  const [by, setBy] = useState('')
  const [text, setText] = useState('')
  const rows = [...(loaded.value?.rows ?? []), ...older]
  const shown = rows.filter(
    (row) =>
      (by === '' || row.via === by) &&
      Object.values(row).join(' ').toLowerCase().includes(text.trim().toLowerCase()),
  )
  const more = async (): Promise<void> => {
    const before = rows.at(-1)?.at ?? ''
    const query = new URLSearchParams({ limit: String(pageRows), before })
    const view = await askOrNotify<AuditView>('GET', `/admin/audit?${query}`)
    if (view === undefined) return
    setOlder([...older, ...view.rows])
    setAll(view.rows.length < pageRows)
  }
  return (
    <Panel title="Audit" meaning="audit">
      <Waiting loaded={loaded} />
      <div class="actions">
        <Choice label="How" value={by} options={ways} choose={setBy} />
        <TextField
          label={`Filter; ${counted(shown.length, 'act')} of ${count(rows.length)}`}
          place="grow"
          type="search"
          placeholder="maria, policies save, attackers …"
          value={text}
          set={setText}
        />
      </div>
      {loaded.value !== undefined && (
        <DataTable
          label="Acts"
          columns={columns}
          rows={shown}
          keyOf={({ at, who, act, what }) => `${at} ${who} ${act} ${what}`}
          empty={rows.length === 0 ? 'Nothing was changed yet.' : 'No act matches.'}
        />
      )}
      {rows.length >= pageRows && !isAll && (
        <button type="button" onClick={() => void more()}>
          Older acts
        </button>
      )}
    </Panel>
  )
}

const wayTitles: Readonly<Record<string, string>> = { 'admin port': 'API' }
const ways = [['', 'any'], 'console', ['admin port', 'API'], 'command line'] as const

const columns: readonly Column<Row>[] = [
  sorted('When', ({ at }) => at, utcTime),
  sorted('Who', ({ who }) => who),
  sorted('How', ({ via }) => wayTitles[via] ?? via),
  sorted('Act', ({ act }) => act),
  plain('What', ({ what }) => freeText(what)),
]
