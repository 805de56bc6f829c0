// Why an answer is what it is (contract 3.15: insights): its record's evidence, judged again
// without each feed, on later days and with other weights, and what is listed around it. Slow, so a
// server uses its pool (src/pool). Judged again unchanged, evidence gives the table's own verdict;
// a test checks this.

import type { InsightEvidence, Insights, InsightsAnswer } from '../../api/insights-answer.ts'
import type { CheckAnswer } from '../../api/check-answer.ts'
import { formatDay } from '../../base/day.ts'
import { newAddressWords } from '../../ip/address.ts'
import { parseAddress } from '../../ip/parse-address.ts'
import { formatRange } from '../../ip/range.ts'
import type { Evidence } from '../../model/evidence.ts'
import { riskLevelOf } from '../../model/kind.ts'
import { recordWords } from '../../schema/table-layout.ts'
import {
  alternativesOf,
  levelFallsOf,
  scoreRange,
  withoutFeeds,
} from '../../score/what-if/counterfactual.ts'
import { bogonVerdict } from '../../score/bogon-verdict.ts'
import { type JudgeInput, judgeWithFindings } from '../../score/judge.ts'
import { listReasonTexts, reasonText } from '../../score/points/reason-codes.ts'
import { checkAddress } from '../answer/check-address.ts'
import { type TableEvidence, readEvidenceList } from '../file/evidence-record.ts'
import { locate, newLocated } from '../lookup/locate.ts'
import { type AddressPosition, neighborhoodOf } from './neighborhood.ts'
import { networkEvidenceList, readNetwork } from '../file/network-record.ts'
import type { AnswerReader } from '../answer/answer-reader.ts'
import { searchIpv4, searchIpv6 } from '../lookup/search.ts'
import { type Source, dataSetOf } from '../file/table-source.ts'
import type { Table } from '../table.ts'

export interface InsightsTable extends Pick<Table, 'asOf' | 'sources'> {
  readonly reader: AnswerReader
  /** When its file was written, milliseconds since the epoch. */
  readonly builtMs: number
}

export interface ExplainedAnswer extends InsightsAnswer {
  readonly insights: Insights
}

export function answerWithInsights(
  table: InsightsTable,
  text: string,
): ExplainedAnswer | undefined {
  const answer = checkAddress(table.reader, text)
  if (answer === undefined) return undefined
  return { ...answer, insights: withListReason(insightsOf(table, text), answer) }
}

/** Own lists are not evidence: they only add the last reason. */
function withListReason(insights: Insights, { reasons, risk_score }: CheckAnswer): Insights {
  const code = reasons.at(-1) ?? ''
  if (!Object.hasOwn(listReasonTexts, code)) return insights
  const before = insights.reasons.reduce((sum, { points }) => sum + points, 0)
  const own = reasonsOf([{ code, points: risk_score - before }])
  return { ...insights, reasons: [...insights.reasons, ...own] }
}

interface DecidingRecord extends AddressPosition {
  readonly evidence: readonly TableEvidence[]
}

function insightsOf(table: InsightsTable, text: string): Insights {
  const words = newAddressWords()
  const family = parseAddress(text, words) === 4 ? 4 : 6
  const judged = decidingRecordOf(table.reader, family, words)
  const built_at = new Date(table.builtMs).toISOString()
  const facts = { id: table.reader.id, built_at, as_of: formatDay(table.asOf) }
  return { table: facts, ...(judged === undefined ? bogonInsights : judgedInsights(table, judged)) }
}

/** `undefined` for a bogon. */
export function decidingRecordOf(
  reader: AnswerReader,
  family: 4 | 6,
  words: Uint32Array,
): DecidingRecord | undefined {
  const { views, strings } = reader
  const located = newLocated()
  locate(views, family, words, located)
  if (located.bogon) return undefined
  // For an embedded address, the record whose verdict the answer gives.
  const own = located.evidenceFamily
  const asked = own === 4 ? Uint32Array.of(located.ipv4, 0, 0, 0) : words
  const record = own === 4 ? searchIpv4(views, located.ipv4) : searchIpv6(views, words)
  const at = record * recordWords
  const network = views.records[at] ?? 0
  const lists = [
    views.records[at + 3] ?? 0,
    network === 0 ? 0 : networkEvidenceList(views.networks, network),
  ]
  const evidence = lists.flatMap((list) => readEvidenceList(views, list, strings))
  return { family: own, words: asked, network, evidence }
}

