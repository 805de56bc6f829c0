// A handler that threw: 500 to the client, one line in the log with the request id. The line has
// the error's kind and the places it passed, never its message: that may hold an address or a key.

import { describeError } from '../../base/log.ts'
import { type Exchange, exchangeStates, requestIdOf } from '../exchange/exchange.ts'
import { replyError } from './reply.ts'
import { loggedAddresses } from './request-log.ts'

/** Never throws: it stands in callbacks whose exceptions end the process. */
export function replyInternalError(exchange: Exchange, error: unknown): void {
  try {
    const { log } = exchange.service
    const requestId = requestIdOf(exchange)
    const fields = { requestId, ...describeError(error), ...loggedAddresses(exchange) }
    log.error(fields, 'A request failed inside the server; its client was told internal_error.')
    // Half an answer may have gone out: only a closed connection is clear to the client.
    exchange.keepAlive = false
    if (exchange.state === exchangeStates.open) replyError(exchange, 'internal_error')
    else if (exchange.state === exchangeStates.answered) exchange.res.close()
  } catch {
    // Nothing is left to try, and the worker must live.
  }
}
