// Everything that a scrape can show, all of it at once, for tests of the metrics and their table.

import type { Day } from '../../src/base/day.ts'
import { emptyCounterSnapshot } from '../../src/http/exchange/request-counters.ts'
import type { ScrapeData } from '../../src/admin/metric-families.ts'
import {
  type TableRefusalCode,
  tableRefusalCodes,
} from '../../src/supervisor/tables/table-refusal.ts'

/** What a server begins with. */
export const noRefusals = Object.fromEntries(
  tableRefusalCodes.map((code) => [code, 0]),
) as Readonly<Record<TableRefusalCode, number>>

const at = '2026-08-22T12:00:00.000Z'

export const gathered: ScrapeData = {
  total: emptyCounterSnapshot,
  workers: [{ worker: 1, counters: emptyCounterSnapshot }],
  listening: 1,
  workerStatuses: [
    { worker: 1, pid: 1, listening: true, retired: false, privateBytes: 1000, openFiles: 30 },
  ],
  restarts: { crash: 0, hang: 0, memory: 0 },
  degraded: false,
  table: {
    id: '20260822-0123',
    asOf: 20_687 as Day,
    bytes: 1000,
    sources: [{ id: 'tor', day: 20_686 as Day, quarantined: false }],
  },
  tables: {
    swaps: 1,
    refusals: 1,
    refusals_by: { ...noRefusals, damaged: 1 },
    previous: null,
    held: null,
    last_swap: {
      at,
      table: '20260822-0123',
      from: null,
      took_ms: 1500,
      stall_ms: 1,
      stall_cpu_ms: 1,
    },
    last_refusal: {
      at,
      path: '/table',
      code: 'damaged',
      reason: 'Its section networks is broken.',
    },
  },
  refresh: {
    every_ms: 3_600_000,
    running: false,
    next_at: at,
    runs: 2,
    failures: 1,
    last_success_at: at,
    last_failure: { at, reason: 'The disk is full.' },
  },
  ready: true,
  now: Date.parse(at),
}
