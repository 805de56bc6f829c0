// Numbers by day or hour as a line; those without a number leave a gap.

import { count } from '../text/figures.ts'

const width = 120
const height = 24

export function SparkLine(props: {
  readonly values: readonly (number | null)[]
  readonly unit: 'days' | 'hours'
}) {
  const { values, unit } = props
  const known = values.filter((value) => value !== null)
  if (known.length === 0) return <span class="quiet">no history</span>
  const most = Math.max(...known, 1)
  const step = width / Math.max(1, values.length - 1)
  const label = `from ${count(known[0]!)} to ${count(known.at(-1)!)} in ${values.length} ${unit}`
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
