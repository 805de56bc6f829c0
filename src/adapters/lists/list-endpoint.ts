// List URLs (contract 6.3: published sets): `GET /lists/<name>` is a published set in a firewall's
// format, streamed from a file. A low-priority process makes it if it does not exist yet.

import { open } from 'node:fs/promises'
import { checkBodyBytesMax, paths } from '../../api/public-port.ts'
import { formatCount } from '../../base/text/number-format.ts'
import { isWholeFormat } from '../../export/list-formats.ts'
import { type ListFormat, listFormats, mmdbLayoutNames } from '../../config/export-formats.ts'
import type { Credential } from '../../http/endpoint/authorize.ts'
import { resumeExchange } from '../../http/endpoint/charge-quota.ts'
import { acceptsGzip } from '../../http/endpoint/docs-endpoint.ts'
import type { Exchange } from '../../http/exchange/exchange.ts'
import { reply, replyError } from '../../http/reply/reply.ts'
import type { AdapterRoutes } from '../../http/routes.ts'
import {
  type ListPart,
  type SetManifest,
  partName,
  readManifest,
  textPath,
} from '../../sets/set-folder.ts'
import { adapterRoute, headerOnce } from '../adapter-route.ts'
import { answerLater, awaitFiles, sendWhole } from '../whole-answer.ts'

/** Folders of published sets by their names. */
export type ListFolders = Readonly<Record<string, string>>

type OnPull = (set: string, texts: readonly string[]) => void

const root = paths.lists
const prefixesMaxDefault = 1_000_000
const pageMax = 10_000

/** A poll costs little more than a check: the set is looked up at most once a second. */
const seenMs = 1000
const seenMax = 1000

interface Seen {
  readonly tag: string
  readonly headers: string
  readonly bodyBytes: number
  readonly ms: number
}

interface Asked {
  readonly name: string
  readonly query: URLSearchParams
  readonly isGzipped: boolean
  /** If-None-Match, empty if missing. */
  readonly known: string
  readonly sets: Sets
  /** Set, query and encoding. */
  readonly url: string
}

interface Sets {
  readonly folders: ListFolders
  readonly onPull: OnPull
  /** Keyed by `url`. */
  readonly seen: Map<string, Seen>
}

export function createListRoutes(folders: ListFolders, onPull: OnPull): AdapterRoutes {
  const sets: Sets = { folders, onPull, seen: new Map() }
  return (path, request) => {
    if (!path.startsWith(root)) return undefined
    const query = request.getQuery() ?? ''
    const isGzipped = acceptsGzip(request.getHeader('accept-encoding'))
    const known = request.getHeader('if-none-match')
    const asked = { query: new URLSearchParams(query), url: `${path}?${query} ${isGzipped}` }
    return adapterRoute(['GET', 'HEAD'], {
      credential: credentialOf(headerOnce(request, 'authorization')),
      bodyBytesMax: checkBodyBytesMax,
      answer: (exchange) =>
        answerList(exchange, { ...asked, name: path.slice(root.length), isGzipped, known, sets }),
    })
  }
}

/** With Basic, the password is the key. */
function credentialOf(authorization: string): Credential {
  const [, encoded] = /^basic +([\w+/=-]+)$/i.exec(authorization) ?? []
  if (encoded === undefined) return { api: 'lists', authorization }
  const pair = Buffer.from(encoded, 'base64').toString('latin1')
  return { api: 'lists', authorization: `Bearer ${pair.slice(pair.indexOf(':') + 1)}` }
}

/** A whole number of a query, `undefined` if invalid. */
function wholeOf(query: URLSearchParams, name: string, otherwise: number, max: number) {
  const text = query.get(name)
  if (text === null) return otherwise
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0
  return value >= 1 && value <= max ? value : undefined
}

/** The part that a query asks for, or the name of a wrong parameter. */
export function partOf(query: URLSearchParams): ListPart | string {
  const format = listFormats.find((one) => one === (query.get('format') ?? 'plain'))
  if (format === undefined) return 'format'
  const isDatabase = format === 'mmdb'
  const layoutName = query.get('layout') ?? (isDatabase ? 'iprisk' : null)
  const layout = mmdbLayoutNames.find((one) => one === layoutName)
  if (isDatabase ? layout === undefined : layoutName !== null) return 'layout'
  const family = ([4, 6] as const).find((one) => String(one) === query.get('family'))
  const isOfIpv4 = format === 'checkpoint'
  const isOther = family === undefined || isDatabase || (isOfIpv4 && family === 6)
  if (query.has('family') && isOther) return 'family'
  const page = wholeOf(query, 'page', 1, pageMax)
  if (page === undefined) return 'page'
  const pageSize = wholeOf(query, 'page_size', Infinity, prefixesMaxDefault)
  const isPaged = query.has('page') || query.has('page_size')
  const cannotPage = pageSize === Infinity || isDatabase || isWholeFormat(format)
  if (pageSize === undefined || (isPaged && cannotPage)) return 'page_size'
  return { format, layout, family: isOfIpv4 ? 4 : family, page, pageSize }
}

