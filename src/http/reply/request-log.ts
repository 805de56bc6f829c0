// Log lines about single requests, at level debug: answer, abort or refusal. Addresses, the
// client's as `remote` and the checked one as `address`, only with `--log-addresses`; the line of a
// 500 then has them, too. Without `logRequests` a request costs one flag.

import type { HttpResponse } from 'uWebSockets.js'
import type { LogLevel } from '../../base/log.ts'
import { newAddressWords } from '../../ip/address.ts'
import { formatAddress } from '../../ip/format-address.ts'
import { parseAddress } from '../../ip/parse-address.ts'
import type { HttpStatus } from '../../observe/request-counters.ts'
import { type Exchange, requestIdOf, type Service } from '../exchange/exchange.ts'

export function shouldLogRequests(level: LogLevel): boolean {
  return level === 'debug' || level === 'trace'
}

const words = newAddressWords()

/** The client, or the proxy in front; `''` unless wanted. */
export function remoteAddressOf(service: Service, res: HttpResponse): string {
  if (!service.logAddresses) return ''
  const text = Buffer.from(res.getRemoteAddressAsText()).toString('latin1')
  const family = parseAddress(text, words)
  return family === 0 ? text : formatAddress(family, words)
}

export function loggedAddresses({ service, remoteAddress, checkedAddress }: Exchange) {
  if (!service.logAddresses) return {}
  return checkedAddress === ''
    ? { remote: remoteAddress }
    : { remote: remoteAddress, address: checkedAddress }
}

export function logAnswer(exchange: Exchange, status: HttpStatus): void {
  const requestId = requestIdOf(exchange)
  const details = { requestId, status, durationMs: ageOf(exchange), ...loggedAddresses(exchange) }
  exchange.service.log.debug(details, 'A request was answered.')
}

export function logAbort(exchange: Exchange): void {
  const requestId = requestIdOf(exchange)
  const details = { requestId, durationMs: ageOf(exchange), ...loggedAddresses(exchange) }
  exchange.service.log.debug(details, 'A client disconnected before its answer.')
}

/** A request whose end is ambiguous (framing-guard.ts): nothing in it can be trusted. */
export function logFramingRefusal(service: Service, res: HttpResponse): void {
  const remote = remoteAddressOf(service, res)
  const details = remote === '' ? {} : { remote }
  service.log.debug(details, 'A request with ambiguous framing was refused.')
}

/** In milliseconds, to the microsecond. */
function ageOf({ startedMs }: Exchange): number {
  return Math.round((performance.now() - startedMs) * 1000) / 1000
}
