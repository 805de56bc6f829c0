// Why an answer is what it is: the answer, each reason with its points and text, and every piece of
// evidence with feed, matched range and days. Plain objects, in the wire's spelling.

import type { CheckAnswer } from '../api/answer.ts'
import { formatDay } from '../base/day.ts'
import { newWords } from '../ip/address.ts'
import { parseAddress } from '../ip/parse.ts'
import { formatRange, readValue } from '../ip/range.ts'
import type { Kind } from '../model/kind.ts'
import { bogonVerdict } from '../score/bogon.ts'
import { reasonText } from '../score/reason.ts'
import { type Reader, check } from './check.ts'
import { type TableEvidence, readEvidenceList } from './evidence.ts'
import { locate, newLocated } from './locate.ts'
import { networkEvidence } from './network.ts'
import type { Source } from './table.ts'
import { readVerdict } from './verdict.ts'

export interface ExplainedReason {
  readonly code: string
  readonly text: string
  /** The points of all reasons add up to risk_score. */
  readonly points: number
}

export interface ExplainedEvidence {
  readonly feed: string
  readonly kind: Kind
  readonly provider: string
  /** Address, prefix or range that holds the address; `AS64496` where only the AS is meant. */
  readonly matched: string
  readonly match: TableEvidence['match']
  /** YYYY-MM-DD. */
  readonly first_seen: string
  readonly last_seen: string
  /** Of the last 30 days. */
  readonly days_seen: number
  readonly days_observed: number
  /** For blocklists: how many lists name it. */
  readonly lists: number
  readonly licence: string
}

export interface Explanation {
  readonly answer: CheckAnswer
  readonly reasons: readonly ExplainedReason[]
  readonly evidence: readonly ExplainedEvidence[]
}

/** `undefined` where the text is no address. */
export function explain(
  table: { readonly reader: Reader; readonly sources: readonly Source[] },
  text: string,
): Explanation | undefined {
  const { reader } = table
  const answer = check(reader, text)
  if (answer === undefined) return undefined
  const words = newWords()
  const located = newLocated()
  const family = parseAddress(text, words)
  if (family === 0) return undefined
  locate(reader.views, family, words, located)
  const verdict = located.bogon
    ? bogonVerdict
    : readVerdict(reader.views, located.verdict, reader.strings)
  const lists = located.bogon
    ? []
    : [
        located.evidence,
        located.network === 0 ? 0 : networkEvidence(reader.views.networks, located.network),
      ]
  const evidence = lists.flatMap((list) => readEvidenceList(reader.views, list, reader.strings))
  return {
    answer,
    reasons: verdict.reasons.map(({ code, points }) => ({ code, text: reasonText(code), points })),
    evidence: evidence.map((one) => explainEvidence(one, located.evidenceFamily, table, answer)),
  }
}

function explainEvidence(
  evidence: TableEvidence,
  family: 4 | 6,
  table: { readonly sources: readonly Source[] },
  answer: CheckAnswer,
): ExplainedEvidence {
  const source = table.sources[evidence.source]
  const range = {
    family,
    first: readValue(family, evidence.first),
    last: readValue(family, evidence.last),
  }
  return {
    feed: source?.id ?? '',
    kind: evidence.kind,
    provider: evidence.provider,
    matched: evidence.match === 'as' ? `AS${answer.network?.asn ?? 0}` : formatRange(range),
    match: evidence.match,
    first_seen: formatDay(evidence.firstSeen),
    last_seen: formatDay(evidence.lastSeen),
    days_seen: evidence.daysListed,
    days_observed: evidence.daysObserved,
    lists: evidence.lists,
    licence: source?.licence ?? '',
  }
}