function answerList(exchange: Exchange, asked: Asked): void {
  const { query, name, sets } = asked
  const { folders } = sets
  const seen = sets.seen.get(asked.url)
  if (seen !== undefined && performance.now() - seen.ms < seenMs && isKnown(asked, seen)) {
    replyBodiless(exchange, 304, seen)
    return
  }
  const folder = Object.hasOwn(folders, name) ? folders[name] : undefined
  const part = partOf(query)
  const max = wholeOf(query, 'max', prefixesMaxDefault, 999_999_999)
  if (folder === undefined) {
    const names = Object.keys(folders).join(', ')
    replyError(exchange, 'not_found', { message: `There is no such set; use ${names}.` })
  } else if (typeof part === 'string' || max === undefined) {
    const param = typeof part === 'string' ? part : 'max'
    const message = `The parameter ${param} is not valid; ${parameterRules[param]}.`
    replyError(exchange, 'invalid_input', { message, param })
  } else answerLater(exchange, () => send(exchange, asked, { folder, part, max }))
}

const isKnown = ({ known }: Asked, { tag }: Seen): boolean => known === '*' || known.includes(tag)

function replyBodiless(exchange: Exchange, status: 200 | 304, { headers, bodyBytes }: Seen): void {
  exchange.keepAlive = false
  reply(exchange, { status, headers, body: '', bodyBytes })
}

async function send(
  exchange: Exchange,
  asked: Asked,
  of: { readonly folder: string; readonly part: ListPart; readonly max: number },
): Promise<void> {
  const { folder, part, max } = of
  const { name, isGzipped, sets, url } = asked
  const { onPull, seen } = sets
  const text = `${partName(part)}${isGzipped ? '.gz' : ''}`
  const found = await awaitFiles(exchange, async () => {
    onPull(name, [partName(part), ...(isGzipped ? [text] : [])])
    const manifest = await readManifest(folder)
    if (manifest === undefined) return undefined
    if (manifest.refused !== undefined || manifest.prefixes > max) return { manifest }
    const file = await open(textPath(folder, manifest.generation, text)).catch(() => undefined)
    return file && { manifest, file }
  })
  const { manifest, file } = found ?? {}
  try {
    if (manifest === undefined || file === undefined) {
      resumeExchange(exchange, () => {
        if (manifest === undefined) replyError(exchange, 'upstream_unavailable')
        else
          replyError(exchange, 'set_too_large', { message: tooLarge(manifest, max), param: 'max' })
      })
      return
    }
    const tag = `"${manifest.series}-${manifest.generation}-${text}"`
    const headers = [
      typeOf(part.format),
      `etag: ${tag}`,
      `last-modified: ${new Date(manifest.madeMs).toUTCString()}`,
      'cache-control: no-cache',
      'vary: accept-encoding',
      ...(isGzipped ? ['content-encoding: gzip'] : []),
    ].join('\r\n')
    const { size: bodyBytes } = await file.stat()
    const now: Seen = { tag, headers, bodyBytes, ms: performance.now() }
    if (seen.size >= seenMax) seen.clear()
    seen.set(url, now)
    const status = isKnown(asked, now) ? 304 : 200
    // An answer without a body cannot go out in pieces.
    if (status === 304 || exchange.headOnly || bodyBytes === 0) {
      resumeExchange(exchange, () => replyBodiless(exchange, status, now))
      return
    }
    await sendWhole(exchange, [file], headers)
  } finally {
    await file?.close()
  }
}

/** The allowed values of a parameter, for the message about a wrong one. */
const parameterRules: Readonly<Record<string, string>> = {
  format: `it must be one of ${listFormats.join(', ')}`,
  layout: `it needs format=mmdb, and must be one of ${mmdbLayoutNames.join(', ')}`,
  family: 'it must be 4 or 6; checkpoint has only IPv4, and mmdb always both',
  page: `it must be from 1 to ${pageMax}`,
  page_size:
    `it must be from 1 to ${prefixesMaxDefault}, and page needs it; ` +
    `${listFormats.filter((one) => one === 'mmdb' || isWholeFormat(one)).join(', ')} have no pages`,
  max: 'it must be a number of prefixes from 1',
}

const typeOf = (format: ListFormat): string =>
  format === 'mmdb'
    ? 'application/octet-stream'
    : format === 'json'
      ? 'application/json'
      : 'text/plain; charset=utf-8'

const tooLarge = ({ prefixes, refused }: SetManifest, max: number): string =>
  refused === undefined
    ? `The set has ${formatCount(prefixes)} prefixes, but max is ${formatCount(max)}.`
    : `The set has ${formatCount(refused.prefixes)} prefixes, more than a list may have; ` +
      'narrow its condition.'
