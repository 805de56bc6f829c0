// `iprisk policy test`: what a policy would have decided for the addresses in files; also what its
// report shares with that of `iprisk replay`.

import { existsSync } from 'node:fs'
import { usageError } from '../../base/coded-error.ts'
import { formatCount, formatCounted } from '../../base/text/number-format.ts'
import type { Invocation } from '../../config/settings.ts'
import { alignColumns } from '../../base/text/align-columns.ts'
import { newDecisionMemory } from '../../policy/decision-memory.ts'
import { defaultPolicyName } from '../../model/policy-form.ts'
import { readPolicyFile, warningLines } from '../../policy/policy-file.ts'
import { type PolicyPlace, policyPlace } from '../../policy/policy-place.ts'
import { type PolicySet, compilePolicies } from '../../policy/policy.ts'
import type { OpenTable } from '../../table/open-table.ts'
import { type BulkResult, tallyRun } from '../lines/bulk-run.ts'
import { judgeBadLines } from '../lines/check-command.ts'
import { lineFormatDetector } from '../lines/line-format.ts'
import { pinTable } from '../lines/pin-table.ts'
import { exitCodes, interruptedCode, type Io, printResult, type Command } from '../terminal/io.ts'
import { type PolicyInUse, isAbove } from '../../compare/comparison.ts'
import type { FromTo, HitLists, RehearsalReport, RequestShare } from '../../api/admin-answers.ts'
import { requestShare } from '../../compare/hit-lists.ts'
import { newRehearsalCounter, rehearsalReport } from '../../compare/rehearsal.ts'

export const policyTest: Command<Promise<number>> = async (settings, io, inputs) => {
  const { invocation: how } = settings
  if (how.failOver !== undefined && how.against === undefined) {
    throw usageError('--fail-over needs --against: without another policy nothing changes.')
  }
  const place = policyPlace(settings.policies)
  const set = readPolicySet(place, io)
  const detectFormat = lineFormatDetector(how)
  const pinned = await pinTable(settings.table, how.lists)
  try {
    const { table } = pinned
    const one = rehearsed(table, set, how.policy ?? defaultPolicyName, place.path)
    const other = how.against === undefined ? undefined : otherOf(table, set, how, place.path, io)
    const counter = newRehearsalCounter(table, one, other)
    const { add } = counter
    const result = await tallyRun(
      { inputs, table: pinned, detectFormat, output: 'addresses', add },
      io,
    )
    if (result.interrupted) return interruptedCode
    const report = rehearsalReport({ table, one, other, counter, result, top: how.top })
    printResult(io, how.json, report, () => rehearsalLines(report))
    const changed = report.changed?.requests ?? 0
    return judgeChanges(changed, result, how, io)
  } finally {
    pinned.close()
  }
}

export function judgeChanges(
  changed: number,
  result: BulkResult,
  { strict, failOver }: Pick<Invocation, 'strict' | 'failOver'>,
  io: Io,
): number {
  const judged = judgeBadLines(result, strict, io)
  return judgeShare(changed, result.addresses, failOver, io) ? exitCodes.failed : judged
}

/** Reports more changes than `--fail-over` allows. Not rounded: one in a million would become none.
 * */
export function judgeShare(
  changed: number,
  all: number,
  failOver: number | undefined,
  io: Io,
): boolean {
  if (failOver === undefined || !isAbove({ changed, compared: all }, failOver)) return false
  const { percent } = requestShare(changed, all)
  const counts = `${formatCount(changed)} of ${formatCount(all)}`
  io.err(
    `iprisk: ${percent} % of the requests change, but --fail-over allows ${failOver} %: ${counts}.`,
  )
  return true
}

function readPolicySet(place: PolicyPlace, io: Io): PolicySet {
  const file = readPolicyFile(place)
  if (file === undefined) {
    throw usageError(
      `There is no file ${place.path}; create one with iprisk policy init, or name another with --policies.`,
    )
  }
  for (const line of warningLines(file)) io.err(line)
  return compilePolicies(file.policies)
}

export function rehearsed(
  table: OpenTable,
  set: PolicySet,
  name: string,
  path: string,
): PolicyInUse {
  const index = set.indexOf(name)
  if (index < 0) {
    const names = set.policies.map(({ name }) => name).join(', ')
    throw usageError(`${path} has no policy ${name}; its policies are ${names}.`)
  }
  return { memory: newDecisionMemory(set, table.reader), index }
}

