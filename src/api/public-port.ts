// The paths of the public port (contract 1 and 3.17) and how much one request may carry (contract
// 3.11 and 3.16), once, for the server and its description.

export const paths = {
  check: '/v1/intelligence/ip-risk/check',
  batch: '/v1/intelligence/ip-risk/check/batch',
  feedback: '/v1/intelligence/ip-risk/feedback',
  meta: '/v1/intelligence/ip-risk/meta',
  openApi: '/openapi.json',
  docs: '/docs',
  docsErrors: '/docs/errors',
} as const

/** The largest body of a check, bytes. */
export const checkBodyBytesMax = 65_536

/** The largest body of a batch, bytes. */
export const batchBodyBytesMax = 1_048_576

/** A batch has at least one. */
export const batchAddressesMax = 10_000

/** A batch spends rate by one request for so many addresses, or the beginning of so many. */
export const addressesPerRequest = 100
