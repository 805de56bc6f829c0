// `iprisk explain ADDRESS`: the answer, its reasons, evidence and expected end on one screen, or as
// JSON like the API. The content is src/table/explain/insights.ts's.

import { usageError } from '../../base/coded-error.ts'
import { contextOfAddress } from '../../context/context.ts'
import { decided } from '../../policy/decided-answer.ts'
import { answerWithInsights, type ExplainedAnswer } from '../../table/explain/insights.ts'
import type { ListedBy } from '../../table/explain/matching-entries.ts'
import { type Day, formatDay, parseDay } from '../../base/day.ts'
import { alignColumns, fitColumn } from '../../base/text/align-columns.ts'
import { joinFew, moreText } from '../../base/text/shortened-list.ts'
import { formatCount } from '../../base/text/number-format.ts'
import type { InsightEvidence, InsightScope, Insights } from '../../api/insights-answer.ts'
import { levelFloors } from '../../model/kind.ts'
import { builtMsOf } from '../../table/file/header.ts'
import type { LineTally } from '../../bulk/line-tally.ts'
import { formatAddress } from '../../ip/format-address.ts'
import { loadCompiler } from '../compiler/load-compiler.ts'
import type { Settings } from '../../config/settings.ts'
import { judgeBadLines } from './check-command.ts'
import { lineFormatDetector } from './line-format.ts'
import { pinTable } from './pin-table.ts'
import { offlineDecide, offlinePolicy } from '../../policy/offline-policy.ts'
import { daysObservedMin } from '../../score/weight/weigh-evidence.ts'
import type { Source } from '../../table/file/table-source.ts'
import { coverageGaps } from '../terminal/coverage-lines.ts'
import {
  type Command,
  exitCodes,
  type Io,
  interruptedCode,
  levelStyles,
  type Line,
  printResult,
  type Style,
  type StyledText,
} from '../terminal/io.ts'

/** For `-`, each address in the lines once. */
export const explainCommand: Command<Promise<number>> = async (settings, io, [address = '']) => {
  const { policies, invocation: how } = settings
  const past = how.at === undefined ? undefined : await pastTableOf(settings, how.at, io)
  const path = past?.path ?? settings.table
  const isLines = address === '-'
  const detectFormat = lineFormatDetector(how)
  const policy = await offlinePolicy(policies, how.policy, io.err)
  const pinned = await pinTable(path, how.lists, !isLines)
  const { table } = pinned
  try {
    const leftOut = past?.listing.filter((feed) => !table.sources.some(({ id }) => id === feed))
    if (leftOut !== undefined && leftOut.length > 0) {
      const names = joinFew(leftOut, leftOutMax)
      io.err(`Left out, because they have no snapshot up to that day: ${names}`)
    }
    const decide = await offlineDecide(table, policy)
    const seen = new Set<string>()
    const explain = (ip: string, own?: readonly ListedBy[]): void => {
      const plain = answerWithInsights({ ...table, builtMs: builtMsOf(path) }, ip)
      if (plain === undefined) throw usageError(`${ip} is not an IP address.`)
      if (seen.has(ip)) return
      if (seen.size > 0 && !how.json) io.out('')
      seen.add(ip)
      const context = contextOfAddress(table, ip, how.userAgent)
      const answer = decided({ ...plain, ...context }, decide, context)
      const facts = { ...answer, left_out: leftOut }
      printResult(io, how.json, facts, () =>
        explanationScreen(answer, table.sources, io.outColumns, own),
      )
    }
    if (!isLines) {
      explain(address, await pinned.entriesOf(address))
      return exitCodes.done
    }
    const { tallyRun } = await import('./bulk-run.ts')
    const add = ({ ipv4, ipv6 }: LineTally): void => {
      for (let at = 0; at < ipv4.length; at += 2) explain(formatAddress(4, ipv4.subarray(at)))
      for (const [text] of ipv6) explain(text)
    }
    const run = { inputs: ['-'], table: pinned, detectFormat, output: 'addresses', add } as const
    const result = await tallyRun(run, io)
    return result.interrupted ? interruptedCode : judgeBadLines(result, false, io)
  } finally {
    pinned.close()
  }
}

