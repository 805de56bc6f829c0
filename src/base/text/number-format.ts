// Numbers for people.

/** `1,234,567`. */
export const formatCount = (value: number): string => value.toLocaleString('en-US')

/** `1 entry`, `1,234 entries`. */
export const formatCounted = (value: number, one: string, many: string): string =>
  `${formatCount(value)} ${value === 1 ? one : many}`

export const formatMegabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)

/** ISO 8601, UTC; `ms` since the epoch. */
export const formatTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** `3 days 4 h`, `4 h 12 min`, `12 min 5 s`, `5 s`. */
export function formatTimeSpan(seconds: number): string {
  const whole = Math.round(seconds)
  const parts = [
    [Math.floor(whole / 86_400), 'days'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ] as const
  const first = parts.findIndex(([amount]) => amount > 0)
  if (first < 0) return '0 s'
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit === 'days' && amount === 1 ? 'day' : unit}`)
    .join(' ')
}
