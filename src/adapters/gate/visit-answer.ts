// The gate's answer about a visitor: the status, and the facts in headers for the application. All
// headers are always present, even if empty, so that they replace what a visitor sent under these
// names.

import type { AnswerBytes } from '../../table/answer/answer-writer.ts'
import { networkWords } from '../../schema/table-layout.ts'

/** Why a visitor is let in undecided, or decided by another policy than named. */
export const degradedCodes = [
  'unknown_policy',
  'address_missing',
  'address_unreadable',
  'no_table',
  'overloaded',
  'internal_error',
] as const
export type DegradedCode = (typeof degradedCodes)[number]

/** Other actions are the application's: the gate lets in, and the header names them. */
export function gateStatus(action: string, stops: boolean): 204 | 401 | 403 {
  if (action === 'block') return 403
  return action === 'challenge' && stops ? 401 : 204
}

/** The value of x-iprisk-action, and the others after it. */
export function visitHeaders(visit: {
  readonly action: string
  readonly rule: string
  /** `undefined` if the visitor was not judged. */
  readonly answer: AnswerBytes | undefined
  /** A code, or `''`. */
  readonly degraded: string
}): string {
  const { action, rule, answer, degraded } = visit
  const degradedLine = degraded === '' ? '' : `\r\nx-iprisk-degraded: ${degraded}`
  return (
    `${action}\r\nx-iprisk-rule: ${rule}` +
    `\r\nx-iprisk-classification: ${answer?.classification ?? ''}` +
    `\r\nx-iprisk-score: ${answer?.score ?? ''}` +
    `\r\nx-iprisk-country: ${answer === undefined ? '' : countryOf(answer)}` +
    `\r\nx-iprisk-asn: ${answer === undefined ? '' : asnOf(answer)}` +
    `${degradedLine}\r\ncache-control: no-store`
  )
}

function countryOf({ located, country }: AnswerBytes): string {
  return located.bogon || located.location === 0 ? '' : country
}

function asnOf({ located, reader }: AnswerBytes): string {
  if (located.bogon || located.network === 0) return ''
  const asn = reader.views.networks[(located.network - 1) * networkWords] ?? 0
  return asn === 0 ? '' : String(asn)
}
