// Ranges that their owners dedicate to one use and say so (MODEL.md, rule 5): only a part of their
// addresses serve it at any time. What such a range is worth is its feed's weight
// (build/evidence/builtin-feeds.ts); here is only how a finding that stands on nothing else is
// told.

import type { Finding } from './finding.ts'

/** The hand-kept table of prefixes that are dedicated to Tor exits. */
export const torOperatorsId = 'table-tor-operators'

/** Whether no list names the address as a Tor exit, but an operator's range alone. */
export function isByOperatorRange({ kind, counted }: Finding): boolean {
  return kind === 'tor' && counted.every(({ evidence }) => evidence.voice.id === torOperatorsId)
}
