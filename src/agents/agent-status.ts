// Which agent a visitor is, and whether that is proven (contract 6.6): by the operator's published
// ranges, which the table has as evidence of feeds, or by a signature that was verified before.
//
//   verified     a range of one of the named agents holds the address, or a signature holds
//   spoofed      every named agent is to be verified by ranges that the table has, fresh, without
//                the address: one that cannot be verified so may be the true one
//   unknown      a signature could not be verified (yet)
//   unverified   anything else
//
// Invariant: a range speaks only where the newest snapshot of its feed holds it, and against an
// agent only where no snapshot did: lists are late by days.

import type { AgentAnswer } from '../api/agent-context.ts'
import { freshDaysMax } from '../model/coverage.ts'
import { type TableEvidence, readEvidenceList } from '../table/file/evidence-record.ts'
import type { Source } from '../table/file/table-source.ts'
import type { AnswerReader } from '../table/answer/answer-reader.ts'
import type { Located } from '../table/lookup/locate.ts'
import { type KnownAgent, knownAgents } from './agent-catalogue.ts'

/** What is known of a request's signatures: the directory whose key holds, or why there is none. */
export type SignedBy = { readonly directory: string } | 'nobody' | 'unknown'

export interface LocatedAddress {
  readonly reader: AnswerReader
  readonly located: Located
}

/** `about` is absent where no table has located the address. */
export function agentAnswer(
  claim: { readonly userAgent: string; readonly signedBy: SignedBy },
  about: LocatedAddress | undefined,
): AgentAnswer {
  const named = knownAgents().named(claim.userAgent)
  const ranges = about === undefined ? undefined : rangesOf(about)
  const inRange = named.find((agent) => ranges?.some((range) => range.isNewest && range.is(agent)))
  if (inRange !== undefined) return answerOf(inRange, 'verified', 'published_range')
  if (typeof claim.signedBy !== 'string') {
    const { directory } = claim.signedBy
    const known = knownAgents().byDirectory(new URL(directory).host)
    return { ...answerOf(known, 'verified', 'signature'), directory }
  }
  const isFake = (agent: KnownAgent): boolean =>
    about !== undefined && isRanged(agent, about.reader) && !ranges!.some(({ is }) => is(agent))
  if (named.length > 0 && named.every(isFake)) return answerOf(named[0], 'spoofed', '')
  return answerOf(named[0], claim.signedBy === 'unknown' ? 'unknown' : 'unverified', '')
}

function answerOf(
  agent: KnownAgent | undefined,
  status: AgentAnswer['status'],
  identified_by: AgentAnswer['identified_by'],
): AgentAnswer {
  const { name = '', operator = '', category = '' } = agent ?? {}
  return { status, name, operator, category, identified_by, directory: '' }
}

function rangesOf({ reader, located }: LocatedAddress) {
  if (located.bogon) return []
  return readEvidenceList(reader.views, located.evidence, reader.strings).map((evidence) => {
    const source = reader.sources[evidence.source]
    return {
      is: ({ feeds }: KnownAgent): boolean => feeds.some((feed) => isOf(evidence, source, feed)),
      isNewest: source !== undefined && evidence.lastSeen >= Math.min(source.day, reader.asOf),
    }
  })
}

function isOf(
  { kind, provider }: TableEvidence,
  source: Source | undefined,
  feed: KnownAgent['feeds'][number],
): boolean {
  const isProvider = feed.provider === undefined || feed.provider === provider
  return kind === 'bot' && source?.id === feed.id && isProvider
}

/** Whether the table can say that an address is none of the agent's. */
function isRanged({ verifies, feeds }: KnownAgent, { sources, asOf }: AnswerReader): boolean {
  const isFresh = ({ day }: Source): boolean => asOf - day < freshDaysMax.bot
  return verifies && feeds.some(({ id }) => sources.some((one) => one.id === id && isFresh(one)))
}
