// Streams a body to a new file: decoded, counted, hashed and inspected on the way. Both the
// transfer and what it decodes to are bounded. On failure the caller removes the file.

import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { environmentError } from '../../src/base/coded-error.ts'
import { SNIFF_BYTES, wireBytesMax } from './fetch-limits.ts'

type Chunks = AsyncIterable<Uint8Array>

/** Throws if the body breaks a limit or is an HTML page. */
export async function downloadBody(options: {
  readonly body: Chunks
  readonly encoding: string | undefined
  readonly contentType: string | undefined
  readonly format: string
  readonly bytes: { readonly min: number; readonly max: number }
  readonly to: string
  readonly signal: AbortSignal
  readonly url: string
}) {
  const { bytes, url, signal } = options
  const hash = createHash('sha256')
  const head: Uint8Array[] = []
  let headBytes = 0
  let count = 0
  const refuseHtml = (): void => {
    if (/html|xml/.test(options.format)) return
    if (!looksLikeHtml(Buffer.concat(head), options.contentType)) return
    const message = `${url}: it is a web page, not ${options.format}; the publisher has moved it`
    throw environmentError('fetch_html', message)
  }
  const wire = Readable.from(bounded(options.body, wireBytesMax(bytes.max), url))
  const decoder = await decoderFor(wire, options.encoding, url)
  // Opened before anything can fail: a lazy stream would create it after the caller's removal.
  const file = await open(options.to, 'wx')
  await pipeline(
    wire,
    decoder,
    async function* (source: Chunks) {
      for await (const chunk of bounded(source, bytes.max, url)) {
        hash.update(chunk)
        count += chunk.length
        if (headBytes < SNIFF_BYTES) {
          head.push(Buffer.from(chunk.subarray(0, SNIFF_BYTES - headBytes)))
          headBytes += chunk.length
          if (headBytes >= SNIFF_BYTES) refuseHtml()
        }
        yield chunk
      }
      refuseHtml()
      if (count < bytes.min) throw tooSmall(url, count, bytes.min)
    },
    file.createWriteStream({ flush: true }),
    { signal },
  )
  return { sha256: hash.digest('hex'), bytes: count }
}

async function* bounded(source: Chunks, bytesMax: number, url: string): Chunks {
  let count = 0
  for await (const chunk of source) {
    count += chunk.length
    if (count > bytesMax) throw tooLarge(url, bytesMax)
    yield chunk
  }
}

/** Decodes by Content-Encoding (RFC 9110, 8.4.1). More than one coding is refused. */
async function decoderFor(wire: Readable, encoding: string | undefined, url: string) {
  switch ((encoding ?? 'identity').trim().toLowerCase()) {
    case '':
    case 'identity':
      return new PassThrough()
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'br':
      return createBrotliDecompress()
    case 'deflate': {
      // zlib's format by the standard, but bare deflate from some servers.
      const isZlib = ((await firstByteOf(wire)) & 0x0f) === 8
      return isZlib ? createInflate() : createInflateRaw()
    }
    default:
      throw environmentError(
        'fetch_encoding',
        `${url}: its content encoding ${JSON.stringify(encoding)} was not requested`,
      )
  }
}

/** Leaves the byte to be read again. */
async function firstByteOf(wire: Readable): Promise<number> {
  for await (const chunk of wire.iterator({ destroyOnReturn: false })) {
    wire.unshift(chunk)
    return (chunk as Uint8Array)[0] ?? 0
  }
  return 0
}

/** Lists, CSV and JSON never begin with a tag. A declared page needs only that first sign. */
function looksLikeHtml(head: Uint8Array, contentType: string | undefined): boolean {
  const text = Buffer.from(head)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart()
  if (!text.startsWith('<')) return false
  if (/html/i.test(contentType ?? '')) return true
  return /^<(!doctype|html|head|body|title|script|!--|\?xml)/i.test(text)
}

/** For a body, or an announced length, above the catalogue's limit. */
export function tooLarge(url: string, bytesMax: number): Error {
  return environmentError(
    'fetch_too_large',
    `${url}: more than ${bytesMax} bytes, the catalogue's limit; raise bytes.max if it grew`,
  )
}

function tooSmall(url: string, bytes: number, bytesMin: number): Error {
  return environmentError(
    'fetch_too_small',
    `${url}: only ${bytes} bytes where the catalogue expects at least ${bytesMin}; ` +
      `the feed is skipped; lower bytes.min if this size is right`,
  )
}
