// Addresses of files on the web: the mirror's, and how one is shown. Nothing here connects.
// Invariant: what `publicUrl` returns holds no credential, and only that form is stored or printed.

import { inputError } from '../../src/base/coded-error.ts'
import { isWebUrl } from '../../src/ip/outbound-policy.ts'

// Names of query members that carry a secret at the publishers that know keys.
const secretName = /(^|[-_.])(token|key|apikey|secret|password|passwd|pwd|auth|sig|signature)$/i

/** `text` as a URL that can be fetched: http or https. Throws `fetch_url`. */
export function parseWebUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !isWebUrl(url)) {
    throw inputError(
      'fetch_url',
      `${url === undefined ? JSON.stringify(text) : publicUrl(url)} is no http or https address`,
    )
  }
  return url
}

/** The URL without user, password, fragment and the values of secret query members. */
export function publicUrl(url: URL): string {
  const shown = new URL(url)
  shown.username = ''
  shown.password = ''
  shown.hash = ''
  // Setting a member rewrites the whole query, so it is left alone where nothing is secret.
  for (const name of new Set(shown.searchParams.keys())) {
    if (secretName.test(name)) shown.searchParams.set(name, '***')
  }
  return shown.href
}

/** `Authorization` for a URL with user and password; `undefined` without. */
export function basicAuthorization(url: URL): string | undefined {
  if (url.username === '' && url.password === '') return undefined
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`
}

/** `base` and the segments below it, whether or not `base` ends in a slash. */
export function mirrorUrl(base: URL, segments: readonly string[]): URL {
  const url = new URL(base)
  const folder = url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/`
  url.pathname = folder + segments.map((segment) => encodeURIComponent(segment)).join('/')
  return url
}