/** Compiles it unless it is kept (build/past-table.ts). */
async function pastTableOf(settings: Settings, day: Day, io: Io) {
  const { buildOptionsOf, newProgress } = await import('../compiler/build-command.ts')
  const { pastTable } = await loadCompiler(() => import('../../../build/past-table.ts'))
  const options = { ...buildOptionsOf(settings), day }
  const past = await pastTable(options, newProgress(io))
  io.err(`As of ${formatDay(day)}: each feed's newest day up to then; today's networks and places.`)
  return past
}

const leftOutMax = 8

const paint = (text: string, style: Style): StyledText => ({ text, style })

const evidenceRowsMax = 8
const textCharsMin = 24

/** Rows are cut to `width` if possible. `own`: entries of own lists. */
export function explanationScreen(
  answer: ExplainedAnswer,
  sources: readonly Source[],
  width = Infinity,
  own: readonly ListedBy[] = [],
): readonly Line[] {
  const { insights } = answer
  return [
    ...headOf(answer, own),
    '',
    ...reasonLines(insights, answer.risk_score),
    ...evidenceLines(insights, { sources, width }),
    ...fallLines(insights, answer.risk_score),
    ...alternativeLines(insights),
    ...neighborhoodLines(insights.neighborhood, width),
    '',
    [paint(`table ${insights.table.id}, as of ${insights.table.as_of}`, 'dim')],
  ]
}

function headOf(answer: ExplainedAnswer, own: readonly ListedBy[]): readonly Line[] {
  const { network, location, risk_level: level, risk_score: score } = answer
  const [low, high] = answer.insights.score_range
  const range = low === high ? '' : `, range ${low} to ${high} (uncertain weights)`
  const verdict = `${answer.classification}, ${score} of 100 (${level})`
  const place = [location?.city, location?.state, location?.country].filter(Boolean).join(', ')
  return [
    [paint(answer.ip, 'bold'), '  ', paint(verdict, levelStyles[level]), range],
    ...(answer.address === undefined ? [] : [`judged as ${answer.address}`]),
    network === null
      ? 'not announced by any network'
      : `AS${network.asn} ${network.organization}, ${network.type}`,
    place === '' ? 'location unknown' : place,
    ...(answer.lists === undefined ? [] : [`on own lists: ${answer.lists.join(', ')}`]),
    ...own.map(ownEntryLine),
    ...agentLines(answer),
    ...decisionLines(answer),
    ...coverageGaps(answer.coverage),
  ]
}

function ownEntryLine({ list, entry, since, until, note }: ListedBy): Line {
  const times = `${since === '' ? '' : ` since ${since}`}${until === null ? '' : ` until ${until}`}`
  return `  ${list}: ${entry}${times}${note === '' ? '' : `, ${note}`}`
}

function agentLines({ agent }: ExplainedAnswer): readonly Line[] {
  if (agent === undefined) return []
  const { name, operator, status } = agent
  return [name === '' ? 'agent: none named' : `agent: ${name} (${operator}), ${status}`]
}

function decisionLines({ decision, observed = [] }: ExplainedAnswer): readonly Line[] {
  if (decision === undefined) return []
  const { action, rule, policy } = decision
  const by = rule === '' ? 'no rule matched' : `rule ${rule}`
  const watching = observed.length === 0 ? '' : `; observed: ${observed.join(', ')}`
  return [`decided: ${action} (policy ${policy}, ${by}${watching})`]
}

function reasonLines({ reasons }: Insights, score: number): readonly Line[] {
  const rows = alignColumns(
    reasons.map(({ code, points, text }) => [signed(points).padStart(4), code, text]),
    3,
  )
  const nothing = reasons.length === 0 ? ['   no evidence against it'] : []
  const sum = `${String(score).padStart(4)}  risk_score`
  return [[paint('why', 'bold')], ...nothing, ...rows, [paint(sum, 'bold')]]
}

