// Which agent a visitor is, and whether that is proven (contract 6.6): by the operator's published
// ranges, which the table has as evidence of feeds, or by a signature that was verified before.
//
// Invariants: a range speaks for an agent where the newest snapshot of its feed holds it, and
// against one where no snapshot did, because lists are late by days. Of several named agents each
// must be a fake: one that ranges cannot verify may be the true one.

import type { AgentAnswer, SignedRequest } from '../api/agent-context.ts'
import type { ContextError } from '../api/check-answer.ts'
import { isJsonObject } from '../base/json-object.ts'
import { freshDaysMax } from '../model/coverage.ts'
import { signatureHeaders } from '../model/kind.ts'
import type { AnswerBytes } from '../table/answer/answer-writer.ts'
import type { AnswerReader } from '../table/answer/answer-reader.ts'
import { readEvidenceList } from '../table/file/evidence-record.ts'
import { type KnownAgent, knownAgents } from './agent-catalogue.ts'
import type { SignedClaim } from './signature-verifier.ts'
import { claimedSignatures, normalAuthority } from './web-bot-auth.ts'

export interface AgentClaim {
  readonly userAgent: string
  readonly signed?: SignedClaim
}

type Located = Pick<AnswerBytes, 'reader' | 'located'>

interface ParsedAgent {
  readonly value: AgentClaim
  readonly error?: ContextError
}

const agentCharsMax = 8192
const userAgentCharsMax = 1024

/** With an error where a part cannot be used; the User-Agent counts beside a wrong signature. */
export function parseAgent(sent: unknown, nowMs: number): ParsedAgent {
  const isObject = isJsonObject(sent) && JSON.stringify(sent).length <= agentCharsMax
  if (!isObject) return wrong('agent', '', 'It must be an object of at most 8 KiB.')
  const { user_agent: userAgent = '', signature } = sent
  if (typeof userAgent !== 'string' || userAgent.length > userAgentCharsMax)
    return wrong('agent.user_agent', '', 'It must be a string of at most 1 KiB.')
  if (signature === undefined) return { value: { userAgent } }
  const request = signature as SignedRequest
  const signatures = isSigned(signature) ? claimedSignatures(request, nowMs / 1000) : undefined
  if (signatures === undefined)
    return wrong('agent.signature', userAgent, 'It has no request with three signature headers.')
  const authority = normalAuthority(request.scheme, request.authority)
  const by = signatures.length === 0 ? '' : undefined
  return { value: { userAgent, signed: { authority, signatures, by } } }
}

function wrong(param: string, userAgent: string, message: string): ParsedAgent {
  const value = { userAgent, signed: { authority: '', signatures: [] } }
  return { value, error: { param, message } }
}

function isSigned(sent: unknown): boolean {
  const { method, scheme, authority, path, headers } = isJsonObject(sent) ? sent : {}
  const texts = isJsonObject(headers) ? signatureHeaders.map((name) => headers[name]) : [0]
  return [method, scheme, authority, path, ...texts].every((text) => typeof text === 'string')
}

/** `about` is absent where no table has located the address. */
export function agentAnswer({ userAgent, signed }: AgentClaim, about?: Located): AgentAnswer {
  const named = knownAgents().named(userAgent)
  const ranges = about === undefined ? [] : rangesOf(about)
  const by = signed === undefined ? '' : signed.by
  const inRange = named.find((agent) => ranges.some(({ is, isNewest }) => isNewest && is(agent)))
  if (inRange !== undefined) return answerOf(inRange, 'verified', 'published_range')
  if (by) {
    const signer = knownAgents().byDirectory(new URL(by).host)
    return { ...answerOf(signer, 'verified', 'signature'), directory: by }
  }
  const isFake = (agent: KnownAgent): boolean =>
    about !== undefined && isRanged(agent, about.reader) && !ranges.some(({ is }) => is(agent))
  if (named.length > 0 && named.every(isFake)) return answerOf(named[0], 'spoofed')
  return answerOf(named[0], by === undefined ? 'unknown' : 'unverified')
}

function answerOf(
  agent: KnownAgent | undefined,
  status: AgentAnswer['status'],
  identified_by: AgentAnswer['identified_by'] = '',
): AgentAnswer {
  const { name = '', operator = '', category = '' } = agent ?? {}
  return { status, name, operator, category, identified_by, directory: '' }
}

function rangesOf({ reader, located }: Located) {
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