/** Another policy of this file, or the same (or default) policy of another file. */
function otherOf(
  table: OpenTable,
  set: PolicySet,
  { against = '', policy = defaultPolicyName }: Pick<Invocation, 'against' | 'policy'>,
  path: string,
  io: Io,
): PolicyInUse {
  if (set.indexOf(against) >= 0) return rehearsed(table, set, against, path)
  if (!existsSync(against)) {
    throw usageError(`--against ${against} is neither a policy of ${path} nor an existing file.`)
  }
  const other = readPolicySet({ path: against, named: true }, io)
  const name = other.indexOf(policy) < 0 ? defaultPolicyName : policy
  return rehearsed(table, other, name, against)
}

export function requestsLine(requests: number, bad: number): string {
  const badText = bad === 0 ? '' : `; ${formatCounted(bad, 'line', 'lines')} without an address`
  return `${formatCount(requests)} requests${badText}`
}

function rehearsalLines(report: RehearsalReport): readonly string[] {
  const { requests, bad_lines: bad, policy, revision, against, changed } = report
  const compared = against === undefined ? '' : `, against ${against.policy} ${against.revision}`
  return [
    requestsLine(requests, bad),
    `policy ${policy} ${revision}${compared}`,
    '',
    ...shareTable(
      ['action', 'requests', 'share'],
      report.actions.map((one) => [[one.action], one]),
    ),
    '',
    ...ruleLines(report),
    ...(changed === undefined ? [] : ['', ...changeLines(changed)]),
    ...hitLines(report.hit, against === undefined ? 'not allowed' : 'changed'),
    ...exampleLines(report),
    '',
    `table ${report.table.id}, as of ${report.table.as_of}`,
  ]
}

type ShareRow = readonly [texts: readonly string[], share: RequestShare]

export function shareTable(head: readonly string[], rows: readonly ShareRow[]): readonly string[] {
  const cells = rows.map(([texts, { requests, percent }]) => [
    ...texts,
    formatCount(requests),
    `${percent.toFixed(2)} %`,
  ])
  return alignColumns([head, ...cells], head.length - 2)
}

function ruleLines({ rules }: RehearsalReport): readonly string[] {
  const rows = rules.map((one): ShareRow => {
    const { rule, action, would_change } = one
    const name = rule === '' ? 'otherwise' : rule
    if (would_change === undefined) return [[name, action], one]
    return [[name, `(${action}: would change ${formatCount(would_change)})`], one]
  })
  const isObserving = rules.some(({ would_change }) => would_change !== undefined)
  return [
    ...shareTable(['rule', 'action', 'requests', 'share'], rows),
    ...(isObserving ? ['in brackets: only observed, matches but decides nothing'] : []),
  ]
}

function changeLines(changed: NonNullable<RehearsalReport['changed']>): readonly string[] {
  return [
    `${formatCount(changed.requests)} requests, ${changed.percent} %, get a different action`,
    ...actionTable(changed.by_action),
  ]
}

export function actionTable(changes: readonly FromTo[]): readonly string[] {
  const rows = changes.map((one): ShareRow => [[one.from, one.to], one])
  return rows.length === 0 ? [] : shareTable(['from', 'to', 'requests', 'share'], rows)
}

export function hitLines(hit: HitLists, what: string): readonly string[] {
  const lists: readonly (readonly [string, readonly ShareRow[]])[] = [
    [
      'network',
      hit.networks.map((one) => [[`AS${one.asn} ${one.organization}`.slice(0, nameCharsMax)], one]),
    ],
    ['provider', hit.providers.map((one) => [[one.provider.slice(0, nameCharsMax)], one])],
    ['country', hit.countries.map((one) => [[`${one.country_code} ${one.country}`], one])],
  ]
  return lists.flatMap(([title, rows]) => {
    if (rows.length === 0) return []
    return ['', ...shareTable([`${title}, ${what}`, 'requests', 'share'], rows)]
  })
}

const nameCharsMax = 50

function exampleLines({ examples }: RehearsalReport): readonly string[] {
  if (examples.length === 0) return []
  const rows = examples.map((one) => {
    const before = one.action_before === undefined ? '' : `${one.action_before} → `
    return [
      one.ip,
      formatCount(one.requests),
      `${before}${one.action}${one.rule === '' ? '' : ` by ${one.rule}`}`,
      `${one.classification} ${one.risk_score}`,
      one.reasons.join(' '),
    ]
  })
  const head = ['example', 'requests', 'decision', 'class, score', 'reasons']
  return ['', ...alignColumns([head, ...rows], Infinity)]
}