function evidenceLines(
  { evidence, table }: Insights,
  { sources, width }: { readonly sources: readonly Source[]; readonly width: number },
): readonly Line[] {
  if (evidence.length === 0) return []
  const asOf = parseDay(table.as_of)
  const shown = evidence.slice(0, evidenceRowsMax)
  const rows = shown.map((one) => [
    one.kind,
    sourceName(one.feed, sources),
    one.matched,
    one.provider,
    one.weight.toFixed(2),
    asOf === undefined ? '' : evidenceStrip(one, asOf),
    // At least seven days, as in percent_days_seen.
    `${one.days_seen}/${Math.max(daysObservedMin, one.days_observed)}`,
    one.last_seen,
    one.kind === 'blocklist' ? `on ${one.lists} ${one.lists === 1 ? 'list' : 'lists'}` : '',
  ])
  const head = ['kind', 'feed', 'matched', 'provider', 'weight', '30 days', 'seen', 'last', '']
  const more = moreText(evidence.length - shown.length)
  const fitting = fitColumn([head, ...rows], { column: 1, width, least: textCharsMin })
  const [first = '', ...rest] = alignColumns(fitting, head.length)
  return [
    '',
    [paint('evidence', 'bold')],
    [paint(first, 'dim')],
    ...rest,
    ...(more === '' ? [] : [`${more}; --json shows all`]),
  ]
}

function sourceName(feed: string, sources: readonly Source[]): string {
  const provider = sources.find(({ id }) => id === feed)?.provider ?? ''
  return provider === '' || provider === feed ? feed : `${feed} (${provider})`
}

const stripDays = 30

/** 30 days, the newest at the right: `#` last seen, `=` between first and last (`-`: only on some
 * of these days, unknown which), `.` outside. */
export function evidenceStrip(evidence: InsightEvidence, asOf: Day): string {
  const first = (parseDay(evidence.first_seen) ?? asOf) - asOf + stripDays - 1
  const last = Math.min((parseDay(evidence.last_seen) ?? asOf) - asOf, 0) + stripDays - 1
  const between = last - Math.max(first, 0) + 1
  const mark = evidence.days_seen >= between ? '=' : '-'
  return Array.from({ length: stripDays }, (_, day) =>
    day === last ? '#' : day >= first && day < last ? mark : '.',
  ).join('')
}

function fallLines({ counterfactuals }: Insights, score: number): readonly Line[] {
  const { falls_below: falls, without_feed: without } = counterfactuals
  const changed = without.filter(({ risk_score }) => risk_score !== score)
  const ends = falls.map(({ risk_level: level, day }) => {
    const least = levelFloors.find((one) => one.level === level)?.least ?? 0
    return `  below ${least} (${level}): ${day ?? 'does not expire'}`
  })
  const others = changed.map(
    (one) => `  without ${one.feed}: ${one.classification}, ${one.risk_score}`,
  )
  return [
    ...(ends.length === 0
      ? []
      : ['', [paint('when the score falls, if not seen again', 'bold')], ...ends]),
    ...(others.length === 0 ? [] : ['', [paint('without a single feed', 'bold')], ...others]),
  ]
}

function alternativeLines({ alternatives }: Insights): readonly Line[] {
  if (alternatives.length === 0) return []
  const texts = alternatives.map(
    ({ classification, strength, confidence }) =>
      `${classification} ${strength.toFixed(2)} (${confidence})`,
  )
  return ['', [paint('also', 'bold'), `  ${texts.join(', ')}`]]
}

function neighborhoodLines(scopes: readonly InsightScope[], width: number): readonly Line[] {
  if (scopes.length === 0) return []
  const rows = scopes.map(({ scope, size, unit, listed }) => [
    `  ${scope}`,
    `${formatCount(size)} ${unit === 'address' ? 'addresses' : '/64s'}`,
    listed.length === 0 ? 'nothing listed' : listed.map(densityText).join(', '),
  ])
  const fitting = fitColumn(rows, { column: 2, width, least: textCharsMin })
  return ['', [paint('neighborhood', 'bold')], ...alignColumns(fitting, 3)]
}

function densityText({ kind, listed, percent, times_asn: times }: InsightScope['listed'][number]) {
  const norm = times === null ? '' : `, ${times}x the AS average`
  return `${kind} ${formatCount(listed)} (${percent} %${norm})`
}

function signed(points: number): string {
  return points > 0 ? `+${points}` : String(points)
}
