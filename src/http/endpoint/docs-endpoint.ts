// The files below /docs, made when the project was compiled. They need no key, reveal nothing of
// this server but its version, and load nothing from elsewhere.

import type { DocsFile } from '../docs-files.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { replyFile } from '../reply/reply.ts'

/** `connect-src` is for "try it", which calls this server's API. */
const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const guards = `content-security-policy: ${policy}\r\nx-content-type-options: nosniff\r\nreferrer-policy: no-referrer`

/** Accept-Encoding and If-None-Match, empty where missing. */
interface Asked {
  readonly accepted: string
  readonly known: string
}

const gzip = /(?:^|,)\s*gzip\s*(?:;\s*q=(?:1|0\.0*[1-9])[\d.]*\s*)?(?:,|$)/i

export const acceptsGzip = (accepted: string): boolean => gzip.test(accepted)

export function answerDocs(exchange: Exchange, file: DocsFile, { accepted, known }: Asked): void {
  const isGzipped = acceptsGzip(accepted)
  const headers = [
    file.type,
    `cache-control: ${file.isConstant ? 'public, max-age=31536000, immutable' : 'no-cache'}`,
    `etag: "${file.tag}${isGzipped ? '-gz' : ''}"`,
    'vary: accept-encoding',
    guards,
    ...(isGzipped ? ['content-encoding: gzip'] : []),
  ].join('\r\n')
  // The tag appears in both tags of the content, strong or weak, and in no other one.
  const isKnown = known === '*' || known.includes(file.tag)
  replyFile(exchange, {
    status: isKnown ? 304 : 200,
    headers,
    body: isGzipped ? file.gzipped : file.bytes,
  })
}
