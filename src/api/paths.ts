// The paths of the public port (contract 1 and 3.17), once, for the server and its description.

export const paths = {
  check: '/v1/intelligence/ip-risk/check',
  batch: '/v1/intelligence/ip-risk/check/batch',
  feedback: '/v1/intelligence/ip-risk/feedback',
  meta: '/v1/intelligence/ip-risk/meta',
  openApi: '/openapi.json',
  docs: '/docs',
  docsErrors: '/docs/errors',
} as const
