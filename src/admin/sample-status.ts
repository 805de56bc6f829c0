// What the primary says of the sample of traffic, in /status and by a metric.

export interface SampleStatus {
  /** How many checks it holds at most. */
  readonly size: number
  readonly checks: number
  /** The day of its oldest check; null while it has none. */
  readonly since: string | null
}
