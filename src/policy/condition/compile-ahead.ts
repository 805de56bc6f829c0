// Compiles the conditions of policies in turns of the loop: a file of the largest size takes a second
// of a busy core, in which a worker would look hung and the primary would watch none. Compiled
// conditions are remembered (condition.ts), so that what needs them at once afterwards has them.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { compileCondition } from './condition.ts'

/** Of one turn; a condition of the longest kind takes some milliseconds more. */
const turnMs = 5

/** Of a file: the search for what was meant takes a millisecond or two each. */
export const warningsMax = 100

/**
 * `content` is that of a policies file; whatever else it says is for checkPolicies to judge. Also
 * looks for the warnings that it will read, unless there is no need.
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
