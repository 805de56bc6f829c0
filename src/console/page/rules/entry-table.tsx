// Entries of a list, each with how long it counts, why, and a way to take it out.

import { AskFirst } from '../parts/dialog.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { utcTime } from '../text/figures.ts'
import type { ListEntry } from './list-answers.ts'

export function EntryTable(props: {
  readonly entries: readonly ListEntry[]
  /** `undefined`: nobody may. */
  readonly remove: ((entry: string) => Promise<void>) | undefined
  readonly empty: string
}) {
  const { entries, remove, empty } = props
  const act: readonly Column<ListEntry>[] =
    remove === undefined
      ? []
      : [
          {
            id: 'act',
            title: 'Change',
            cell: ({ entry }) => (
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
          },
        ]
  return (
    <DataTable
      label="Entries"
      columns={[...columns, ...act]}
      rows={entries}
      keyOf={({ entry }) => entry}
      empty={empty}
    />
  )
}

const columns: readonly Column<ListEntry>[] = [
  { id: 'entry', title: 'Entry', cell: ({ entry }) => <code>{entry}</code> },
  {
    id: 'expires',
    title: 'Until',
    by: ({ expires = '9' }) => expires,
    cell: ({ expires }) => (expires === undefined ? 'always' : utcTime(expires)),
  },
  {
    id: 'note',
    title: 'Note',
    by: ({ note = '' }) => note,
    cell: ({ note }) => <span class="free">{note}</span>,
  },
  { id: 'added', title: 'Added', by: ({ added }) => added, cell: ({ added }) => utcTime(added) },
]
