// The client of the API, put together of its parts.
//
// Invariants: no function of it throws or rejects; everything that ends without an answer is
// counted and told; an answer comes without a decision only where no policy was named.

import type { Transport } from '../transport/transport.ts'
import { createCheckBatch } from './check-many.ts'
import { createCheck } from './check-one.ts'
import type { Client } from './check-result.ts'
import { type ClientOptions, clientSettings } from './client-options.ts'
import { createClientParts } from './client-parts.ts'
import { monotonicMs } from './monotonic-clock.ts'
import { createTelemetry } from './open-telemetry.ts'
import { createOutcomeReport } from './outcome-report.ts'
import { createFeedback } from './send-feedback.ts'

/** `runtime` makes the runtime's own transport, for options that name none. */
export function createClientOver(runtime: () => Transport, options: ClientOptions): Client {
  const settings = clientSettings(options)
  const { transport = runtime(), onMisconfigured, onUnavailable } = options
  const report = createOutcomeReport({ onMisconfigured, onUnavailable, now: monotonicMs })
  const parts = createClientParts(settings, transport, report)
  const observe = createTelemetry()
  return {
    check: createCheck(parts, observe),
    checkBatch: createCheckBatch(parts, observe),
    feedback: createFeedback(parts, observe),
    counts: report.counts,
    close: () => transport.close(),
  }
}
