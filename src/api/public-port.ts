// Paths (contract 1 and 3.17) and limits (3.11, 3.16) of the public port.

export const paths = {
  check: '/v1/intelligence/ip-risk/check',
  batch: '/v1/intelligence/ip-risk/check/batch',
  feedback: '/v1/intelligence/ip-risk/feedback',
  meta: '/v1/intelligence/ip-risk/meta',
  openApi: '/openapi.json',
  docs: '/docs',
  docsErrors: '/docs/errors',
} as const

export const checkBodyBytesMax = 65_536

export const batchBodyBytesMax = 1_048_576

/** At least one. */
export const batchAddressesMax = 10_000

/** A batch costs rate one request for each so many addresses, rounded up. */
export const addressesPerRequest = 100
