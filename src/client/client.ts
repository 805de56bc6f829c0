// `iprisk-client` in every runtime but Node: its one public entry point there. Nothing here or
// below it needs more than fetch, timers and a URL.

import { createClientOver } from './core/create-client.ts'
import type { Client } from './core/check-result.ts'
import type { ClientOptions } from './core/client-options.ts'
import { createFetchTransport } from './transport/fetch-transport.ts'

/** Makes a client; throws a TypeError where an option is wrong. */
export function createClient(options: ClientOptions): Client {
  return createClientOver({ createTransport: createFetchTransport, sharesTimers: false }, options)
}

export type { ClientOptions } from './core/client-options.ts'
export type { ClientFailure } from './core/outcome-report.ts'
export type * from './core/check-result.ts'
export type * from './generated/wire-types.ts'
export type { Transport, TransportReply, TransportRequest } from './transport/transport.ts'
