// One GET of one file: redirects, revalidation, limits and retries, body to a new file.
//
// On `fresh` the file `to` is complete, flushed and hashed; on failure it does not exist. https
// never becomes http. Connections go to public addresses, unless connection-pools.ts allows private
// ones. A credential in the URL is sent to its own origin only and appears in no message.

import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { backoffMs } from '../../src/base/backoff.ts'
import { environmentError, type IpriskError } from '../../src/base/coded-error.ts'
import { packageVersion } from '../../src/base/package-root.ts'
import { downloadBody, tooLarge } from './download-body.ts'
import type { FetchFailure } from './fetch-error.ts'
import { toFetchFailure, messageOrCode, statusFailure } from './fetch-error.ts'
import type { FetchLimits } from './fetch-limits.ts'
import { type ConnectionPools, refusedAddress } from './connection-pools.ts'
import {
  isRedirect,
  isSpecialHost,
  judgeRedirect,
  redirectsMax,
} from '../../src/ip/outbound-policy.ts'
import { basicAuthorization, publicUrl, parseWebUrl } from './public-url.ts'

export interface GetRequest {
  readonly url: URL
  /** Nothing exists there yet. */
  readonly to: string
  readonly format: string
  readonly bytes: { readonly min: number; readonly max: number }
  readonly validators?: Validators | undefined
}

export interface Validators {
  readonly etag: string | undefined
  readonly lastModified: string | undefined
}

export type GetAnswer =
  | { readonly kind: 'unchanged'; readonly validators: Validators }
  | {
      readonly kind: 'fresh'
      readonly validators: Validators
      readonly sha256: string
      readonly bytes: number
    }
  | { readonly kind: 'failed'; readonly error: IpriskError; readonly status?: number | undefined }

type Attempt = Exclude<GetAnswer, { kind: 'failed' }> | ({ kind: 'failed' } & FailedAttempt)
type FailedAttempt = FetchFailure & { readonly status?: number | undefined }

/** Never throws for failures of the network or the server. */
export async function httpGet(network: ConnectionPools, request: GetRequest): Promise<GetAnswer> {
  const { limits, health } = network
  const host = request.url.host
  for (let attempt = 1; ; attempt++) {
    const known = health.problemOf(host)
    if (known !== undefined) return { kind: 'failed', error: hostDown(host, known) }
    if (health.signal.aborted) return ended(health.signal)
    const answer = await attemptGet(network, request)
    if (answer.kind !== 'failed') return answer
    await rm(request.to, { force: true })
    const tries = answer.unreachable === true ? limits.attemptsUnreachable : limits.attempts
    const waitMs = answer.retryAfterMs ?? backoff(limits, attempt)
    const last = attempt >= tries || health.signal.aborted || !answer.error.retryable
    if (!last && waitMs <= limits.retryAfterMsMax) {
      await sleep(waitMs, undefined, { signal: health.signal }).catch(() => undefined)
      if (!health.signal.aborted) continue
    }
    if (health.signal.aborted) return ended(health.signal)
    if (answer.unreachable === true) health.onUnreachable(host, messageOrCode(answer.error.cause))
    return finalFailure(answer, attempt, waitMs > limits.retryAfterMsMax && !last)
  }
}

/** The run ended early; its reason is the whole message. */
function ended(signal: AbortSignal): GetAnswer {
  return { kind: 'failed', error: signal.reason as IpriskError }
}

function finalFailure(answer: FailedAttempt, attempts: number, impatient: boolean): GetAnswer {
  const { code, message, retryable } = answer.error
  const tried = attempts > 1 ? ` (after ${attempts} tries)` : ''
  const asked = impatient
    ? `; it asks clients to wait ${Math.ceil((answer.retryAfterMs ?? 0) / 1000)} s: run again then`
    : ''
  const error = environmentError(code, message + tried + asked, { retryable, cause: answer.error })
  return { kind: 'failed', error, status: answer.status }
}

function hostDown(host: string, why: string): IpriskError {
  return environmentError(
    'fetch_unreachable',
    `${host} was not reachable a moment ago and is not tried again (${why})`,
    { retryable: true },
  )
}

/** Random, so that parallel runs do not retry in step. */
function backoff(limits: FetchLimits, attempt: number): number {
  const full = backoffMs({ msMin: limits.backoffMs, msMax: limits.backoffMsMax }, attempt)
  return full * (0.5 + Math.random() / 2)
}

