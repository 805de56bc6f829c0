// Which feeds list the address, since when, and on which of the last sixty days.

import type { ComponentChild } from 'preact'
import type { AddressView } from '../../../api/admin-answers.ts'
import {
  type Column,
  DataTable,
  freeText,
  plain,
  sorted,
  sortedNumber,
} from '../parts/data-table.tsx'
import { Panel } from '../parts/panel.tsx'
import { kindTag } from '../parts/tag.tsx'
import { percent } from '../text/figures.ts'
import { kindTone } from '../text/tone.ts'

type Strip = AddressView['strips'][number]
type Piece = AddressView['insights']['evidence'][number]

type Row = Strip & { readonly piece: Piece | undefined }

export function Evidence(props: { readonly view: AddressView; readonly children: ComponentChild }) {
  const { strips, insights, first_day: firstDay } = props.view
  return (
    <Panel wide title="Evidence" meaning="evidence" aside={<span>days from {firstDay}</span>}>
      <EvidenceTable label="Evidence by feed" strips={strips} insights={insights} />
      {props.children}
    </Panel>
  )
}

type Shown = Pick<AddressView, 'insights'> & Partial<Pick<AddressView, 'strips'>>

/** Without days where there are no strips. */
export function EvidenceTable({ label, strips, insights }: Shown & { readonly label: string }) {
  const rows = rowsOf(strips ?? [], insights.evidence)
  const { as_of: asOf } = insights.table
  const from = rows.reduce((first, { since }) => (since < first ? since : first), asOf)
  return (
    <DataTable
      label={label}
      columns={columnsOf(from, asOf).filter(({ meaning }) => strips || meaning !== 'strip')}
      rows={rows}
      keyOf={({ feed, kind, piece }) => `${feed} ${kind} ${piece?.matched ?? ''}`}
      empty="No feed lists this address."
    />
  )
}

/** Pieces with their strips, then strips of pieces that no longer count. */
function rowsOf(strips: readonly Strip[], pieces: readonly Piece[]): readonly Row[] {
  const stripOf = ({ feed, kind }: Piece): Strip | undefined =>
    strips.find((strip) => strip.feed === feed && strip.kind === kind)
  const counted = pieces.map((piece): Row => {
    const { feed, kind, first_seen, last_seen } = piece
    const { since = first_seen, until = last_seen, days = '' } = stripOf(piece) ?? {}
    return { feed, kind, since, until, days, piece }
  })
  const alone = strips.filter(
    (strip) => !pieces.some(({ feed, kind }) => feed === strip.feed && kind === strip.kind),
  )
  return [...counted, ...alone.map((strip): Row => ({ ...strip, piece: undefined }))]
}

const columnsOf = (from: string, asOf: string): readonly Column<Row>[] => [
  sorted('Feed', ({ feed }) => feed, freeText),
  sorted('Kind', ({ kind }) => kind, kindTag),
  {
    title: '60 days',
    meaning: 'strip',
    cell: ({ days, kind }) =>
      days === '' ? <span class="quiet">no history</span> : <DayStrip days={days} kind={kind} />,
  },
  {
    title: 'First to last seen',
    by: ({ since }) => since,
    cell: (row) => <Seen {...row} from={from} asOf={asOf} />,
  },
  plain('Matched', ({ piece }) => piece && <code>{piece.matched}</code>),
  sorted('Provider', ({ piece }) => piece?.provider ?? '', freeText),
  plain('Confidence', ({ piece }) => piece?.confidence ?? 'expired'),
  sortedNumber(
    'Weight',
    ({ piece }) => piece?.weight ?? 0,
    (weight, { piece }) => piece && percent(weight),
  ),
]

const dayMs = 86_400_000

/** On the time line from the oldest evidence to the table's day. */
function Seen(props: Row & { readonly from: string; readonly asOf: string }) {
  const { kind, since, until, from, asOf } = props
  const days = (to: string): number => (Date.parse(to) - Date.parse(from)) / dayMs
  const whole = days(asOf) + 1
  return (
    <>
      {whole > 1 && (
        <svg class="bar" aria-hidden="true" preserveAspectRatio="none" viewBox={`0 0 ${whole} 4`}>
          <rect
            class={kindTone(kind)}
            x={days(since)}
            width={Math.max(days(until) - days(since) + 1, whole / 100)}
            height="4"
          />
        </svg>
      )}
      {since === until ? since : `${since} – ${until}`}
    </>
  )
}

const cell = 6
const height = 16

/** Listed; on some of these days; not listed; not read. */
const heights: Readonly<Record<string, number>> = { '1': 14, '~': 8, '0': 4, '-': 1 }

function stripText(days: string): string {
  const of = (mark: string): number => days.split('').filter((day) => day === mark).length
  const some = of('~') === 0 ? '' : `, on some of ${of('~')} more`
  return `listed on ${of('1')} of ${days.length - of('-')} days that were read${some}`
}

function DayStrip({ days, kind }: Pick<Row, 'days' | 'kind'>) {
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${days.length * cell} ${height}`}
      role="img"
      aria-label={stripText(days)}
      preserveAspectRatio="none"
    >
      {days.split('').map((day, at) => (
        <rect
          key={at}
          x={at * cell + 0.5}
          y={height - 1 - (heights[day] ?? 1)}
          width={cell - 1}
          height={heights[day] ?? 1}
          class={day === '1' || day === '~' ? kindTone(kind) : 'tone-rest'}
        />
      ))}
    </svg>
  )
}
