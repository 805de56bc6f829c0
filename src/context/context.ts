// Context of a check (contract 6.5: context): optional members of its body that say more
// than the address. No context fails a check: what is wrong with one is reported in
// `context_errors`, and the answer says what it would say without it.
//
//   body ─ contextOf ─▶ Context ─ contextAnswer ─▶ { travel, agent, context_errors } ─▶ asked-members.ts
//
// `contextOf` runs once, where the body is read. What it returns is small plain data, which crosses to
// pool threads. `contextAnswer` runs in the turn of the answer, because policies read it. What a new
// context must ask off the loop goes between the two: `answerLater` of
// src/http/endpoint/check-endpoint.ts may wait there and put what it learned into the parsed value.

import { agentAnswer, parseAgent } from '../agents/agent-status.ts'
import type { ContextAnswer } from '../api/check-answer.ts'
import type { JsonObject } from '../base/json-object.ts'
import type { AnswerBytes } from '../table/answer/answer-writer.ts'
import { newQuery, parseQuery } from '../table/lookup/query.ts'
import type { OpenTable } from '../table/open-table.ts'
import { parsePrevious, travelOf, unknownTravel } from './travel.ts'

/** As parsed; at least one member. */
export interface Context {
  readonly previous?: ReturnType<typeof parsePrevious>
  readonly agent?: ReturnType<typeof parseAgent>
}

/** `undefined` for a body without context. */
export function contextOf(body: JsonObject, nowMs = Date.now()): Context | undefined {
  const { previous, agent } = body
  if (previous === undefined && agent === undefined) return undefined
  return {
    ...(previous !== undefined && { previous: parsePrevious(previous, nowMs) }),
    ...(agent !== undefined && { agent: parseAgent(agent, nowMs) }),
  }
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

/** For an address without a request; nothing without context. */
export function contextOfAddress(
  table: Pick<OpenTable, 'answer'>,
  ip: string,
  user_agent?: string,
  previous?: object,
) {
  const agent = user_agent === undefined ? undefined : { user_agent }
  const context = contextOf({ agent, previous })
  if (context === undefined) return {}
  const query = newQuery()
  parseQuery(query, Buffer.from(ip), 0, ip.length)
  return contextAnswer(context, table.answer(query))
}
