// Runs the process that copies and verifies one table file (prepare-table-main.ts).

import { isErrorCode } from '../../base/error-codes.ts'
import { inputError } from '../../base/coded-error.ts'
import { askOnce, type ChildOutcome, startChild } from '../../base/system/child-task.ts'
import type { AcceptanceResult } from '../../compare/acceptance-check.ts'
import type { TrafficTrial, TrialResult } from '../../compare/traffic-trial.ts'

/** Seconds for a large table; far longer on a machine that swaps. */
const verifyMsMax = 300_000

const program = new URL('./prepare-table-main.js', import.meta.url)

/** Verifies in two threads, half of the time in parallel. */
export const secondThread = '--second-thread'

/**
 * For a starting server's process: V8 compiles in these threads, because its own took a seventh of
 * the processor time.
 */
const urgently = { nodeFlags: ['--no-concurrent-recompilation'], arguments: [secondThread] }

export interface PrepareOrder {
  readonly source: string
  readonly copy: string
  readonly before?: string | undefined
  readonly force: boolean
  readonly traffic?: TrafficTrial | undefined
}

export interface PrepareResult extends Omit<AcceptanceResult, 'against'> {
  readonly id: string
  /** `traffic` if only the sampled traffic speaks against it. */
  readonly against: AcceptanceResult['against'] | 'traffic'
  readonly trial?: TrialResult | undefined
  readonly isBeforeLost?: boolean
}

/**
 * `copy` becomes a verified copy of `source`; throws with the child's code. `urgent`: clients are
 * waiting for the table, not for a core.
 */
export async function prepareTable(
  order: PrepareOrder,
  { signal, urgent }: { readonly signal: AbortSignal; readonly urgent: boolean },
): Promise<PrepareResult> {
  // No TLS here; reading these certificates takes Node 50 ms.
  const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env
  const child = startChild<PrepareOrder, PrepareResult>({
    program,
    environment,
    keepsWords: true,
    // From the start, because Node's own start takes as long as a small table: over 40 swaps each,
    // p99.9 of checks in the swap's second was 1.1 times the steady one, and 1.9 if the process
    // lowered it later.
    hasLowPriority: !urgent,
    ...(urgent ? urgently : {}),
  })
  const outcome = await askOnce(child, order, { msMax: verifyMsMax, signal })
  if (outcome.kind === 'answered') return outcome.answer
  const message = whyUnverified(order.source, outcome)
  const thrown = outcome.kind === 'failed' ? outcome.error.code : undefined
  const code = isErrorCode(thrown) ? thrown : 'table_unverified'
  // A system code means that the disk failed.
  const cause = Object.assign(new Error(message), { code: thrown })
  throw inputError(code, message, { cause })
}

function whyUnverified(
  source: string,
  outcome: Exclude<ChildOutcome<PrepareResult>, { readonly kind: 'answered' }>,
): string {
  const why = (reason: string): string => `The table ${source} could not be verified: ${reason}.`
  if (outcome.kind === 'failed') return outcome.error.message
  if (outcome.kind === 'stopped') return why('the server is shutting down')
  if (outcome.kind !== 'ended') return why(`that took longer than ${verifyMsMax / 1000} seconds`)
  const { by, words, error } = outcome.end
  if (error !== undefined) return error.message
  if (words.trim() !== '') return words.trim()
  return typeof by === 'string'
    ? why(`its process was ended by ${by}, possibly because the system ran out of memory`)
    : why('its process ended without a message')
}
