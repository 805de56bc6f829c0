// `iprisk-client` in every runtime but Node. Nothing here or below it needs more than fetch, timers
// and a URL.

import { createClientOver } from './core/create-client.ts'
import type { Client } from './core/check-result.ts'
import type { ClientOptions } from './core/client-options.ts'
import { createFetchTransport } from './transport/fetch-transport.ts'

/**
 * Creates a client; throws a TypeError if an option is wrong.
 *
 * @example
 * const client = createClient({ url: 'http://127.0.0.1:8080', key })
 * const result = await client.check('203.0.113.7')
 * if (result.ok && result.answer.risk_score >= 75) askForSecondFactor()
 */
export function createClient(options: ClientOptions): Client {
  return createClientOver({ createTransport: createFetchTransport, sharesTimers: false }, options)
}

export type { ClientOptions } from './core/client-options.ts'
export type { ClientFailure } from './core/outcome-report.ts'
export type * from './core/check-result.ts'
export type * from './generated/wire-types.ts'
export type { Transport, TransportReply, TransportRequest } from './transport/transport.ts'
