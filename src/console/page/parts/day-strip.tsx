// On which of some days a feed listed an address: a cell a day, from the oldest.

import { kindTone } from '../text/tone.ts'

const cell = 6
const height = 16

/** Listed; on some such days, which ones is not kept; not listed; not read. */
const heights: Readonly<Record<string, number>> = { '1': 14, '~': 8, '0': 4, '-': 1 }

function saidOf(days: string): string {
  const of = (mark: string): number => days.split('').filter((day) => day === mark).length
  const some = of('~') === 0 ? '' : `, on some of ${of('~')} more`
  return `listed on ${of('1')} of ${days.length - of('-')} days that were read${some}`
}

export function DayStrip(props: { readonly days: string; readonly kind: string }) {
  const { days, kind } = props
  const label = saidOf(days)
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${days.length * cell} ${height}`}
      role="img"
      aria-label={label}
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
