// What is wrong with the detections of an address (contract 6.8) beside its answer: the kinds are its
// signals and its bot, and `proxy` and `bot` say the same of theirs. Days are those of its evidence.

import type { CheckAnswer, Detection } from '../../../src/api/check-answer.ts'
import type { Kind } from '../../../src/model/kind.ts'
import { detectionsOf } from '../../../src/table/explain/detections.ts'
import { answerWithInsights } from '../../../src/table/explain/insights.ts'
import { newQuery, parseQuery } from '../../../src/table/lookup/query.ts'
import type { OpenTable } from '../../../src/table/open-table.ts'

const kindOfType = {
  proxy: 'proxy',
  vpn: 'vpn',
  tor: 'tor',
  data_center: 'hosting',
  residential: 'residential_proxy',
} as const

const query = newQuery()

export function detectionsAt(table: OpenTable, ip: string): readonly Detection[] {
  parseQuery(query, Buffer.from(ip), 0, ip.length)
  return detectionsOf(table, table.reader, query)
}

export function wrongDetections(table: OpenTable, ip: string): readonly string[] {
  const { insights, ...answer } = answerWithInsights({ ...table, builtMs: 0 }, ip)!
  const found = detectionsAt(table, ip)
  const wrong: string[] = []
  const kinds = found.map(({ kind }) => kind).toSorted()
  if (kinds.join() !== presentIn(answer).toSorted().join()) wrong.push(`kinds ${kinds.join()}`)
  const { proxy, bot } = answer
  const proxyKind = proxy && kindOfType[proxy.type]
  for (const one of found) {
    const { kind, provider, confidence, first_seen: first, last_seen: last } = one
    const { percent_days_seen: percent } = one
    if (kind === proxyKind) {
      const said = [
        proxy!.provider,
        proxy!.confidence,
        proxy!.last_seen_at,
        proxy!.percent_days_seen,
      ]
      if (said.join() !== [provider, confidence, last, percent].join()) wrong.push(`${kind}: proxy`)
    }
    if (kind === 'bot' && `${provider} ${confidence}` !== `${bot?.provider} ${bot?.confidence}`)
      wrong.push(`${provider}: bot`)
    const days = insights.evidence.flatMap(({ first_seen, last_seen }) => [first_seen, last_seen])
    const least = days.toSorted()[0]!
    if (!(least <= first && first <= last && days.includes(first))) wrong.push(`${kind}: ${first}`)
  }
  return wrong.map((one) => `${ip} ${one}`)
}

function presentIn({ bot, signals }: CheckAnswer): readonly Kind[] {
  const { bogon: _bogon, mobile: _mobile, blocklist_match: blocklist, ...others } = signals
  const names = Object.entries(others).flatMap(([name, is]) => (is ? [name as Kind] : []))
  return [...names, ...(blocklist ? ['blocklist' as const] : []), ...(bot ? ['bot' as const] : [])]
}
