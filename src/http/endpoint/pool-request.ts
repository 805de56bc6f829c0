// A request in the pool: its ticket, closed by whatever ends the exchange, and its deadline.

import { poolRequestMsMax } from '../../base/limits.ts'
import type { Ticket } from '../../pool/pool.ts'
import type { ItemResult } from '../../pool/pool-task.ts'
import { resumeExchange } from './charge-quota.ts'
import { type Exchange, exchangeStates } from '../exchange/exchange.ts'
import { replyError, replyInternalError } from '../reply/reply.ts'

/** Answers 503 if the pool has no room or there is no table. */
export function enterPoolOr503(exchange: Exchange): Ticket | undefined {
  const ticket = tryEnterPool(exchange)
  if (ticket === undefined) replyError(exchange, 'upstream_unavailable')
  return ticket
}

/** Without the 503, for a caller that may have another error to answer first. */
export function tryEnterPool(exchange: Exchange): Ticket | undefined {
  const { service } = exchange
  const file = service.file()
  if (file === undefined) return undefined
  const { table, path, builtMs } = file
  const ticket = service.pool.enter(
    { number: table, path, builtMs, lists: service.lists() },
    exchange.key?.keyId,
  )
  if (ticket === undefined) return undefined
  const late = setTimeout(() => giveUp(exchange), poolRequestMsMax)
  exchange.onEnd = () => {
    clearTimeout(late)
    ticket.close()
  }
  return ticket
}

/** `done` runs in a later turn; a failure answers 500 or cuts the connection. */
export function onPoolResult<Kind extends ItemResult['kind']>(
  exchange: Exchange,
  outcome: { readonly result: Promise<ItemResult>; readonly kind: Kind },
  done: (result: Extract<ItemResult, { kind: Kind }>) => void,
): void {
  void settle(exchange, outcome, done)
}

async function settle<Kind extends ItemResult['kind']>(
  exchange: Exchange,
  outcome: { readonly result: Promise<ItemResult>; readonly kind: Kind },
  done: (result: Extract<ItemResult, { kind: Kind }>) => void,
): Promise<void> {
  try {
    const result = await outcome.result
    if (exchange.state === exchangeStates.gone) return
    if (result.kind !== outcome.kind) throw errorOf(result)
    exchange.res.cork(() => {
      try {
        done(result as Extract<ItemResult, { kind: Kind }>)
      } catch (error) {
        replyInternalError(exchange, error)
      }
    })
  } catch (error) {
    if (exchange.state !== exchangeStates.gone) replyInternalError(exchange, error)
  }
}

function giveUp(exchange: Exchange): void {
  if (exchange.state === exchangeStates.answered) exchange.res.close()
  else resumeExchange(exchange, () => replyError(exchange, 'upstream_unavailable'))
}

/** Its name and stack, without its message. */
function errorOf(result: ItemResult): Error {
  const error = new Error('A pool thread failed to process an item.')
  if (result.kind !== 'failed') return error
  error.name = result.error
  error.stack = [error.name, ...result.at].join('\n')
  return error
}
