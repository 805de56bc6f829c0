// Figures as people read them, in reports and on terminals.

/** `1,234,567`. */
export function count(value: number): string {
  return value.toLocaleString('en-US')
}

/** Millions of bytes with one decimal, without the unit. */
export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}

/** An instant to the second, ISO 8601, UTC; `ms` since the epoch. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
