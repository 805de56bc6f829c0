// Spans of time as an operator writes them: `90s`, `30m`, `1h`, `1d`, or `off`.

const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Milliseconds; 0 for `off`, NaN for what is no such span. */
export function parseDurationMs(text: string): number {
  if (text === 'off') return 0
  const [, count, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? []
  return unit === undefined ? NaN : Number(count) * unitsMs[unit as keyof typeof unitsMs]
}

/** Of `90d`, 90; `undefined` for what is no span of whole days. */
export function parseDays(text: string): number | undefined {
  const [, count] = /^([1-9]\d{0,4})d$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count)
}
