// The OpenAPI 3.1 description of the public port, built from what the server itself uses. Neither
// the contract nor the admin port.

import { z } from 'zod'
import { packageVersion } from '../../src/base/package-root.ts'
import { listFormats, mmdbLayoutNames } from '../../src/config/export-formats.ts'
import { outcomeWords } from '../../src/model/kind.ts'
import { type ApiErrorCode, apiErrorCodes, apiErrors } from '../../src/api/api-error.ts'
import {
  policyName,
  botAnswer,
  checkRequest,
  detection,
  location,
  networkAnswer,
  previousVisit,
  proxyAnswer,
  travelAnswer,
} from '../../src/api/check-answer.ts'
import { agentAnswer, agentRequest } from '../../src/api/agent-context.ts'
import { coverageAnswer } from '../../src/api/coverage-answer.ts'
import { invalidInput } from '../../src/api/input-fault.ts'
import { anyCheckAnswer, insights } from '../../src/api/insights-answer.ts'
import { metaAnswer } from '../../src/api/meta-answer.ts'
import {
  addressesPerRequest,
  batchAddressesMax,
  batchBodyBytesMax,
  checkBodyBytesMax,
  paths,
} from '../../src/api/public-port.ts'
import type { Wire } from '../../src/api/wire.ts'

type Json = Readonly<Record<string, unknown>>

const feedbackRequest = z
  .object({
    outcomes: z
      .array(
        z
          .object({
            ip: z.string().describe('The address.'),
            outcome: z.enum(outcomeWords).describe('What the traffic from it turned out to be.'),
            at: z
              .string()
              .describe('When it was seen: an RFC 3339 time with a zone, or a day. Default: now.')
              .exactOptional(),
            note: z.string().describe('A reason, or a reference of your own.').exactOptional(),
            request_id: z
              .string()
              .regex(/^[A-Za-z0-9._-]{1,64}$/)
              .describe('Your id of the login: outcomes with the same one count once.')
              .exactOptional(),
          })
          .describe('An address and its outcome.'),
      )
      .min(1)
      .max(1000)
      .meta({
        description: 'The outcomes.',
        examples: [[{ ip: '198.18.0.6', outcome: 'abusive', note: 'account takeover' }]],
      }),
  })
  .describe('Outcomes of addresses.')

const feedbackAnswer = z
  .object({
    accepted: z.int().describe('Number of outcomes stored: all of those in the request.'),
  })
  .describe('Confirms what was stored.')

const errorAnswer = z
  .object({
    error: z
      .object({
        code: z.enum(apiErrorCodes).describe('Stable; branch on this.'),
        message: z.string().describe('For people; the wording may change.'),
        param: z
          .string()
          .describe('The member or query parameter at fault, if any.')
          .exactOptional(),
        doc_url: z.string().describe('Path of the documentation of the code, below /docs.'),
        request_id: z.string().describe("Also in X-Request-Id and in the server's log."),
      })
      .describe('What is wrong and what to do.'),
  })
  .describe('The body of every error response.')
export type ErrorBody = Wire<typeof errorAnswer>

const bouncerError = errorAnswer
  .extend({ message: z.string().describe('That of `error`, where bouncers read it.') })
  .describe('The body of every error response to a bouncer.')

const bouncerDecision = z
  .object({
    id: z.int().describe('In the stream, the same for a prefix and decision in every pull.'),
    origin: z.string().describe('Always `lists:iprisk`.'),
    type: z
      .string()
      .describe('`ban` for `block`, `captcha` for `challenge`, any other action as it is.'),
    scope: z.string().describe('`Ip`, or `Range` for a prefix.'),
    value: z.string().describe('The address or prefix.'),
    duration: z.string().describe('How long to apply it, as in `0h5m0s`.'),
    scenario: z.string().describe('`iprisk/` and the rule of the policy.'),
  })
  .describe('What to do with an address or a prefix.')

const decisionStream = z
  .object({
    new: z.array(bouncerDecision).nullable().describe('Decisions to add; null without any.'),
    deleted: z.array(bouncerDecision).nullable().describe('Decisions to end; null without any.'),
  })
  .describe('The changes since the last pull of this key.')

export const batchRequest = z
  .object({
    ips: z
      .array(z.string())
      .min(1)
      .max(batchAddressesMax)
      .meta({ description: 'The addresses.', examples: [['198.18.0.1', '198.18.0.6']] })
      .exactOptional(),
    checks: z
      .array(checkRequest)
      .min(1)
      .max(batchAddressesMax)
      .describe('Instead of `ips`: bodies of checks, each with its own policy.')
      .exactOptional(),
    policy: policyName.exactOptional(),
  })
  .describe('The addresses to check: `ips` or `checks`, not both.')

export const batchError = z
  .object({
    ip: z
      .string()
      .describe(
        'The element of `ips` as sent, or its JSON if it is not a string; the `ip` of an element of `checks`, empty if that is not a string.',
      ),
    error: z
      .object({
        code: z.enum([invalidInput]).describe('Always `invalid_input`.'),
        message: z.string().describe('What is wrong with the element.'),
        param: z
          .string()
          .describe('The member at fault in an element of `checks`.')
          .exactOptional(),
      })
      .describe('Why this element was not answered.'),
  })
  .describe('The row of an invalid element.')

export const batchAnswer = z
  .object({
    results: z
      .array(z.union([anyCheckAnswer, batchError]))
      .describe('One row per element, in order.'),
  })
  .describe('The results, one row per element of the request.')
export type BatchAnswer = Wire<typeof batchAnswer>

const shapes = {
  CheckRequest: checkRequest,
  BatchRequest: batchRequest,
  CheckAnswer: anyCheckAnswer,
  Insights: insights,
  BatchAnswer: batchAnswer,
  BatchError: batchError,
  Network: networkAnswer,
  Location: location,
  Proxy: proxyAnswer,
  Bot: botAnswer,
  Detection: detection,
  Previous: previousVisit,
  Travel: travelAnswer,
  AgentRequest: agentRequest,
  Agent: agentAnswer,
  Coverage: coverageAnswer,
  FeedbackRequest: feedbackRequest,
  FeedbackAnswer: feedbackAnswer,
  Meta: metaAnswer,
  BouncerDecision: bouncerDecision,
  DecisionStream: decisionStream,
  Error: errorAnswer,
  BouncerError: bouncerError,
}
type ShapeName = keyof typeof shapes

const schemaPath = (name: string): string => `#/components/schemas/${name}`

/** As JSON Schema that allows members unknown to clients. */
function jsonSchemas(): Readonly<Record<ShapeName, Json>> {
  const registry = z.registry<{ id: string }>()
  for (const [id, shape] of Object.entries(shapes)) registry.add(shape, { id })
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    uri: schemaPath,
    override: ({ jsonSchema }) => {
      // Drops patterns where there is a format, and the bounds that zod gives every integer.
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  // A component's path is its id.
  for (const schema of Object.values(schemas)) {
    delete schema.$schema
    delete schema.$id
  }
  return schemas as Record<ShapeName, Json>
}

const text = { type: 'string' } as const
const integer = { type: 'integer' } as const
const batchBodyBytesText = batchBodyBytesMax.toLocaleString('en')

function reference(name: ShapeName): Json {
  return { $ref: schemaPath(name) }
}

const requestIdHeader = {
  description: 'The X-Request-Id of the request if it is valid, else one made by the server.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
}

const retryAfterHeader = {
  description: 'Seconds to wait before retrying.',
  schema: integer,
}

const extraHeaders: Readonly<Partial<Record<number, Json>>> = {
  401: {
    'WWW-Authenticate': {
      description: 'The authentication schemes: Bearer, and Basic for lists.',
      schema: text,
    },
  },
  405: { Allow: { description: 'The methods that the path accepts.', schema: text } },
  429: { 'Retry-After': retryAfterHeader },
  503: { 'Retry-After': retryAfterHeader },
}

/** RFC 9651 structured fields by draft-ietf-httpapi-ratelimit-headers-10. */
const limitHeaders: Json = {
  'RateLimit-Policy': {
    description: 'The limits of the key, "rate" and "quota", each with its allowance and window.',
    schema: text,
  },
  RateLimit: {
    description: 'What is left of each limit, and the seconds until it is fully restored.',
    schema: text,
  },
}

/** The key may not be known. */
const keylessStatuses = new Set([401, 403, 404, 405])

function responseOf(
  status: number,
  description: string,
  schema: ShapeName | Json,
  limits: Json = keylessStatuses.has(status) ? {} : limitHeaders,
): Json {
  return {
    description,
    headers: {
      'X-Request-Id': requestIdHeader,
      ...limits,
      ...extraHeaders[status],
    },
    content: {
      'application/json': { schema: typeof schema === 'string' ? reference(schema) : schema },
    },
  }
}

/** Instead of those of the table of errors. */
type Messages = Readonly<Partial<Record<ApiErrorCode, string>>>

/** A 200, and one response for each status of the errors. */
function responses(
  schema: ShapeName | Json,
  description: string,
  codes: readonly ApiErrorCode[],
  own: { readonly messages?: Messages; readonly error?: ShapeName } = {},
): Readonly<Record<string, Json>> {
  const answers: Record<string, Json> = { 200: responseOf(200, description, schema) }
  for (const code of codes) {
    const { status } = apiErrors[code]
    const alike = codes.filter((other) => apiErrors[other].status === status)
    const messages = alike.map(
      (other) => `\`${other}\`: ${own.messages?.[other] ?? apiErrors[other].message}`,
    )
    answers[status] = responseOf(status, messages.join('\n\n'), own.error ?? 'Error')
  }
  return answers
}

function acceptedResponses(): Json {
  const codes = ['invalid_input', 'payload_too_large', ...keyErrors] as const
  const { 200: accepted, ...errors } = responses('FeedbackAnswer', 'All are stored.', codes)
  return { 202: accepted, ...errors }
}

function bodyOf(schema: ShapeName): Json {
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

function includeParameter(insights: string): Json {
  return {
    name: 'include',
    in: 'query',
    description: `Comma-separated. \`insights\`: ${insights}. \`prefix\`: the widest prefix for which the answer holds. \`detections\`: one finding for each kind of evidence. An empty value counts as absent; any other value is a 400.`,
    schema: { type: 'string', examples: ['prefix', 'insights,prefix', 'detections'] },
  }
}

const check = {
  operationId: 'checkAddress',
  tags: ['Checks'],
  summary: 'Check an IP address',
  description: `Errors are checked in this order: 404 and 405, 401, 403, 429 rate, 413 and 400, 429 quota, 503. The Content-Type is ignored. The body is limited to ${checkBodyBytesMax.toLocaleString('en')} bytes.`,
  parameters: [
    includeParameter('explains the answer; null if the plan of the key does not include it'),
  ],
  requestBody: bodyOf('CheckRequest'),
  responses: responses('CheckAnswer', 'What is known about the address.', checkErrors),
}

const batch = {
  operationId: 'checkAddresses',
  tags: ['Checks'],
  summary: 'Check up to 10,000 IP addresses',
  description: `Answers each address in order, as a check does, or with an error of its own. Spends quota for the answered addresses, all or nothing, and one request of rate per ${addressesPerRequest} addresses. The body is limited to ${batchBodyBytesText} bytes.`,
  parameters: [includeParameter('accepted and ignored; only single checks have insights')],
  requestBody: bodyOf('BatchRequest'),
  responses: responses('BatchAnswer', 'What is known about the addresses.', checkErrors),
}

const feedback = {
  operationId: 'reportOutcomes',
  tags: ['Service'],
  summary: 'Report outcomes',
  description: `Reports how 1 to 1,000 addresses turned out. If one outcome is invalid, none is stored. Spends rate, but no quota. The body is limited to ${batchBodyBytesText} bytes.`,
  requestBody: bodyOf('FeedbackRequest'),
  responses: acceptedResponses(),
}

const meta = {
  operationId: 'readMeta',
  tags: ['Service'],
  summary: 'Get table, feeds and key limits',
  responses: responses('Meta', 'Table, feeds, thresholds, value lists and limits.', [
    'payload_too_large',
    ...keyErrors,
  ]),
}

const listParameters = {
  format: `One of ${listFormats.join(', ')}; \`plain\` by default.`,
  layout: `For \`mmdb\`: one of ${mmdbLayoutNames.join(', ')}; \`iprisk\` by default.`,
  family: '`4` or `6`; both by default. `checkpoint` has only IPv4, and `mmdb` always both.',
  page_size:
    'Prefixes per page, at most 1,000,000; all by default. `nft`, `ipset`, `mikrotik` and `mmdb` have no pages.',
  page: 'The page, from 1 to 10,000; needs `page_size`. A page after the last is empty.',
  max: 'A set with more prefixes is a 422; 1,000,000 by default.',
}

const listHeaders = {
  ETag: { description: 'Changes with the content, for `If-None-Match`.', schema: text },
  'Last-Modified': { description: 'When this generation of the set was built.', schema: text },
}

const listAnswers = responses(
  { type: 'array', items: text },
  'The prefixes of the set: lines of text, JSON for `json`, or a file for `mmdb`.',
  [
    'invalid_input',
    'not_found',
    'payload_too_large',
    'set_too_large',
    ...keyErrors.filter((code) => code !== 'api_not_enabled_for_plan'),
  ],
  {
    messages: {
      invalid_input: 'A parameter of the query is not valid.',
      not_found: 'There is no such set.',
      token_not_allowed_for_api: 'This key may not read lists. Its APIs must include `lists`.',
    },
  },
)

const list = {
  operationId: 'readList',
  tags: ['Tools'],
  summary: 'Get a published set',
  description:
    'All addresses that match the condition of a set, as the fewest prefixes, sorted. The key needs the API `lists`; with basic authentication it is the password. Spends rate, but no quota. The first request for a set waits up to 8 seconds for it to be built, then gets a 503.',
  security: [{ key: [] }, { basic: [] }],
  parameters: [
    {
      name: 'name',
      in: 'path',
      required: true,
      description:
        '`tor`, `vpn`, `proxy`, `hosting`, `residential-proxy`, `high-risk`, `bouncer`, or a set of your own.',
      schema: { type: 'string', examples: ['tor'] },
    },
    ...Object.entries(listParameters).map(([name, description]) => ({
      name,
      in: 'query',
      description,
      schema: text,
    })),
  ],
  responses: {
    ...listAnswers,
    200: {
      ...listAnswers[200],
      headers: { ...(listAnswers[200]?.['headers'] as Json), ...listHeaders },
      content: {
        'text/plain': { schema: text },
        'application/json': { schema: { type: 'array', items: text } },
        'application/octet-stream': {},
      },
    },
    304: { description: 'The set has not changed (`If-None-Match`).', headers: listHeaders },
  },
}

const bouncerErrors = [
  'token_not_allowed_for_api',
  'method_not_allowed',
  'payload_too_large',
  'rate_limit_exceeded',
  'internal_error',
  'upstream_unavailable',
] as const satisfies readonly ApiErrorCode[]

function bouncerOperation(
  operationId: string,
  summary: string,
  {
    codes = [],
    schema,
    says,
    status = 200,
    ...more
  }: {
    readonly description: string
    readonly parameters?: readonly Json[]
    readonly codes?: readonly ApiErrorCode[]
    readonly schema: ShapeName | Json
    readonly says: string
    readonly status?: number
  },
) {
  const messages = {
    invalid_input: 'The parameter `param` is missing, not valid or not supported.',
    token_not_allowed_for_api: 'X-Api-Key must be a key that allows the API `bouncer`.',
  }
  const own = { messages, error: 'BouncerError' } as const
  const { 200: answer, ...errors } = responses(schema, says, [...codes, ...bouncerErrors], own)
  const security = [{ bouncerKey: [] }]
  return {
    operationId,
    tags: ['Tools'],
    summary,
    ...more,
    security,
    responses: { [status]: answer, ...errors },
  }
}

const decisions = bouncerOperation('decideAddress', 'Get the decision for an address', {
  description:
    "For CrowdSec's bouncers in live mode, in the form of CrowdSec's local API. Decided by the policy of the key; spends rate and quota.",
  parameters: [
    {
      name: 'ip',
      in: 'query',
      required: true,
      description: 'One IPv4 or IPv6 address. Filters are not supported.',
      schema: { type: 'string', examples: ['198.51.100.7'] },
    },
  ],
  codes: ['invalid_input', 'api_quota_exceeded'],
  schema: { anyOf: [{ type: 'array', items: reference('BouncerDecision') }, { type: 'null' }] },
  says: 'The decision; null if the policy allows the address.',
})

const stream = bouncerOperation('readDecisionStream', 'Get all decisions, or their changes', {
  description:
    "For CrowdSec's bouncers in stream mode. The prefixes that the policy `default` does not allow: all at the first pull of a key, then changes. Spends rate, but no quota.",
  parameters: [
    {
      name: 'startup',
      in: 'query',
      description: '`true` for everything, whatever the key pulled before.',
      schema: text,
    },
  ],
  codes: ['invalid_input'],
  schema: 'DecisionStream',
  says: 'What has changed.',
})

const usageMetrics = bouncerOperation('reportUsageMetrics', 'Report metrics of a bouncer', {
  description: 'Accepted for the sake of the bouncers, and discarded. Spends rate, but no quota.',
  schema: { type: 'null' },
  says: 'Always null.',
  status: 201,
})

/** For paths that accept GET and HEAD without a key. */
const keylessErrors = Object.fromEntries(
  (['method_not_allowed', 'payload_too_large'] as const).map((code) => {
    const { status, message } = apiErrors[code]
    return [status, responseOf(status, `\`${code}\`: ${message}`, 'Error', {})]
  }),
)

const describeApi = {
  operationId: 'readOpenApi',
  tags: ['Service'],
  summary: 'Get the OpenAPI document',
  security: [],
  responses: {
    200: {
      description: 'OpenAPI 3.1.',
      headers: { 'X-Request-Id': requestIdHeader },
      content: { 'application/json': { schema: { type: 'object' } } },
    },
    ...keylessErrors,
  },
}

/** 404 with `--docs off`. */
function page(operationId: string, summary: string): Json {
  return {
    operationId,
    tags: ['Service'],
    summary,
    description: 'Absent if the server runs with `--docs off`.',
    security: [],
    responses: {
      200: {
        description: 'An HTML page.',
        headers: {
          'X-Request-Id': requestIdHeader,
          ETag: { description: 'Changes with the content of the page.', schema: text },
        },
        content: { 'text/html': { schema: text } },
      },
      304: { description: 'The page has not changed (`If-None-Match`).' },
      404: responseOf(404, `\`not_found\`: ${apiErrors.not_found.message}`, 'Error'),
      ...keylessErrors,
    },
  }
}

export const openApiDocument = {
  openapi: '3.1.0',
  info: {
    title: 'IP risk API',
    version: packageVersion,
    summary:
      'Classifies IP addresses and scores their risk: ordinary user, proxy, VPN, Tor exit, hosting network, residential proxy or known bot.',
    description:
      'Answers gain members over time; clients must ignore members that they do not know.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  tags: [
    { name: 'Checks', description: 'Check addresses.' },
    { name: 'Tools', description: "For firewalls, proxies and CrowdSec's bouncers." },
    { name: 'Service', description: 'Report outcomes, and read about the service.' },
  ],
  security: [{ key: [] }],
  paths: {
    [paths.check]: { post: check },
    [paths.batch]: { post: batch },
    [paths.feedback]: { post: feedback },
    [paths.meta]: { get: meta },
    [`${paths.lists}{name}`]: { get: list },
    [paths.decisions]: { get: decisions },
    [paths.decisionStream]: { get: stream },
    [paths.usageMetrics]: { post: usageMetrics },
    [paths.openApi]: { get: describeApi },
    [paths.docs]: { get: page('readDocs', 'Get this reference') },
    [paths.docsErrors]: { get: page('readErrorDocs', 'Get the error reference') },
  },
  components: {
    securitySchemes: {
      key: {
        type: 'http',
        scheme: 'bearer',
        description:
          'A key, `irk_…`, from `iprisk keys create`, or a test key, `irkt_…`, from `iprisk keys create --test`.',
      },
      basic: {
        type: 'http',
        scheme: 'basic',
        description: 'Any user name, and a key as the password.',
      },
      bouncerKey: {
        type: 'apiKey',
        in: 'header',
        name: 'X-Api-Key',
        description: 'A key, `irk_…`, from `iprisk keys create --api bouncer`.',
      },
    },
    schemas: jsonSchemas(),
  },
} as const
