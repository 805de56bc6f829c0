// The route table: every path of the public port, its methods and endpoints. A path is compared as
// sent, without its query: no decoding, no trailing slash.

import type { HttpRequest } from 'uWebSockets.js'
import type { Authenticated } from '../account/keyring.ts'
import { batchBodyBytesMax, checkBodyBytesMax, paths } from '../api/public-port.ts'
import { answerBatch } from './endpoint/batch-endpoint.ts'
import { answerCheck } from './endpoint/check-endpoint.ts'
import { answerFeedback, answerTestFeedback } from './endpoint/feedback-endpoint.ts'
import { answerMeta, answerOpenApi } from './endpoint/meta-endpoint.ts'
import { answerTestBatch, answerTestCheck } from './test-key/test-endpoint.ts'
import { answerDocs } from './endpoint/docs-endpoint.ts'
import type { Credential } from './endpoint/authorize.ts'
import type { Exchange, Service } from './exchange/exchange.ts'

/** `open` endpoints need no key. */
export type Endpoint =
  { readonly access: 'open'; readonly answer: (exchange: Exchange) => void } | KeyedEndpoint

export interface KeyedEndpoint {
  readonly access: 'key'
  /** Default: the Authorization header and the API `ip-risk`. */
  readonly credential?: Credential
  readonly bodyBytesMax: number
  /** Its query may have `include` (insights-endpoint.ts). */
  readonly takesInclude: boolean
  readonly answer: AnswerKey
  /** For a test key (contract 5.7: test keys). */
  readonly answerTest: AnswerKey
}

export type AnswerKey = (exchange: Exchange, key: Authenticated, body: Uint8Array) => void

export type AdapterRoutes = (path: string, request: HttpRequest) => Route | undefined

export interface Route {
  readonly allow: string
  readonly methods: ReadonlyMap<string, Endpoint>
}

function route(methods: Readonly<Record<string, Endpoint>>): Route {
  return { allow: Object.keys(methods).join(', '), methods: new Map(Object.entries(methods)) }
}

/** HEAD is GET without the body (RFC 9110, 9.3.2). */
function getRoute(endpoint: Endpoint): Route {
  return route({ GET: endpoint, HEAD: endpoint })
}

const keyed = { access: 'key', bodyBytesMax: checkBodyBytesMax, takesInclude: false } as const

/** worker.ts lets uWebSockets.js's own router find it. */
export const checkEndpoint: Endpoint = {
  ...keyed,
  takesInclude: true,
  answer: answerCheck,
  answerTest: answerTestCheck,
}

const batchEndpoint: Endpoint = {
  ...keyed,
  bodyBytesMax: batchBodyBytesMax,
  takesInclude: true,
  answer: answerBatch,
  answerTest: answerTestBatch,
}

const feedbackEndpoint: Endpoint = {
  ...keyed,
  bodyBytesMax: batchBodyBytesMax,
  answer: answerFeedback,
  answerTest: answerTestFeedback,
}

export const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  [paths.check, route({ POST: checkEndpoint })],
  [paths.batch, route({ POST: batchEndpoint })],
  [paths.feedback, route({ POST: feedbackEndpoint })],
  [paths.meta, getRoute({ ...keyed, answer: answerMeta, answerTest: answerMeta })],
  [paths.openApi, getRoute({ access: 'open', answer: answerOpenApi })],
])

export function docsRouteOf(
  { docs }: Pick<Service, 'docs'>,
  path: string,
  request: Pick<HttpRequest, 'getHeader'>,
): Route | undefined {
  const file = docs?.get(path)
  if (file === undefined) return undefined
  const accepted = request.getHeader('accept-encoding')
  const known = request.getHeader('if-none-match')
  return getRoute({
    access: 'open',
    answer: (exchange) => answerDocs(exchange, file, { accepted, known }),
  })
}
