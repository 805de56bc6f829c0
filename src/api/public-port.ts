// Paths (contract 1: operation, 3.17: meta, 6.2: bouncers, 6.3: published sets) and limits (3.11:
// bodies, 3.16: batches) of the public port.

export const paths = {
  check: '/v1/intelligence/ip-risk/check',
  batch: '/v1/intelligence/ip-risk/check/batch',
  feedback: '/v1/intelligence/ip-risk/feedback',
  meta: '/v1/intelligence/ip-risk/meta',
  /** A set's name follows. */
  lists: '/lists/',
  decisions: '/v1/decisions',
  decisionStream: '/v1/decisions/stream',
  usageMetrics: '/v1/usage-metrics',
  openApi: '/openapi.json',
  docs: '/docs',
  docsErrors: '/docs/errors',
} as const

export const checkBodyBytesMax = 65_536

export const batchBodyBytesMax = 1_048_576

/** At least one. */
export const batchAddressesMax = 10_000

/** Every this many addresses of a batch, rounded up, cost one request of the rate. */
export const addressesPerRequest = 100
