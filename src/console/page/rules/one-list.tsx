// The entries of a list: search, add, remove, import, undo.

import { useEffect, useState } from 'preact/hooks'
import { askOrNotify } from '../ask/ask.ts'
import { notify } from '../ask/notices.ts'
import { useMay } from '../ask/session.ts'
import { useLoad } from '../ask/use-load.ts'
import { type Column, DataTable, freeText, plain, sorted } from '../parts/data-table.tsx'
import { AskFirst } from '../parts/dialog.tsx'
import { TextField } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { Waiting } from '../parts/problem.tsx'
import { routeTo } from '../route.ts'
import { count, counted, utcTime } from '../text/figures.ts'
import {
  type Acted,
  AddEntries,
  ImportLines,
  type ListEntry,
  type ListHead,
} from './add-entries.tsx'

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
    notify(actedText(acted))
    entries.again()
    onChanged()
  }
  const act = async (method: 'POST' | 'DELETE', at: string, body = {}): Promise<boolean> => {
    const acted = await askOrNotify<Acted>(method, at, body)
    if (acted !== undefined) changed(acted)
    return acted !== undefined
  }
  const wanted = search.trim().toLowerCase()
  const part = entries.isPart ? ` of the first ${count(entries.entries.length)}` : ''
  const shown = entries.entries.filter(({ entry, note = '' }) =>
    `${entry} ${note}`.toLowerCase().includes(wanted),
  )
  return (
    <Panel title={name} aside={mayChange && <ListActions head={head} path={path} act={act} />}>
      {mayChange && <AddEntries path={path} first={add} onAdded={changed} />}
      {mayChange && <ImportLines path={path} head={head} onImported={changed} />}
      <TextField
        label={`Search; ${counted(shown.length, 'entry', 'entries')}${part}`}
        place="filter"
        type="search"
        value={search}
        set={setSearch}
      />
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

function actedText({ added, changed, removed, cautions, in_effect }: Acted): string {
  const parts = [`${added} added`, `${changed} changed`, `${removed} removed`]
  const effect = in_effect ? 'every worker has it' : 'the workers will have it in a moment'
  return [`${parts.join(', ')}; ${effect}.`, ...cautions].join(' ')
}

function ListActions(props: {
  readonly head: ListHead
  readonly path: string
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

function EntryTable(props: {
  readonly entries: readonly ListEntry[]
  /** `undefined`: not allowed. */
  readonly remove: ((entry: string) => Promise<void>) | undefined
  readonly empty: string
}) {
  const { entries, remove, empty } = props
  const change = plain<ListEntry>(
    'Change',
    ({ entry }) =>
      remove && (
        <AskFirst
          label="Remove"
          about={entry}
          title={`Remove ${entry}?`}
          text="Undo can bring it back."
          yes="Remove it"
          isDanger
          act={() => remove(entry)}
        />
      ),
  )
  return (
    <DataTable
      label="Entries"
      columns={remove === undefined ? columns : [...columns, change]}
      rows={entries}
      keyOf={({ entry }) => entry}
      empty={empty}
    />
  )
}

const columns: readonly Column<ListEntry>[] = [
  plain('Entry', ({ entry }) => <code>{entry}</code>),
  sorted(
    'Until',
    ({ expires = '9' }) => expires,
    (until) => (until === '9' ? 'always' : utcTime(until)),
  ),
  sorted('Note', ({ note = '' }) => note, freeText),
  sorted('Added', ({ added }) => added, utcTime),
]

// Loads a list page by page; a search reads ten pages, and ten more on request.

interface Page {
  readonly shown: readonly ListEntry[]
  readonly next: string | null
}

const searchedMax = 10_000

type Entries = ReturnType<typeof useEntries>

function useEntries(path: string, isSearched: boolean) {
  const loaded = useLoad<Page>(path)
  const { value: first, again } = loaded
  const [later, setLater] = useState<readonly Page[]>([])
  useEffect(() => setLater([]), [first])
  const entries = [first, ...later].flatMap((page) => page?.shown ?? [])
  const next = (later.at(-1) ?? first)?.next ?? null
  const [searchedTo, setSearchedTo] = useState(searchedMax)
  const read = async (): Promise<void> => {
    if (next === null) return
    const page = await askOrNotify<Page>('GET', `${path}?${new URLSearchParams({ after: next })}`)
    if (page !== undefined) setLater([...later, page])
  }
  useEffect(() => {
    if (isSearched && entries.length < searchedTo) void read()
  }, [isSearched, next])
  const more = (): void => {
    if (isSearched) setSearchedTo(entries.length + searchedMax)
    void read()
  }
  return { loaded, entries, isPart: next !== null, more, again }
}
