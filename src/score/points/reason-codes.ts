// Every reason of a verdict: its stable code and a one-line explanation. Codes are public: never
// renamed or reused, only added. Points follow from the evidence; the ledger keeps their sum exact.

import texts from './reason-texts.json' with { type: 'json' }

export type ReasonCode = keyof typeof texts

export const reasonTexts: Readonly<Record<ReasonCode, string>> = texts

/** Reasons of an operator's own lists (table/answer/own-lists.ts), never in a table's verdict. */
export const listReasonTexts = {
  list_allowed: "On an allow list of this service's operator: the score is 0.",
  list_blocked: "On a block list of this service's operator: the score is 100.",
} as const

export type ListReasonCode = keyof typeof listReasonTexts

export const reasonCodes = Object.keys(reasonTexts) as readonly ReasonCode[]

/** The text of a code, or the code itself if a newer table has an unknown one. */
export function reasonText(code: string): string {
  if (Object.hasOwn(listReasonTexts, code)) return listReasonTexts[code as ListReasonCode]
  return Object.hasOwn(reasonTexts, code) ? reasonTexts[code as ReasonCode] : code
}