/** IPv6 is announced again daily: older data prove no absence. */
const networksDaysMax = 14

/** Whether missing networks prove nothing (MODEL.md, rule 12). */
export function areNetworksOld(
  family: 4 | 6,
  { sources, asOf }: Pick<InsightsTable, 'sources' | 'asOf'>,
): boolean {
  const source = sources.find((one) => dataSetOf(one) === 'networks')
  return family === 6 && source !== undefined && asOf - source.day > networksDaysMax
}

export const judgeInputOf = (
  { reader: { views, strings }, sources, asOf }: Omit<InsightsTable, 'builtMs'>,
  { family, network, evidence }: Pick<DecidingRecord, 'family' | 'network' | 'evidence'>,
): JudgeInput => ({
  evidence: evidence.map((one) => evidenceOf(sources, one)),
  network: network === 0 ? undefined : readNetwork(views.networks, network, strings),
  areNetworksOld: areNetworksOld(family, { sources, asOf }),
  asOf,
})

function judgedInsights(table: InsightsTable, judged: DecidingRecord): Omit<Insights, 'table'> {
  const input = judgeInputOf(table, judged)
  const { verdict, findings } = judgeWithFindings(input)
  const { score } = verdict
  const asn = input.network?.asn ?? 0
  return {
    score_range: scoreRange(input, score, (feed) => intervalOf(table.sources, feed)),
    reasons: reasonsOf(verdict.reasons),
    evidence: judged.evidence.map((one) => explainEvidence(table.sources, one, asn)),
    neighborhood: neighborhoodOf(table.reader.views, judged),
    counterfactuals: counterfactualsOf(input, score),
    alternatives: alternativesOf(findings, verdict.classification),
  }
}

const bogonInsights: Omit<Insights, 'table'> = {
  score_range: [bogonVerdict.score, bogonVerdict.score],
  reasons: reasonsOf(bogonVerdict.reasons),
  evidence: [],
  neighborhood: [],
  counterfactuals: { without_feed: [], falls_below: [] },
  alternatives: [],
}

function evidenceOf(sources: readonly Source[], one: TableEvidence): Evidence {
  const { source: index, range: _range, ...rest } = one
  const source = sources[index]
  const { weightLow: _low, weightHigh: _high, ...voice } = source?.voice ?? noVoice
  return { voice: { id: source?.id ?? '', ...voice }, ...rest }
}

/** For sources without evidence. */
const noVoice: NonNullable<Source['voice']> = {
  group: '',
  weight: 0,
  weightLow: 0,
  weightHigh: 0,
  assurance: 'weak',
  rolling: false,
  asns: [],
}

function intervalOf(sources: readonly Source[], feed: string) {
  const voice = sources.find(({ id }) => id === feed)?.voice
  return voice && { low: voice.weightLow, high: voice.weightHigh }
}

function reasonsOf(
  reasons: readonly { readonly code: string; readonly points: number }[],
): Insights['reasons'] {
  return reasons.map(({ code, points }) => ({ code, text: reasonText(code), points }))
}

const counterfactualsOf = (input: JudgeInput, score: number): Insights['counterfactuals'] => ({
  without_feed: withoutFeeds(input).map(({ feed, verdict }) => ({
    feed,
    classification: verdict.classification,
    risk_level: riskLevelOf(verdict.score),
    risk_score: verdict.score,
  })),
  falls_below: levelFallsOf(input, score).map(({ level, day }) => ({
    risk_level: level,
    day: day === undefined ? null : formatDay(day),
  })),
})

const confidenceByAssurance = { direct: 'high', good: 'medium', weak: 'low' } as const

function explainEvidence(
  sources: readonly Source[],
  evidence: TableEvidence,
  asn: number,
): InsightEvidence {
  const source = sources[evidence.source]
  const { assurance, weight } = source?.voice ?? noVoice
  const { range } = evidence
  const ofAs = range === undefined
  return {
    feed: source?.id ?? '',
    kind: evidence.kind,
    provider: evidence.provider,
    matched: ofAs ? `AS${asn}` : formatRange(range),
    match: evidence.match,
    first_seen: formatDay(evidence.firstSeen),
    last_seen: formatDay(evidence.lastSeen),
    days_seen: evidence.daysListed,
    days_observed: evidence.daysObserved,
    confidence: ofAs ? 'low' : confidenceByAssurance[assurance],
    weight,
    lists: evidence.lists,
    licence: source?.licence ?? '',
  }
}
