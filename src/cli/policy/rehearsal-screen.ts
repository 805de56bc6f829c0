// A rehearsal for people: the same as the report, in tables.

import { alignColumns } from '../../base/text/align-columns.ts'
import { formatCount, formatCounted } from '../../base/text/number-format.ts'
import type { HitLists, RequestShare } from '../../compare/hit-lists.ts'
import type { RehearsalReport } from '../../compare/rehearsal.ts'

export function rehearsalLines(report: RehearsalReport): readonly string[] {
  const { requests, bad_lines: bad, policy, revision, against, changed } = report
  const badText = bad === 0 ? '' : `; ${formatCounted(bad, 'line names', 'lines name')} no address`
  const compared = against === undefined ? '' : `, against ${against.policy} ${against.revision}`
  return [
    `${formatCount(requests)} requests${badText}`,
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

const shareCells = ({ requests, percent }: RequestShare): readonly string[] => [
  formatCount(requests),
  `${percent.toFixed(2)} %`,
]

/** Columns of text, the requests and their share. */
export function shareTable(head: readonly string[], rows: readonly ShareRow[]): readonly string[] {
  const cells = rows.map(([texts, share]) => [...texts, ...shareCells(share)])
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
    ...(isObserving ? ['in brackets: in observation, holds and decides nothing'] : []),
  ]
}

function changeLines(changed: NonNullable<RehearsalReport['changed']>): readonly string[] {
  const rows = changed.by_action.map((one): ShareRow => [[one.from, one.to], one])
  return [
    `${formatCount(changed.requests)} requests, ${percentText(changed)}, get another action`,
    ...(rows.length === 0 ? [] : shareTable(['from', 'to', 'requests', 'share'], rows)),
  ]
}

const percentText = ({ percent }: RequestShare): string => `${percent} %`

/** `what`: which requests are counted. */
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
