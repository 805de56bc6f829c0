// Context of a check (contract 6.5): optional members of its body that say more than the address. No
// context fails a check: what is wrong with one is reported in `context_errors`, and the answer says
// what it would say without it.
//
//   body ─ contextOf ─▶ Context ─ contextAnswer ─▶ { travel, agent, context_errors } ─▶ asked-members.ts
//
// `contextOf` runs once, where the body is read. What it returns is small plain data, which crosses to
// pool threads. `contextAnswer` runs in the turn of the answer, because policies read it. What a new
// context must ask off the loop goes between the two: `answerLater` of
// src/http/endpoint/check-endpoint.ts may wait there and put what it learned into the parsed value.

import { agentAnswer, parseAgent } from '../agents/agent-status.ts'
import type { SignedClaim } from '../agents/signature-verifier.ts'
import type { ContextAnswer, ContextError } from '../api/check-answer.ts'
import type { JsonObject } from '../base/json-object.ts'
import type { AnswerBytes } from '../table/answer/answer-writer.ts'
import { parsePrevious, type Previous, travelOf, unknownTravel } from './travel.ts'

/** What a member says, or what is wrong with it. */
export type Parsed<Value> = { readonly value: Value } | { readonly error: ContextError }

/** As parsed; at least one member. */
export interface Context {
  readonly previous?: Parsed<Previous>
  readonly agent?: ReturnType<typeof parseAgent>
}

/** `undefined` for a body without context. */
export function contextOf(body: JsonObject, nowMs = Date.now()): Context | undefined {
  const [hasPrevious, hasAgent] = [Object.hasOwn(body, 'previous'), Object.hasOwn(body, 'agent')]
  if (!hasPrevious && !hasAgent) return undefined
  return {
    ...(hasPrevious && { previous: parsePrevious(body['previous'], nowMs) }),
    ...(hasAgent && { agent: parseAgent(body['agent'], nowMs) }),
  }
}

/** What is to be verified before the answers. */
export function signedClaims(contexts: readonly (Context | undefined)[]): readonly SignedClaim[] {
  return contexts.flatMap((context) => {
    const { signed } = context?.agent?.value ?? {}
    return signed !== undefined && signed.signatures.length > 0 ? [signed] : []
  })
}

/** `about`: the address that is checked, where a table has located it. */
export function contextAnswer(
  { previous, agent }: Context,
  about?: Pick<AnswerBytes, 'reader' | 'located'>,
): ContextAnswer {
  const errors = [previous, agent].flatMap((one) =>
    one && 'error' in one && one.error ? [one.error] : [],
  )
  return {
    ...(previous && {
      travel:
        about && 'value' in previous
          ? travelOf(about.reader, about.located, previous.value)
          : unknownTravel,
    }),
    ...(agent && { agent: agentAnswer(agent.value, about) }),
    ...(errors.length > 0 && { context_errors: errors }),
  }
}
