// What one metric is: a name, a type, a line of help, and samples with their labels.

export type MetricSample = readonly [
  labels: Readonly<Record<string, string | number>>,
  value: number,
]

export interface MetricFamily {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
  readonly labels: readonly string[]
  readonly samples: readonly MetricSample[]
}

/** A family without labels: one sample, or none where there is no value just now. */
export function singleSample(
  type: MetricFamily['type'],
  name: string,
  help: string,
  value: number | undefined,
): MetricFamily {
  return { name, type, help, labels: [], samples: value === undefined ? [] : [[{}, value]] }
}

/** Seconds since the epoch. */
export function instant(text: string | null | undefined): number | undefined {
  return text === null || text === undefined ? undefined : Date.parse(text) / 1000
}
