// The metrics of a server that takes published tables (--table-url); without samples where it takes
// none.

import { pullRefusalCodes } from '../../publish/fetch/pull-refusal.ts'
import type { TablePullStatus } from '../../supervisor/tables/table-pull.ts'
import { type MetricFamily, instant, singleSample } from './metric-family.ts'

/** Of a server that takes published tables. */
export function sourceFamilies(source: TablePullStatus | undefined): readonly MetricFamily[] {
  const last = source?.last_pull ?? null
  return [
    singleSample(
      'gauge',
      'iprisk_source_up',
      '1 while --table-url has nothing that is refused here or cannot be had.',
      source === undefined ? undefined : Number(source.up),
    ),
    {
      name: 'iprisk_source_refusals_total',
      type: 'counter',
      help: 'Looks at --table-url that brought nothing that may be taken, by why.',
      labels: ['reason'],
      samples:
        source === undefined
          ? []
          : pullRefusalCodes.map((reason) => [{ reason }, source.refusals_by[reason]]),
    },
    singleSample(
      'gauge',
      'iprisk_source_last_success_timestamp_seconds',
      'When the manifest of --table-url was taken last, or was the same as before.',
      instant(source?.last_success_at),
    ),
    singleSample(
      'counter',
      'iprisk_source_pulled_bytes_total',
      'Bytes of parts that came from --table-url.',
      source?.pulled_bytes,
    ),
    singleSample(
      'gauge',
      'iprisk_source_last_pull_duration_seconds',
      'From the manifest to the last table being whole on this machine.',
      last === null ? undefined : last.took_ms / 1000,
    ),
  ]
}
