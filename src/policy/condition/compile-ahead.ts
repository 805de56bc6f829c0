// Compiles the conditions of policies in turns of the event loop: the largest file takes a second of a
// busy core, in which a worker would look hung. condition.ts caches them for later synchronous use.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { compileCondition } from './condition.ts'

/** Per turn; the longest conditions take a few milliseconds more. */
const turnMs = 5

/** Per file: finding a suggestion takes a millisecond or two each. */
export const warningsMax = 100

/**
 * `content` is that of a policies file, not validated yet. Also computes the warnings, unless
 * `needsWarnings` is false.
 */
export async function compileAhead(content: unknown, needsWarnings = true): Promise<void> {
  let begun = performance.now()
  let warnings = needsWarnings ? 0 : warningsMax
  for (const policy of valuesOf(memberOf(content, 'policies'))) {
    for (const rule of valuesOf(memberOf(policy, 'rules'))) {
      const condition = memberOf(rule, 'condition')
      if (typeof condition !== 'string') continue
      const compiled = compileCondition(condition)
      if (warnings < warningsMax && compiled.kind === 'condition') {
        warnings += compiled.warnings.length
      }
      if (performance.now() - begun < turnMs) continue
      await nextTurn()
      begun = performance.now()
    }
  }
}

const memberOf = (value: unknown, name: string): unknown =>
  (value as Readonly<Record<string, unknown>> | null | undefined)?.[name]

const valuesOf = (value: unknown): readonly unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : []
