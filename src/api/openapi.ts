// The OpenAPI 3.1 description of the public port, built from the tables that the server itself
// uses: paths, errors, value lists, signals. What is not in a table here (which member has which
// JSON type) is written once, in `schemas`, and a test holds real answers against it.
//
// Not the contract itself, and not the admin port, which is for operators.

import { packageVersion } from '../base/package-root.ts'
import { kinds, matches } from '../model/kind.ts'
import { addressesPerRequest, batchAddressesMax, batchBodyBytesMax } from './batch-answer.ts'
import { apiErrorCodes, apiErrors, type ApiErrorCode } from './api-error.ts'
import { valueLists } from './meta-answer.ts'
import { checkBodyBytesMax, paths } from './paths.ts'

type Json = Readonly<Record<string, unknown>>

const text = { type: 'string' } as const
const integer = { type: 'integer' } as const
const flag = { type: 'boolean' } as const
const day = { type: 'string', format: 'date' } as const
const share = { type: 'number', minimum: 0, maximum: 100 } as const
const score = { type: 'integer', minimum: 0, maximum: 100 } as const

function oneOf(values: readonly string[]): Json {
  return { type: 'string', enum: values }
}

/** An object whose members are all always there; clients must ignore members they do not know. */
function object(properties: Json, optional: readonly string[] = []): Json {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', properties, required }
}

function nullable(schema: Json): Json {
  return { anyOf: [schema, { type: 'null' }] }
}

function list(items: Json): Json {
  return { type: 'array', items }
}

function reference(name: string): Json {
  return { $ref: `#/components/schemas/${name}` }
}

const network = object({
  asn: integer,
  organization: text,
  // Open-ended: new kinds of network may appear (contract 3.3).
  type: { type: 'string', examples: valueLists.network_type },
  mobile: flag,
})

const location = object({
  country_code: text,
  continent_code: text,
  continent: text,
  country: text,
  state: text,
  city: text,
  zip: text,
  latitude: { type: 'number', minimum: -90, maximum: 90 },
  longitude: { type: 'number', minimum: -180, maximum: 180 },
  timezone: { type: 'string', description: 'IANA name, or empty.' },
  currency_code: text,
  accuracy: oneOf(valueLists.location_accuracy),
})

const proxy = object({
  confidence: oneOf(valueLists.confidence),
  type: oneOf(valueLists.proxy_type),
  provider: text,
  last_seen_at: day,
  percent_days_seen: share,
})

const bot = object({
  confidence: oneOf(valueLists.confidence),
  provider: text,
  category: oneOf(valueLists.bot_category),
})

const checkMembers = {
  classification: oneOf(valueLists.classification),
  risk_level: oneOf(valueLists.risk_level),
  risk_score: score,
  ip: { type: 'string', description: 'The address as sent.' },
  version: { type: 'integer', enum: [4, 6] },
  address: {
    type: 'string',
    description: 'Canonical text of what was judged, where `ip` is another text.',
  },
  network: nullable(reference('Network')),
  location: nullable(reference('Location')),
  proxy: nullable(reference('Proxy')),
  bot: nullable(reference('Bot')),
  signals: object(Object.fromEntries(valueLists.signal.map((name) => [name, flag]))),
  reasons: list({ type: 'string', description: 'Stable code.' }),
  table: { type: 'string', description: 'Id of the table that answered.' },
  insights: {
    anyOf: [reference('Insights'), { type: 'null' }],
    description:
      'With `?include=insights`, for plans that have them; null where the table is too old.',
  },
}

const checkAnswer = object(checkMembers, ['address', 'insights'])

const number = { type: 'number' } as const

const insights = object({
  table: object({ id: text, built_at: { type: 'string', format: 'date-time' }, as_of: day }),
  score_range: { type: 'array', items: score, minItems: 2, maxItems: 2 },
  reasons: list(object({ code: text, text, points: integer })),
  evidence: list(
    object({
      feed: text,
      kind: oneOf(kinds),
      provider: text,
      matched: { type: 'string', description: 'Address, prefix, range or AS that the feed lists.' },
      match: oneOf(matches),
      first_seen: day,
      last_seen: day,
      days_seen: integer,
      days_observed: integer,
      confidence: oneOf(valueLists.confidence),
      weight: { type: 'number', minimum: 0, maximum: 1 },
      lists: integer,
      licence: text,
    }),
  ),
  neighborhood: list(
    object({
      scope: text,
      unit: oneOf(['address', '/64']),
      size: number,
      listed: list(
        object({ kind: oneOf(kinds), listed: number, percent: share, times_asn: nullable(number) }),
      ),
    }),
  ),
  counterfactuals: object({
    without_feed: list(
      object({
        feed: text,
        classification: oneOf(valueLists.classification),
        risk_level: oneOf(valueLists.risk_level),
        risk_score: score,
      }),
    ),
    falls_below: list(object({ risk_level: oneOf(valueLists.risk_level), day: nullable(day) })),
  }),
  alternatives: list(
    object({
      classification: oneOf(valueLists.classification),
      strength: { type: 'number', minimum: 0, maximum: 1 },
      confidence: oneOf(valueLists.confidence),
    }),
  ),
})

const batchAnswer = object({
  results: list({ anyOf: [reference('CheckAnswer'), reference('BatchError')] }),
})

const batchError = object({
  ip: { type: 'string', description: 'The element as sent.' },
  error: object({ code: oneOf(['invalid_input']), message: text }),
})

const left = { remaining: integer, reset_seconds: integer }

const metaAnswer = object({
  table: object({ id: text, as_of: day, age_seconds: integer, bytes: integer }),
  feeds: list(
    object({
      id: text,
      kind: text,
      provider: text,
      licence: text,
      homepage: text,
      day,
      age_seconds: integer,
      entries: integer,
    }),
  ),
  thresholds: list(
    object({
      risk_level: oneOf(valueLists.risk_level),
      risk_score_min: score,
      risk_score_max: score,
    }),
  ),
  values: object(Object.fromEntries(Object.keys(valueLists).map((name) => [name, list(text)]))),
  key: object({
    id: text,
    plan: text,
    apis: list(text),
    insights: text,
    limits: object({
      rate: nullable(object({ per_second: integer, burst: integer, ...left })),
      quota: nullable(object({ per_month: integer, ...left })),
    }),
  }),
})

const errorAnswer = object({
  error: object({ code: oneOf(apiErrorCodes), message: text, request_id: text }),
})

const schemas = {
  CheckRequest: object({
    ip: {
      type: 'string',
      description:
        'One IPv4 or IPv6 address, without zone, brackets, prefix length or white space.',
      examples: ['192.0.2.1', '2001:db8::1'],
    },
  }),
  BatchRequest: object({
    ips: { ...list(text), minItems: 1, maxItems: batchAddressesMax },
  }),
  CheckAnswer: checkAnswer,
  Insights: insights,
  BatchAnswer: batchAnswer,
  BatchError: batchError,
  Network: network,
  Location: location,
  Proxy: proxy,
  Bot: bot,
  Meta: metaAnswer,
  Error: errorAnswer,
} as const

const requestIdHeader = {
  description: 'The X-Request-Id of the request, where it was fit to be repeated, or our own.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
}

const extraHeaders: Readonly<Partial<Record<number, Json>>> = {
  401: { 'WWW-Authenticate': { schema: { type: 'string', const: 'Bearer' } } },
  405: { Allow: { schema: text } },
  429: { 'Retry-After': { schema: integer } },
  503: { 'Retry-After': { schema: integer } },
}

/** Structured fields (RFC 9651) by draft-ietf-httpapi-ratelimit-headers-10, where a limit exists. */
const limitHeaders: Json = {
  'RateLimit-Policy': {
    description: 'The limits of the key: "rate" and "quota", each with what its window allows.',
    schema: text,
  },
  RateLimit: {
    description: 'What is left of each just now, and the seconds until all of it is back.',
    schema: text,
  },
}

/** Answers of which the key may not be known, or says nothing. */
const keylessStatuses = new Set([401, 403, 405])

function responseOf(status: number, description: string, schema: string): Json {
  return {
    description,
    headers: {
      'X-Request-Id': requestIdHeader,
      ...(keylessStatuses.has(status) ? {} : limitHeaders),
      ...extraHeaders[status],
    },
    content: { 'application/json': { schema: reference(schema) } },
  }
}

/** The responses of an endpoint: its 200, and one for each status that its errors have. */
function responses(schema: string, description: string, codes: readonly ApiErrorCode[]): Json {
  const answers: Record<string, Json> = { 200: responseOf(200, description, schema) }
  for (const code of codes) {
    const { status } = apiErrors[code]
    const alike = codes.filter((other) => apiErrors[other].status === status)
    const messages = alike.map((other) => `\`${other}\`: ${apiErrors[other].message}`)
    answers[status] = responseOf(status, messages.join('\n\n'), 'Error')
  }
  return answers
}

function bodyOf(schema: string): Json {
  return { required: true, content: { 'application/json': { schema: reference(schema) } } }
}

const keyErrors = [
  'invalid_api_key',
  'api_not_enabled_for_plan',
  'token_not_allowed_for_api',
  'method_not_allowed',
  'rate_limit_exceeded',
  'internal_error',
  'upstream_unavailable',
] as const satisfies readonly ApiErrorCode[]

const checkErrors = [
  'invalid_input',
  'payload_too_large',
  'api_quota_exceeded',
  ...keyErrors,
] as const satisfies readonly ApiErrorCode[]

const check = {
  operationId: 'checkAddress',
  summary: 'Check an IP address',
  description: `Order of the errors: 404 and 405, 401, 403, 429 rate, 413 and 400, 429 quota, 503. The Content-Type is not checked. The body has at most ${checkBodyBytesMax} bytes.`,
  parameters: [
    {
      name: 'include',
      in: 'query',
      description: '`insights`: why the answer is what it is, where the plan of the key has that.',
      schema: text,
    },
  ],
  requestBody: bodyOf('CheckRequest'),
  responses: responses('CheckAnswer', 'What is known of the address.', checkErrors),
}

const batch = {
  operationId: 'checkAddresses',
  summary: 'Check many IP addresses',
  description: `Answers 1 to ${batchAddressesMax} addresses in their order, each as a check does or with an error of its own. Spends quota by valid addresses, all or nothing, and rate by one request for each ${addressesPerRequest}. The body has at most ${batchBodyBytesMax} bytes.`,
  requestBody: bodyOf('BatchRequest'),
  responses: responses('BatchAnswer', 'What is known of the addresses.', checkErrors),
}

const meta = {
  operationId: 'readMeta',
  summary: 'What the service knows, and what the key may do',
  responses: responses('Meta', 'Table, feeds, thresholds, value lists, limits.', keyErrors),
}

const describeApi = {
  operationId: 'readOpenApi',
  summary: 'This document',
  security: [],
  responses: {
    200: {
      description: 'OpenAPI 3.1.',
      headers: { 'X-Request-Id': requestIdHeader },
      content: { 'application/json': { schema: { type: 'object' } } },
    },
  },
}

export const openApiDocument = {
  openapi: '3.1.0',
  info: {
    title: 'IP risk',
    version: packageVersion,
    summary:
      'Says whether traffic from an address looks like an ordinary user, a proxy, VPN, Tor exit, hosting network, residential proxy or known bot.',
    description:
      'Answers evolve by gaining members; clients must ignore members that they do not know.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  security: [{ key: [] }],
  paths: {
    [paths.check]: { post: check },
    [paths.batch]: { post: batch },
    [paths.meta]: { get: meta },
    [paths.openApi]: { get: describeApi },
  },
  components: {
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
    schemas,
  },
} as const
