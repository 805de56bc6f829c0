// Which agent a visitor is, and whether that is proven (contract 6.6): by the operator's published
// ranges, which the table has as evidence of feeds, or by a signature that was verified before.
//
// Invariants: a range speaks for an agent where the newest snapshot of its feed holds it, and
// against one where no snapshot did, because lists are late by days. Of several named agents each
// must be a fake: one that ranges cannot verify may be the true one.

import type { AgentAnswer } from '../api/agent-context.ts'
import { freshDaysMax } from '../model/coverage.ts'
import type { AnswerBytes } from '../table/answer/answer-writer.ts'
import type { AnswerReader } from '../table/answer/answer-reader.ts'
import { readEvidenceList } from '../table/file/evidence-record.ts'
import { type KnownAgent, knownAgents } from './agent-catalogue.ts'
import type { SignedClaim } from './signature-verifier.ts'

export interface AgentClaim {
  readonly userAgent: string
  readonly signed?: SignedClaim | undefined
}

/** `about` is absent where no table has located the address. */
export function agentAnswer(
  { userAgent, signed = { authority: '', signatures: [], by: '' } }: AgentClaim,
  about?: Pick<AnswerBytes, 'reader' | 'located'>,
): AgentAnswer {
  const named = knownAgents().named(userAgent)
  const ranges = about === undefined ? [] : rangesOf(about)
  const inRange = named.find((agent) => ranges.some(({ is, isNewest }) => isNewest && is(agent)))
  if (inRange !== undefined) return answerOf(inRange, 'verified', 'published_range')
  if (signed.by) {
    const known = knownAgents().byDirectory(new URL(signed.by).host)
    return { ...answerOf(known, 'verified', 'signature'), directory: signed.by }
  }
  const isFake = (agent: KnownAgent): boolean =>
    about !== undefined && isRanged(agent, about.reader) && !ranges.some(({ is }) => is(agent))
  if (named.length > 0 && named.every(isFake)) return answerOf(named[0], 'spoofed', '')
  return answerOf(named[0], signed.by === undefined ? 'unknown' : 'unverified', '')
}

function answerOf(
  agent: KnownAgent | undefined,
  status: AgentAnswer['status'],
  identified_by: AgentAnswer['identified_by'],
): AgentAnswer {
  const { name = '', operator = '', category = '' } = agent ?? {}
  return { status, name, operator, category, identified_by, directory: '' }
}

function rangesOf({ reader, located }: Pick<AnswerBytes, 'reader' | 'located'>) {
  const { views, strings, sources, asOf } = reader
  const evidence = located.bogon ? [] : readEvidenceList(views, located.evidence, strings)
  return evidence.map(({ source: index, provider, lastSeen }) => {
    const source = sources[index]
    const isOf = (feed: KnownAgent['feeds'][number]): boolean =>
      feed.id === source?.id && (feed.provider ?? provider) === provider
    return {
      is: ({ feeds }: KnownAgent): boolean => feeds.some(isOf),
      isNewest: source !== undefined && lastSeen >= Math.min(source.day, asOf),
    }
  })
}

/** Whether the table can say that an address is none of the agent's. */
function isRanged({ verifies, feeds }: KnownAgent, { sources, asOf }: AnswerReader): boolean {
  const fresh = sources.filter(({ day }) => asOf - day < freshDaysMax.bot).map(({ id }) => id)
  return verifies && feeds.some(({ id }) => fresh.includes(id))
}
