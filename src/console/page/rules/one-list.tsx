// The entries of a list: search, add, remove, import, undo.

import { useEffect, useState } from 'preact/hooks'
import type { entryJson } from '../../../lists/list-text.ts'
import { askOrNotify } from '../ask/ask.ts'
import { notify } from '../ask/notices.ts'
import { useMay } from '../ask/session.ts'
import { useAsk, useLoad } from '../ask/use-load.ts'
import { type Column, DataTable, freeText, plain, sorted } from '../parts/data-table.tsx'
import { AskFirst, Question } from '../parts/dialog.tsx'
import { TextField, Choice, Form, LinesField, Tick } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { Waiting, Problem } from '../parts/problem.tsx'
import { routeTo } from '../route.ts'
import { count, counted, utcTime } from '../text/figures.ts'
import { FileDrop } from '../parts/file-drop.tsx'

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
    const undo = (): void => void act('POST', `${path}/undo`)
    notify(actedText(acted), false, acted.act === 'undo' ? undefined : undo)
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
          {wanted === '' ? 'More entries' : 'Continue'}
        </button>
      )}
    </Panel>
  )
}

function emptyOf(wanted: string, { entries, isPart }: Entries): string {
  if (wanted === '') return 'No entries.'
  if (!isPart) return 'No entry matches.'
  return `None of the first ${count(entries.length)} entries match; there are more.`
}

function actedText({ added, changed, removed, cautions, in_effect }: Acted): string {
  const counts = { added, changed, removed }
  const parts = Object.entries(counts).flatMap(([what, n]) => (n > 0 ? `${count(n)} ${what}` : []))
  const effect = in_effect ? 'in effect' : 'in effect in a moment'
  return [`${parts.join(', ') || 'Nothing changed'}; ${effect}.`, ...cautions].join(' ')
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
        title={`Undo the last change of ${name}?`}
        text="Entries that it added are removed, and entries that it removed are restored."
        yes="Undo it"
        act={async () => void (await act('POST', `${path}/undo`))}
      />
      <AskFirst
        label="Delete"
        title={`Delete the list ${name}?`}
        text={`Its ${counted(entries, 'entry', 'entries')} are deleted with it. Undo restores them.`}
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
    'Actions',
    ({ entry }) =>
      remove && (
        <AskFirst
          label="Remove"
          about={entry}
          title={`Remove ${entry}?`}
          text="Undo restores it."
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

/** The parts shown of src/admin/routes/lists-api.ts's answers. */
export interface ListHead {
  readonly name: string
  readonly effect: 'none' | 'allow' | 'block'
  readonly entries: number
  readonly created: string
}

export type ListEntry = ReturnType<typeof entryJson>

interface Acted {
  readonly act?: string
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly cautions: readonly string[]
  readonly in_effect: boolean
}

const spans = [['', 'always'], '1h', '12h', '1d', '7d', '30d', '90d', '365d'] as const

const entriesIn = (text: string): readonly string[] =>
  text
    .split(/[\n,]/)
    .map((one) => one.trim())
    .filter(Boolean)

function AddEntries(props: {
  readonly path: string
  readonly first: string
  readonly onAdded: (acted: Acted) => void
}) {
  const { path, first, onAdded } = props
  const [text, setText] = useState(first)
  const [span, setSpan] = useState('')
  const [note, setNote] = useState('')
  const [isForced, setForced] = useState(false)
  const { send, refusal } = useAsk()
  const add = async (): Promise<void> => {
    const acted = await send<Acted>('POST', `${path}/entries`, {
      entries: entriesIn(text),
      for: span || undefined,
      note: note || undefined,
      force: isForced || undefined,
    })
    if (acted === undefined) return
    setText('')
    setNote('')
    onAdded(acted)
  }
  return (
    <Form class="add-entries" send={add}>
      <LinesField
        label="Addresses, prefixes, ranges, AS numbers"
        place="grow"
        rows={2}
        required
        placeholder="192.0.2.0/24"
        value={text}
        set={setText}
      />
      <Choice label="For" value={span} options={spans} choose={setSpan} />
      <TextField label="Note" place="grow" maxLength={200} value={note} set={setNote} />
      <Tick label="allow very wide entries" isOn={isForced} set={setForced} />
      <button type="submit" class="primary">
        Add
      </button>
      <Problem refusal={refusal} />
    </Form>
  )
}

interface Previewed extends Acted {
  readonly preview: { readonly lines: readonly string[]; readonly needs_force: boolean }
}

interface Asked {
  readonly lines: readonly string[]
  readonly would: Previewed
}

/** Larger files need `iprisk lists import`. */
const linesMax = 10_000
const fileBytesMax = 1_500_000

function ImportLines(props: {
  readonly path: string
  readonly head: ListHead
  readonly onImported: (acted: Acted) => void
}) {
  const { path, head, onImported } = props
  const [isWhole, setWhole] = useState(false)
  const [asked, setAsked] = useState<Asked | undefined>(undefined)
  const { send, refusal, setRefusal } = useAsk()
  const take = async (text: string): Promise<void> => {
    // Keeps empty lines: errors refer to line numbers.
    const lines = text.trimEnd().split(/\r?\n/)
    if (lines.length > linesMax) {
      const message = `The file has ${lines.length} lines; the limit here is ${linesMax}. Use "iprisk lists import".`
      return setRefusal({ kind: 'refused', status: 0, code: '', message, mistakes: [] })
    }
    const preview = { lines, replace: isWhole, preview: true }
    const would = await send<Previewed>('POST', `${path}/import`, preview)
    if (would !== undefined) setAsked({ lines, would })
  }
  const go = async ({ lines, would }: Asked): Promise<void> => {
    setAsked(undefined)
    // The user has seen what it is needed for.
    const force = would.preview.needs_force || undefined
    const acted = await send<Acted>('POST', `${path}/import`, { lines, replace: isWhole, force })
    if (acted !== undefined) onImported(acted)
  }
  return (
    <>
      {asked !== undefined && (
        <Question
          title={isWhole ? `Replace the entries of ${head.name}?` : `Import into ${head.name}?`}
          text={previewText(asked.would)}
          yes={isWhole ? 'Replace entries' : 'Import'}
          isDanger={isWhole || asked.would.preview.needs_force}
          act={() => void go(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
      <details>
        <summary>Import a file</summary>
        <div class="actions">
          <FileDrop
            label="File of entries: one per line, CSV, JSON, or a firewall’s"
            bytesMax={fileBytesMax}
            whenTooLarge={'Import it with "iprisk lists import".'}
            onText={(text) => void take(text)}
          />
          <Tick label="replace existing entries" isOn={isWhole} set={setWhole} />
        </div>
        <Problem refusal={refusal} />
      </details>
    </>
  )
}

function previewText({ preview, added, changed, removed, cautions }: Previewed): string {
  const counts = `${added} would be added, ${changed} changed, ${removed} removed`
  return `${[...preview.lines, ...cautions, counts].join('. ')}. Undo reverts it.`
}