async function attemptGet(network: ConnectionPools, request: GetRequest): Promise<Attempt> {
  const { limits, health } = network
  const shown = publicUrl(request.url)
  // Not AbortSignal.any: a timeout in it can be collected before it fires (Node 20).
  const controller = new AbortController()
  let late: IpriskError | undefined
  const end = (): void => controller.abort()
  const timer = setTimeout(() => {
    const message = `${shown}: not finished after ${limits.wholeMs / 1000} s`
    late = environmentError('fetch_timeout', message, { retryable: true })
    end()
  }, limits.wholeMs)
  health.signal.addEventListener('abort', end)
  if (health.signal.aborted) end()
  try {
    const response = await follow(network, request, controller.signal)
    return await readResponse(response, request, controller.signal)
  } catch (thrown) {
    const why: unknown = health.signal.aborted ? health.signal.reason : (late ?? thrown)
    return { kind: 'failed', ...toFetchFailure(why, shown) }
  } finally {
    clearTimeout(timer)
    health.signal.removeEventListener('abort', end)
  }
}

async function follow(network: ConnectionPools, request: GetRequest, signal: AbortSignal) {
  const { limits, health } = network
  let url = request.url
  for (let hop = 0; hop <= redirectsMax; hop++) {
    const guarded = !network.mayBePrivate(url, request.url)
    // No resolver sees a literal address.
    if (guarded && isSpecialHost(url.hostname)) throw refusedAddress(url.hostname, url.hostname)
    const asked = (guarded ? network.publicOnly : network.unrestricted).request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'GET',
      headers: requestHeaders(request, url),
      signal,
      headersTimeout: limits.headersMs,
      bodyTimeout: limits.idleMs,
    })
    const response = await orAborted(asked, signal)
    health.onAnswer(url.host)
    const location = header(response, 'location')
    if (!isRedirect(response.statusCode)) return response
    await discardResponse(response)
    url = redirectTarget(url, location)
  }
  throw environmentError(
    'fetch_redirect',
    `${publicUrl(request.url)}: more than ${redirectsMax} redirects`,
  )
}

/**
 * Rejects as soon as the signal aborts: undici heeds it only once it has a connection, which can
 * take `connectMs`.
 */
async function orAborted(asked: Promise<Dispatcher.ResponseData>, signal: AbortSignal) {
  let stop = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
  try {
    return await Promise.race([asked, aborted])
  } catch (thrown) {
    if (signal.aborted) asked.then(({ body }) => body.destroy()).catch(() => undefined)
    throw thrown
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Throws if the redirect is not allowed. */
export function redirectTarget(from: URL, location: string | undefined): URL {
  const redirect = judgeRedirect(from, location)
  if (redirect.kind === 'follow') return redirect.to
  // Throws `fetch_url`, which names the scheme.
  if (redirect.kind === 'scheme') return parseWebUrl(redirect.to.href)
  const why =
    redirect.kind === 'no_address'
      ? 'a redirect without a usable address'
      : `redirects from https to ${publicUrl(redirect.to)}, which could be forged in transit`
  throw environmentError('fetch_redirect', `${publicUrl(from)}: ${why}`)
}

function requestHeaders(request: GetRequest, url: URL): Record<string, string | undefined> {
  const { etag, lastModified } = request.validators ?? {}
  const own = url.origin === request.url.origin
  return {
    'user-agent': `iprisk/${packageVersion} (IP risk table compiler)`,
    accept: '*/*',
    'accept-encoding': 'gzip, deflate, br',
    'if-none-match': etag,
    'if-modified-since': lastModified,
    authorization: own ? basicAuthorization(request.url) : undefined,
  }
}

async function readResponse(
  response: Dispatcher.ResponseData,
  request: GetRequest,
  signal: AbortSignal,
): Promise<Attempt> {
  const shown = publicUrl(request.url)
  const status = response.statusCode
  const validators: Validators = {
    etag: header(response, 'etag'),
    lastModified: header(response, 'last-modified'),
  }
  if (status === 304 && request.validators !== undefined) {
    await discardResponse(response)
    const { etag = request.validators.etag, lastModified = request.validators.lastModified } =
      validators
    return { kind: 'unchanged', validators: { etag, lastModified } }
  }
  if (status !== 200) {
    await discardResponse(response)
    const retryAfter = header(response, 'retry-after')
    const failure = statusFailure({ status, retryAfter, url: shown, now: Date.now() })
    return { kind: 'failed', status, ...failure }
  }
  const encoding = header(response, 'content-encoding')
  if (encoding === undefined && Number(header(response, 'content-length')) > request.bytes.max) {
    response.body.destroy()
    throw tooLarge(shown, request.bytes.max)
  }
  const received = await downloadBody({
    body: response.body,
    encoding,
    contentType: header(response, 'content-type'),
    format: request.format,
    bytes: request.bytes,
    to: request.to,
    signal,
    url: shown,
  })
  return { kind: 'fresh', validators, ...received }
}

function header(response: Dispatcher.ResponseData, name: string): string | undefined {
  const value = response.headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** An unread body would block its connection; a long one is cut off. */
async function discardResponse(response: Dispatcher.ResponseData): Promise<void> {
  await response.body.dump({ limit: 65_536 }).catch(() => undefined)
}
