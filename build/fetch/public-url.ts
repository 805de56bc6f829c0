// URLs of files on the web, and how they are shown: what `publicUrl` returns holds no credential,
// and only that form is stored or printed.

import { inputError } from '../../src/base/coded-error.ts'
import { isWebUrl } from '../../src/ip/outbound-policy.ts'

const secretName = /(^|[-_.])(token|key|apikey|secret|password|passwd|pwd|auth|sig|signature)$/i

/** Accepts http and https. Throws `fetch_url`. */
export function parseWebUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !isWebUrl(url)) {
    throw inputError(
      'fetch_url',
      `${url === undefined ? JSON.stringify(text) : publicUrl(url)} is not an http or https address`,
    )
  }
  return url
}

/** Without user, password, fragment and the values of secret query members. */
export function publicUrl(url: URL): string {
  const shown = new URL(url)
  shown.username = ''
  shown.password = ''
  shown.hash = ''
  // Setting a member rewrites the whole query, so only secret ones are set.
  for (const name of new Set(shown.searchParams.keys())) {
    if (secretName.test(name)) shown.searchParams.set(name, '***')
  }
  return shown.href
}

/** For a URL with user and password; else `undefined`. */
export function basicAuthorization(url: URL): string | undefined {
  if (url.username === '' && url.password === '') return undefined
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`
}

export function mirrorUrl(base: URL, segments: readonly string[]): URL {
  const url = new URL(base)
  const folder = url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/`
  url.pathname = folder + segments.map((segment) => encodeURIComponent(segment)).join('/')
  return url
}
