// A sortable, paged table that scrolls by itself, also by keyboard.

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { count } from '../text/figures.ts'
import { Meaning } from './panel.tsx'

export interface Column<Row> {
  /** Another than those of the other columns. */
  readonly title: string
  readonly meaning?: string
  readonly isNumber?: boolean
  /** The sort key; without it the column does not sort. */
  readonly by?: (row: Row) => string | number
  readonly cell: (row: Row) => ComponentChildren
}

export const plain = <Row,>(title: string, cell: Column<Row>['cell']): Column<Row> => {
  return { title, cell }
}

/** Sorts by what it shows. */
export const sorted = <Row, Value extends string | number>(
  title: string,
  by: (row: Row) => Value,
  show: (value: Value, row: Row) => ComponentChildren = (value) => value,
): Column<Row> => ({ title, by, cell: (row) => show(by(row), row) })

export const sortedNumber = <Row,>(
  title: string,
  by: (row: Row) => number,
  show: (value: number, row: Row) => ComponentChildren = count,
): Column<Row> => ({ ...sorted(title, by, show), isNumber: true })

export const freeText = (text: ComponentChildren): ComponentChildren => (
  <span class="free">{text}</span>
)

interface Order {
  readonly title: string
  readonly isDown: boolean
}

const pageRows = 100

export function DataTable<Row>(props: {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly empty?: string
}) {
  const { label, columns, rows, keyOf, empty = 'Nothing here.' } = props
  const [order, setOrder] = useState<Order | undefined>(undefined)
  const [page, setPage] = useState(0)
  const sorted = useMemo(() => inOrder(rows, columns, order), [rows, columns, order])
  const pages = Math.max(1, Math.ceil(sorted.length / pageRows))
  const at = Math.min(page, pages - 1)
  const shown = sorted.slice(at * pageRows, (at + 1) * pageRows)
  const box = useFocusedBox()
  const go = (to: number): void => {
    setPage(to)
    if (box.current !== null) box.current.scrollTop = 0
  }
  if (rows.length === 0) return <p class="quiet">{empty}</p>
  return (
    <>
      <div ref={box} class="scroll" role="group" aria-label={label} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <Head key={column.title} column={column} order={order} setOrder={setOrder} />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={keyOf(row)}>
                {columns.map(({ title, isNumber = false, cell }) => (
                  <td key={title} class={isNumber ? 'number' : undefined}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pages > 1 && <Pager at={at} pages={pages} rows={sorted.length} go={go} />}
    </>
  )
}

/** Takes over the focus of a removed row. */
function useFocusedBox() {
  const box = useRef<HTMLDivElement>(null)
  const hasFocus = box.current?.contains(document.activeElement) === true
  useLayoutEffect(() => {
    if (hasFocus && document.activeElement === document.body) box.current?.focus()
  })
  return box
}

function inOrder<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  order: Order | undefined,
): readonly Row[] {
  const by = columns.find(({ title }) => title === order?.title)?.by
  if (by === undefined) return rows
  const sign = order?.isDown === true ? -1 : 1
  const keyed = rows.map((row) => ({ row, key: by(row) }))
  return keyed
    .toSorted((a, b) => (a.key === b.key ? 0 : (a.key < b.key ? -1 : 1) * sign))
    .map(({ row }) => row)
}

function Head<Row>(props: {
  readonly column: Column<Row>
  readonly order: Order | undefined
  readonly setOrder: (order: Order) => void
}) {
  const { column, order, setOrder } = props
  const { title, meaning, isNumber = false, by } = column
  const isSorted = order?.title === title
  const direction = order?.isDown === true ? 'descending' : 'ascending'
  const label = meaning === undefined ? title : <Meaning of={meaning}>{title}</Meaning>
  // The first click sorts numbers descending, names ascending.
  const next = isSorted ? !order.isDown : isNumber
  return (
    <th
      scope="col"
      class={isNumber ? 'number' : undefined}
      aria-sort={by && (isSorted ? direction : 'none')}
    >
      {by === undefined ? (
        label
      ) : (
        <button type="button" class="sort" onClick={() => setOrder({ title, isDown: next })}>
          {title}
          <span class="sort-mark" aria-hidden="true">
            {isSorted ? (order.isDown ? '↓' : '↑') : '↕'}
          </span>
        </button>
      )}
    </th>
  )
}

function Pager(props: {
  readonly at: number
  readonly pages: number
  readonly rows: number
  readonly go: (page: number) => void
}) {
  const { at, pages, rows, go } = props
  return (
    <nav class="pager" aria-label="Pages of the table">
      <button type="button" disabled={at === 0} onClick={() => go(at - 1)}>
        Previous
      </button>
      <span aria-live="polite">
        {count(at * pageRows + 1)}–{count(Math.min(rows, (at + 1) * pageRows))} of {count(rows)}
      </span>
      <button type="button" disabled={at === pages - 1} onClick={() => go(at + 1)}>
        Next
      </button>
    </nav>
  )
}
