// Everything that a scrape can show, all of it at once, for tests of the metrics and their table.

import type { Day } from '../../src/base/day.ts'
import { emptyCounterSnapshot } from '../../src/observe/request-counters.ts'
import { type PullRefusalCode, pullRefusalCodes } from '../../src/publish/fetch/pull-refusal.ts'
import type { ScrapeData } from '../../src/admin/metrics/metric-families.ts'
import {
  type TableRefusalCode,
  tableRefusalCodes,
} from '../../src/supervisor/tables/table-refusal.ts'

/** What a server begins with. */
export const noRefusals = Object.fromEntries(
  tableRefusalCodes.map((code) => [code, 0]),
) as Readonly<Record<TableRefusalCode, number>>

const noPullRefusals = Object.fromEntries(pullRefusalCodes.map((code) => [code, 0])) as Readonly<
  Record<PullRefusalCode, number>
>

const at = '2026-08-22T12:00:00.000Z'

export const gathered: ScrapeData = {
  total: {
    ...emptyCounterSnapshot,
    countries: { SE: [1, 0, 0, 0, 0] },
    providers: { Mullvad: [0, 0, 1, 0, 0] },
    decisions: { 'default\thigh-score\tchallenge': [1] },
    observed: { 'default\tvpn\t': [1] },
  },
  workers: [{ worker: 1, counters: emptyCounterSnapshot }],
  listening: 1,
  workerStatuses: [
    { worker: 1, pid: 1, listening: true, retired: false, privateBytes: 1000, openFiles: 30 },
  ],
  adminRefusals: { admin_bodies_full: 0, admin_body_late: 0, too_many_logins: 1, wrong_token: 2 },
  restarts: { crash: 0, hang: 0, memory: 0 },
  degraded: false,
  table: {
    id: '20260822-0123',
    asOf: 20_687 as Day,
    bytes: 1000,
    coverage: [
      { kind: 'tor', state: 'full', newest: 20_686 as Day, addresses: 1400 },
      { kind: 'vpn', state: 'missing', newest: undefined, addresses: 0 },
    ],
    sources: [{ id: 'tor', day: 20_686 as Day, quarantined: false, entries: 7 }],
  },
  policies: {
    path: 'policies.json',
    revision: '0123456789abcdef',
    names: ['default'],
    warnings: [],
    last_failure: null,
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
    last_trial: {
      at,
      table: '20260822-0123',
      refused: false,
      counted: 'decisions',
      sampled: 1000,
      changed: 10,
      percent: 1,
      max_percent: 2,
      changes: [{ from: 'allow', to: 'block', checks: 10 }],
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
  source: {
    url: 'https://tables.example.org/world',
    every_ms: 15_000,
    up: false,
    looks: 3,
    last_success_at: at,
    refusals_by: { ...noPullRefusals, signature: 1 },
    last_refusal: { at, code: 'signature', reason: 'It is not signed.' },
    serial: 1,
    offered: '20260822-0123',
    pulling: false,
    pulled_bytes: 1000,
    last_pull: { at, table: '20260822-0123', parts: 2, bytes: 1000, reused_bytes: 0, took_ms: 20 },
  },
  lists: { known: true, lists: 1, entries: 2, tag: '3-abc', failure: '' },
  ready: true,
  now: Date.parse(at),
}
