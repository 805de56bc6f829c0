// Which agent a visitor is, and whether that is proven (contract 6.6: agents): by the operator's
// published ranges, which the table has as evidence of feeds, or by a verified signature.
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
import { readEvidenceList } from '../table/file/evidence-record.ts'
import { type KnownAgent, knownAgents } from './agent-catalogue.ts'
import type { SignedClaim } from './signature-verifier.ts'
import { claimedSignatures, normalAuthority } from './web-bot-auth.ts'

type AgentClaim = { readonly userAgent: string; readonly signed?: SignedClaim }
type ParsedAgent = { readonly value: AgentClaim; readonly error?: ContextError }
type Located = Pick<AnswerBytes, 'reader' | 'located'>

/** Parsing the longest headers takes 2 ms. */
const agentCharsMax = 8192
export const userAgentCharsMax = 1024

/** With an error where a part cannot be used; the User-Agent counts beside a wrong signature. */
export function parseAgent(sent: unknown, nowMs: number): ParsedAgent {
  if (!isJsonObject(sent) || charsOf(sent) > agentCharsMax)
    return wrong('agent', '', 'It must be an object of at most 8 KiB.')
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

/** Infinite where arrays are nested deeper than JSON.stringify can follow. */
function charsOf(sent: object): number {
  try {
    return JSON.stringify(sent).length
  } catch {
    return Infinity
  }
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
  const by = signed === undefined ? '' : signed.by
  const inRange = named.find((agent) => isListed(agent, about, true))
  if (inRange !== undefined) return answerOf(inRange, 'verified', 'published_range')
  if (by) {
    const signer = knownAgents().byDirectory(new URL(by).host)
    return { ...answerOf(signer, 'verified', 'signature'), directory: by }
  }
  const isSpoofed = named.length > 0 && named.every((agent) => isFake(agent, about))
  return answerOf(named[0], isSpoofed ? 'spoofed' : by === undefined ? 'unknown' : 'unverified')
}

function answerOf(
  agent: KnownAgent | undefined,
  status: AgentAnswer['status'],
  identified_by: AgentAnswer['identified_by'] = '',
): AgentAnswer {
  const { name = '', operator = '', category = '' } = agent ?? {}
  return { status, name, operator, category, identified_by, directory: '' }
}

/** According to the newest snapshots of its feeds, or to any that the table knows. */
function isListed({ feeds }: KnownAgent, about: Located | undefined, isNewest: boolean): boolean {
  if (about === undefined || about.located.bogon) return false
  const { views, strings, sources, asOf } = about.reader
  return readEvidenceList(views, about.located.evidence, strings).some((evidence) => {
    const { id, day } = sources[evidence.source]!
    const { provider, lastSeen } = evidence
    const isOf = feeds.some((feed) => feed.id === id && (feed.provider ?? provider) === provider)
    return isOf && (!isNewest || lastSeen >= Math.min(day, asOf))
  })
}

/** The table can say that the address is none of the agent's. */
function isFake(agent: KnownAgent, about: Located | undefined): boolean {
  if (!agent.verifies || about === undefined || about.located.bogon) return false
  const { sources, asOf } = about.reader
  const fresh = sources.filter(({ day }) => asOf - day < freshDaysMax.bot).map(({ id }) => id)
  return agent.feeds.some(({ id }) => fresh.includes(id)) && !isListed(agent, about, false)
}
