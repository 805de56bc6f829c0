// Prometheus text; the only home of prom-client. Runs in the primary, once per scrape. A counter
// never falls while the primary lives: the counts of dead workers stay in the sum.

import { Counter, Gauge, type Metric, Registry, collectDefaultMetrics } from 'prom-client'
import {
  type CounterSnapshot,
  durationBounds,
  counterTotals,
} from '../../observe/request-counters.ts'
import { metricFamilies, type MetricFamily, type ScrapeData } from './metric-families.ts'

/** prom-client's other metrics break its own naming rule (gauges `nodejs_…_total`), or say little
 * about a process that answers no checks. */
const processMetrics: ReadonlySet<string> = new Set([
  'process_cpu_seconds_total',
  'process_max_fds',
  'process_open_fds',
  'process_resident_memory_bytes',
  'process_start_time_seconds',
])

const neverMs = 2 ** 31 - 1

export function createPrometheusText() {
  const process = new Registry()
  // Its gauges of the loop go with the rest, but would wake the primary a hundred times a second.
  collectDefaultMetrics({ register: process, eventLoopMonitoringPrecision: neverMs })
  for (const { name } of process.getMetricsAsArray()) {
    if (!processMetrics.has(name)) process.removeSingleMetric(name)
  }
  return {
    contentType: process.contentType,
    text: async (gathered: ScrapeData): Promise<string> =>
      `${await registryOf(gathered).metrics()}\n${await process.metrics()}`,
  }
}

function registryOf(gathered: ScrapeData): Registry {
  const registry = new Registry()
  for (const [name, family] of Object.entries(metricFamilies(gathered))) {
    register(registry, name, family)
  }
  registry.registerMetric(durationHistogram(gathered.total))
  return registry
}

function register(registry: Registry, name: string, { help, labels, samples }: MetricFamily): void {
  const settings = { name, help, labelNames: labels, registers: [] }
  // Without labels prom-client shows 0 for a missing value: such a family is left out.
  if (labels.length === 0 && samples.length === 0) return
  if (name.endsWith('_total')) {
    const counter = new Counter(settings)
    for (const [of, value] of samples) counter.inc({ ...of }, value)
    registry.registerMetric(counter)
  } else {
    const gauge = new Gauge(settings)
    for (const [of, value] of samples) gauge.set({ ...of }, value)
    registry.registerMetric(gauge)
  }
}

/** prom-client's histograms take no counts; a registry only needs `get`. */
function durationHistogram(total: CounterSnapshot): Metric {
  const name = 'iprisk_request_duration_seconds'
  let count = 0
  const values: { metricName: string; labels: { le?: number | string }; value: number }[] =
    total.durations.map((added, i) => {
      count += added
      const le = durationBounds[i] ?? '+Inf'
      return { metricName: `${name}_bucket`, labels: { le }, value: count }
    })
  const { durationMsSum } = counterTotals(total)
  values.push(
    { metricName: `${name}_sum`, labels: {}, value: durationMsSum / 1000 },
    { metricName: `${name}_count`, labels: {}, value: count },
  )
  const metric = {
    name,
    help: 'Request duration from headers read to answer written, in seconds.',
    type: 'histogram',
    values,
  }
  return { name, get: async () => metric } as unknown as Metric
}
