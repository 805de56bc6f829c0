// `iprisk feedback report`: how well classes, levels, rules and feeds match the reported outcomes.
// An address counts once, by its last outcome. Shares have 95 % intervals, because many rows are
// small.
// The one catch: addresses are judged by the given table, so a feed that has learned of an
// address since then looks better than it was. An older table shows what was known.

import { formatDay } from '../../base/day.ts'
import { alignColumns } from '../../base/text/align-columns.ts'
import { formatCount } from '../../base/text/number-format.ts'
import { feedsOf } from '../../compare/replay.ts'
import type { Settings } from '../../config/settings.ts'
import { lastOutcomes } from '../../feedback/feedback-files.ts'
import { wilsonShare } from '../../feedback/wilson-share.ts'
import { newAddressWords } from '../../ip/address.ts'
import { parseAddress } from '../../ip/parse-address.ts'
import type { ChosenPolicy } from '../../model/policy-form.ts'
import { decide, newDecisionMemory } from '../../policy/decision-memory.ts'
import { offlinePolicy } from '../../policy/offline-policy.ts'
import { compilePolicies } from '../../policy/policy.ts'
import { locate, newLocated } from '../../table/lookup/locate.ts'
import type { OpenTable } from '../../table/open-table.ts'
import { pinTable } from '../lines/pin-table.ts'
import { type Io, printResult } from '../terminal/io.ts'

export async function feedbackReportCommand(settings: Settings, io: Io): Promise<void> {
  const { state, table, policies, invocation: how } = settings
  const policy = await offlinePolicy(policies, how.policy, io.err)
  const pinned = await pinTable(table, how.lists)
  try {
    const report = await feedbackReport(state, pinned.table, policy)
    printResult(io, how.json, report, () => reportLines(report, how.top))
  } finally {
    pinned.close()
  }
}

function reportLines(report: FeedbackReport, top: number): readonly string[] {
  const { outcomes, all, classes, levels, rules, feeds, table } = report
  const addresses = `${formatCount(outcomes)} outcomes about ${formatCount(all.addresses)} addresses`
  return [
    `${addresses}, of which ${formatCount(all.abusive)} abusive (${all.percent} %)`,
    ...section('class', classes),
    ...section('level', levels),
    ...(rules === undefined ? [] : section('action and rule', rules)),
    ...section('feed', feeds.slice(0, top)),
    '',
    `table ${table.id}, as of ${table.as_of}; 95 % intervals; each address counts once`,
  ]
}

function section(title: string, rows: readonly OutcomeRow[]): readonly string[] {
  const head = [title, 'addresses', 'abusive', 'share', 'interval']
  const cells = rows.map((row) => [
    row.name,
    formatCount(row.addresses),
    formatCount(row.abusive),
    `${row.percent.toFixed(1)} %`,
    `${row.low.toFixed(1)} to ${row.high.toFixed(1)} %`,
  ])
  return ['', ...alignColumns([head, ...cells], 1)]
}

type OutcomeRow = ReturnType<typeof rowOf>

export type FeedbackReport = Awaited<ReturnType<typeof feedbackReport>>

interface Tally {
  addresses: number
  abusive: number
}

async function feedbackReport(state: string, table: OpenTable, policy: ChosenPolicy | undefined) {
  const { count: outcomes, outcomes: last } = await lastOutcomes(state)
  const tallies = {
    all: new Map<string, Tally>(),
    classes: new Map<string, Tally>(),
    levels: new Map<string, Tally>(),
    rules: new Map<string, Tally>(),
    feeds: new Map<string, Tally>(),
  }
  const ruleOf = policy === undefined ? undefined : rulesOf(table, policy)
  const words = newAddressWords()
  const located = newLocated()
  for (const { address, outcome } of last.values()) {
    const answer = table.check(address)
    const family = parseAddress(address, words)
    if (answer === undefined || family === 0) continue
    locate(table.reader.views, family, words, located)
    const isAbusive = outcome === 'abusive'
    count(tallies.all, 'all', isAbusive)
    count(tallies.classes, answer.classification, isAbusive)
    count(tallies.levels, answer.risk_level, isAbusive)
    for (const feed of feedsOf(table, located)) count(tallies.feeds, feed, isAbusive)
    if (ruleOf !== undefined) count(tallies.rules, ruleOf(words, located), isAbusive)
  }
  const [all = rowOf('all', { addresses: 0, abusive: 0 })] = rowsOf(tallies.all)
  return {
    table: { id: table.id, as_of: formatDay(table.asOf) },
    /** All reports; `all` has the addresses. */
    outcomes,
    all,
    classes: rowsOf(tallies.classes),
    levels: rowsOf(tallies.levels),
    /** Keyed by action and rule; `undefined` where there are no policies. */
    rules: policy && rowsOf(tallies.rules),
    feeds: rowsOf(tallies.feeds),
  }
}

type RuleOf = (words: Uint32Array, located: ReturnType<typeof newLocated>) => string

/** `block tor-exits`; only the action if no rule decided. */
function rulesOf(table: OpenTable, { revision, name, rules }: ChosenPolicy): RuleOf {
  const set = compilePolicies({ revision, policies: { [name]: rules } })
  const memory = newDecisionMemory(set, table.reader)
  return (words, located) => {
    const outcome = set.policies[0]!.outcomes
    const { action, rule } = outcome[decide(memory, 0, words, located)]!.decision
    return rule === '' ? action : `${action} ${rule}`
  }
}

function count(tallies: Map<string, Tally>, name: string, isAbusive: boolean): void {
  const tally = tallies.get(name) ?? { addresses: 0, abusive: 0 }
  tallies.set(name, tally)
  tally.addresses += 1
  if (isAbusive) tally.abusive += 1
}

function rowsOf(tallies: ReadonlyMap<string, Tally>): readonly OutcomeRow[] {
  return [...tallies]
    .map(([name, tally]) => rowOf(name, tally))
    .sort((a, b) => b.addresses - a.addresses || (a.name < b.name ? -1 : 1))
}

/** With the abusive share in percent, and its interval. */
function rowOf(name: string, { addresses, abusive }: Readonly<Tally>) {
  const { share, low, high } = wilsonShare(abusive, addresses)
  const percent = addresses === 0 ? 0 : percentOf(share)
  return { name, addresses, abusive, percent, low: percentOf(low), high: percentOf(high) }
}

const percentOf = (share: number): number => Math.round(share * 10_000) / 100
