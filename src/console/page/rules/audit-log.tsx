// The audit log, the newest first, paged.

import { useState } from 'preact/hooks'
import type { AuditView } from '../../../api/admin-answers.ts'
import { askOrNotify } from '../ask/ask.ts'
import { useLoad } from '../ask/use-load.ts'
import { type Column, DataTable, freeText, plain, sorted } from '../parts/data-table.tsx'
import { Panel } from '../parts/panel.tsx'
import { Waiting } from '../parts/problem.tsx'
import { utcTime } from '../text/figures.ts'

type Row = AuditView['rows'][number]

const pageRows = 100

export function AuditLog() {
  const loaded = useLoad<AuditView>(`/admin/audit?limit=${pageRows}`)
  const [older, setOlder] = useState<readonly Row[]>([])
  const [isAll, setAll] = useState(false)
  const rows = [...(loaded.value?.rows ?? []), ...older]
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
      {loaded.value !== undefined && (
        <DataTable
          label="Acts"
          columns={columns}
          rows={rows}
          keyOf={({ at, who, act, what }) => `${at} ${who} ${act} ${what}`}
          empty="Nothing was changed yet."
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

const columns: readonly Column<Row>[] = [
  sorted('When', ({ at }) => at, utcTime),
  sorted('Who', ({ who }) => who),
  sorted('By', ({ via }) => via),
  sorted('Act', ({ act }) => act),
  plain('What', ({ what }) => freeText(what)),
]
