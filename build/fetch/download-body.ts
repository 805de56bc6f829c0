// Streams a body to disk: decoded, counted, hashed and checked in passing, never whole in memory.
// It writes one new file, flushed; on failure the caller removes it. Both the transferred and the
// decoded size are limited, so neither an endless body nor a decompression bomb fills the disk.

import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { environmentError } from '../../src/base/coded-error.ts'
import { SNIFF_BYTES, wireBytesMax } from './fetch-limits.ts'

type Chunks = AsyncIterable<Uint8Array>

/** Streams `body` into the new file `to`. Throws if it breaks a limit or is an HTML page. */
export async function downloadBody(options: {
  readonly body: Chunks
  /** The header's value. */
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
  const wire = bounded(options.body, wireBytesMax(bytes.max), url)
  const decoded = bounded(decode(wire, options.encoding, url), bytes.max, url)
  // Opened before anything can fail: a stream that opens by itself would create the file after the
  // caller has removed it.
  const file = await open(options.to, 'wx')
  await pipeline(
    Readable.from(decoded, { objectMode: true }),
    async function* (source: Chunks) {
      for await (const chunk of source) {
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

/** Decodes by Content-Encoding (RFC 9110, 8.4.1). More than one coding is rejected. */
function decode(source: Chunks, encoding: string | undefined, url: string): Chunks {
  switch ((encoding ?? 'identity').trim().toLowerCase()) {
    case '':
    case 'identity':
      return source
    case 'gzip':
    case 'x-gzip':
      return through(source, createGunzip())
    case 'br':
      return through(source, createBrotliDecompress())
    case 'deflate':
      return inflate(source)
    default:
      throw environmentError(
        'fetch_encoding',
        `${url}: its content encoding ${JSON.stringify(encoding)} was not asked for`,
      )
  }
}

/** `deflate` is zlib's format by the standard, and raw deflate with some servers. */
async function* inflate(source: Chunks): Chunks {
  const iterator = source[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done === true) return
  const rest: Chunks = {
    async *[Symbol.asyncIterator]() {
      yield first.value
      for (;;) {
        const next = await iterator.next()
        if (next.done === true) return
        yield next.value
      }
    },
  }
  const zlibHeader = ((first.value[0] ?? 0) & 0x0f) === 8
  yield* through(rest, zlibHeader ? createInflate() : createInflateRaw())
}

async function* through(source: Chunks, decoder: ReturnType<typeof createGunzip>): Chunks {
  const fed = pipeline(Readable.from(source, { objectMode: true }), decoder)
  // An error of the source destroys the decoder and so reaches the loop below.
  fed.catch(() => undefined)
  for await (const chunk of decoder) yield chunk as Uint8Array
  await fed
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
      `it is kept out, lower bytes.min if that is true`,
  )
}
