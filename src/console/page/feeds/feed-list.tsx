// The feeds of the table, with how much each holds and held.

import { useState } from 'preact/hooks'
import type { FeedsView } from '../../../api/admin-answers.ts'
import { type Column, DataTable, freeText, sorted, sortedNumber } from '../parts/data-table.tsx'
import { TextField } from '../parts/fields.tsx'
import { kindTag } from '../parts/tag.tsx'
import { count, counted } from '../text/figures.ts'

type Feed = FeedsView['feeds'][number]

export function FeedList({ feeds }: { readonly feeds: readonly Feed[] }) {
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
        empty="No feed has this in its name."
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
    title: 'Sixty days',
    meaning: 'entries',
    cell: ({ history }) => <SparkLine values={history} />,
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
  sorted('Of', ({ day }) => day),
  sorted(
    'State',
    ({ quarantined }) => (quarantined === null ? 1 : 0),
    (isUsed) => (isUsed ? 'in use' : <span class="warn">quarantine</span>),
  ),
  sorted('Licence', ({ licence }) => licence, freeText),
]

// Days without a number leave a gap.

const width = 120
const height = 24

function SparkLine({ values }: { readonly values: readonly (number | null)[] }) {
  const known = values.filter((value) => value !== null)
  if (known.length === 0) return <span class="quiet">no history</span>
  const most = Math.max(...known, 1)
  const step = width / Math.max(1, values.length - 1)
  const label = `from ${count(known[0]!)} to ${count(known.at(-1)!)} in ${values.length} days`
  let isGap = true
  const path = values
    .map((value, at) => {
      if (value === null) {
        isGap = true
        return ''
      }
      const y = height - 2 - ((height - 4) * value) / most
      const move = isGap ? 'M' : 'L'
      isGap = false
      return `${move}${(at * step).toFixed(1)} ${y.toFixed(1)}`
    })
    .join('')
  return (
    <svg class="spark" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <path d={path} />
    </svg>
  )
}
