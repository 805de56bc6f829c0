// The entries of a list: search, add, remove, import, take back.

import { useState } from 'preact/hooks'
import { ask } from '../ask/ask.ts'
import { tell } from '../ask/notices.ts'
import { useMay } from '../ask/session.ts'
import { AskFirst } from '../parts/dialog.tsx'
import { Panel } from '../parts/panel.tsx'
import { Waiting } from '../parts/problem.tsx'
import { routeTo } from '../route.ts'
import { count, counted } from '../text/figures.ts'
import { AddEntries } from './add-entries.tsx'
import { EntryTable } from './entry-table.tsx'
import { ImportLines } from './import-lines.tsx'
import type { Acted, ListHead } from './list-answers.ts'
import { type Entries, useEntries } from './use-entries.ts'

export function OneList(props: {
  readonly head: ListHead
  readonly add: string
  readonly onChanged: () => void
}) {
  const { head, add, onChanged } = props
  const { name } = head
  const path = `/admin/lists/${encodeURIComponent(name)}`
  const [search, setSearch] = useState('')
  const entries = useEntries(path, search.trim() !== '')
  const mayChange = useMay('analyst')
  const changed = (acted: Acted): void => {
    tell(saidOf(acted))
    entries.again()
    onChanged()
  }
  const act = async (method: 'POST' | 'DELETE', at: string, body = {}): Promise<boolean> => {
    const answer = await ask<Acted>(method, at, body)
    if (answer.kind === 'ok') changed(answer.value)
    else tell(answer.message, true)
    return answer.kind === 'ok'
  }
  const wanted = search.trim().toLowerCase()
  const shown = entries.entries.filter(({ entry, note = '' }) =>
    `${entry} ${note}`.toLowerCase().includes(wanted),
  )
  return (
    <Panel title={name} aside={mayChange && <ListActions head={head} path={path} act={act} />}>
      {mayChange && <AddEntries path={path} first={add} onAdded={changed} />}
      {mayChange && <ImportLines path={path} head={head} onImported={changed} />}
      <label class="field filter">
        <span>
          Search; {counted(shown.length, 'entry', 'entries')}
          {entries.isPart && ` of the first ${count(entries.entries.length)}`}
        </span>
        <input
          type="search"
          value={search}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
      </label>
      <Waiting loaded={entries.loaded} />
      <EntryTable
        entries={shown}
        empty={emptyOf(wanted, entries)}
        remove={
          mayChange
            ? async (entry) => void (await act('DELETE', `${path}/entries`, { entries: [entry] }))
            : undefined
        }
      />
      {entries.isPart && (
        <button type="button" onClick={entries.more}>
          {wanted === '' ? 'More entries' : 'Search further'}
        </button>
      )}
    </Panel>
  )
}

function emptyOf(wanted: string, { entries, isPart }: Entries): string {
  if (wanted === '') return 'No entries.'
  if (!isPart) return 'No entry has this.'
  return `None of the first ${count(entries.length)} entries has this; there are more.`
}

function saidOf({ added, changed, removed, cautions, in_effect }: Acted): string {
  const parts = [`${added} added`, `${changed} changed`, `${removed} removed`]
  const effect = in_effect ? 'every worker has it' : 'the workers will have it in a moment'
  return [`${parts.join(', ')}; ${effect}.`, ...cautions].join(' ')
}

function ListActions(props: {
  readonly head: ListHead
  readonly path: string
  /** Whether it was done. */
  readonly act: (method: 'POST' | 'DELETE', path: string) => Promise<boolean>
}) {
  const { head, path, act } = props
  const { name, entries } = head
  const remove = async (): Promise<void> => {
    if (await act('DELETE', path)) location.hash = routeTo('rules', 'lists')
  }
  return (
    <div class="actions">
      <AskFirst
        label="Undo"
        title={`Undo the last act on ${name}?`}
        text="What it added goes, what it removed comes back."
        yes="Undo it"
        act={async () => void (await act('POST', `${path}/undo`))}
      />
      <AskFirst
        label="Delete"
        title={`Delete the list ${name}?`}
        text={`It goes with its ${counted(entries, 'entry', 'entries')}. Undo can bring it back.`}
        yes="Delete it"
        isDanger
        act={remove}
      />
    </div>
  )
}
