// List URLs (contract 6.3): `GET /lists/<name>` is a published set in the format that a firewall
// wants, streamed from a file. What is not made yet is made by a process of low priority meanwhile.

import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpRequest } from 'uWebSockets.js'
import { checkBodyBytesMax } from '../../api/public-port.ts'
import { formatCount } from '../../base/text/number-format.ts'
import { listFormats, typeOf } from '../../export/list-formats.ts'
import { mmdbLayoutNames } from '../../config/export-formats.ts'
import type { Credential } from '../../http/endpoint/authorize.ts'
import { resumeExchange } from '../../http/endpoint/charge-quota.ts'
import { acceptsGzip } from '../../http/endpoint/docs-endpoint.ts'
import { type Exchange, exchangeStates } from '../../http/exchange/exchange.ts'
import { reply, replyError, replyInternalError } from '../../http/reply/reply.ts'
import type { AdapterRoutes, KeyedEndpoint } from '../../http/routes.ts'
import { type ListPart, partName, partNamed } from '../../sets/list-parts.ts'
import { type SetManifest, readManifest, textPath } from '../../sets/set-folder.ts'
import { sendWhole } from '../whole-answer.ts'

/** Folders of published sets by their names. */
export type ListFolders = Readonly<Record<string, string>>

type OnPull = (set: string, texts: readonly string[]) => void

const root = '/lists/'
const prefixesMaxDefault = 1_000_000
const pageMax = 10_000
/** So that clients that give up at ten seconds see a 503, and when to come again. */
const waitMs = 8000
const lookMs = 200

interface Asked {
  readonly name: string
  readonly query: URLSearchParams
  readonly isGzipped: boolean
  /** If-None-Match, empty where missing. */
  readonly known: string
  readonly folders: ListFolders
  readonly onPull: OnPull
}

export function createListRoutes(folders: ListFolders, onPull: OnPull): AdapterRoutes {
  return (path, request) => {
    if (!path.startsWith(root)) return undefined
    const asked: Asked = {
      name: path.slice(root.length),
      query: new URLSearchParams(request.getQuery() ?? ''),
      isGzipped: acceptsGzip(request.getHeader('accept-encoding')),
      known: request.getHeader('if-none-match'),
      folders,
      onPull,
    }
    const endpoint: KeyedEndpoint = {
      access: 'key',
      credential: credentialOf(request),
      takesInclude: false,
      bodyBytesMax: checkBodyBytesMax,
      answer: (exchange) => answerList(exchange, asked),
      // A test key judges no real address (contract 5.7).
      answerTest: (exchange) => replyError(exchange, 'token_not_allowed_for_api'),
    }
    return {
      allow: 'GET, HEAD',
      methods: new Map([
        ['GET', endpoint],
        ['HEAD', endpoint],
      ]),
    }
  }
}

/** Of Basic the password is the key. One that is given twice is ambiguous and counts as none. */
function credentialOf(request: HttpRequest): Credential {
  const given: string[] = []
  request.forEach((name, value) => {
    if (name === 'authorization') given.push(value)
  })
  const [authorization = ''] = given.length === 1 ? given : []
  const [, encoded] = /^basic +([\w+/=-]+)$/i.exec(authorization) ?? []
  if (encoded === undefined) return { api: 'lists', authorization }
  const pair = Buffer.from(encoded, 'base64').toString('latin1')
  return { api: 'lists', authorization: `Bearer ${pair.slice(pair.indexOf(':') + 1)}` }
}

function wholeOf(
  query: URLSearchParams,
  name: string,
  [otherwise, max]: readonly [number, number],
) {
  const text = query.get(name)
  if (text === null) return otherwise
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN
  return value >= 1 && value <= max ? value : undefined
}

/** The part that a query asks for, or the name of a wrong parameter. */
export function partOf(query: URLSearchParams): ListPart | string {
  const format = listFormats.find((one) => one === (query.get('format') ?? 'plain'))
  if (format === undefined) return 'format'
  const layout = mmdbLayoutNames.find((one) => one === (query.get('layout') ?? 'iprisk'))
  if (layout === undefined || (format !== 'mmdb' && query.has('layout'))) return 'layout'
  const refused = ['family', 'page', 'page_size'].find((one) => query.has(one))
  if (format === 'mmdb') return refused ?? partNamed(`mmdb.${layout}`)
  const family = query.get('family')
  if (family !== null && family !== '4' && family !== '6') return 'family'
  const page = wholeOf(query, 'page', [1, pageMax])
  if (page === undefined) return 'page'
  const pageSize = wholeOf(query, 'page_size', [Infinity, prefixesMaxDefault])
  if (pageSize === undefined || (pageSize === Infinity && query.has('page'))) return 'page_size'
  return { format, family: family === null ? undefined : family === '4' ? 4 : 6, page, pageSize }
}

function answerList(exchange: Exchange, asked: Asked): void {
  const { query, name, folders } = asked
  const folder = Object.hasOwn(folders, name) ? folders[name] : undefined
  const part = partOf(query)
  const max = wholeOf(query, 'max', [prefixesMaxDefault, 999_999_999])
  if (folder === undefined) {
    const names = Object.keys(folders).join(', ')
    replyError(exchange, 'not_found', { message: `There is no such set; the sets are ${names}.` })
  } else if (typeof part === 'string' || max === undefined) {
    const param = typeof part === 'string' ? part : 'max'
    replyError(exchange, 'invalid_input', {
      message: `The parameter ${param} is not valid.`,
      param,
    })
  } else {
    void send(exchange, asked, { folder, part, max }).catch((error: unknown) => {
      const fail = (): void => replyInternalError(exchange, error)
      if (exchange.state === exchangeStates.open) resumeExchange(exchange, fail)
      else fail()
    })
  }
}

async function send(
  exchange: Exchange,
  { name, isGzipped, known, onPull }: Asked,
  of: { readonly folder: string; readonly part: ListPart; readonly max: number },
): Promise<void> {
  const { folder, part, max } = of
  const text = `${partName(part)}${isGzipped ? '.gz' : ''}`
  let found: { readonly manifest: SetManifest; readonly file?: FileHandle } | undefined
  for (let waited = 0; found === undefined && waited < waitMs; waited += lookMs) {
    if (exchange.state !== exchangeStates.open) return
    onPull(name, [partName(part), ...(isGzipped ? [text] : [])])
    const manifest = await readManifest(folder)
    if (manifest !== undefined) {
      const path = textPath(folder, manifest.generation, text)
      const isTooLarge = manifest.refused !== undefined || manifest.prefixes > max
      // A newer generation may take it away.
      const file = isTooLarge ? undefined : await open(path).catch(() => undefined)
      if (file !== undefined || isTooLarge) found = { manifest, ...(file && { file }) }
    }
    if (found === undefined) await sleep(lookMs)
  }
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
    const tag = `${manifest.series}-${manifest.generation}`
    const headers = [
      typeOf(part.format),
      `etag: "${tag}-${text}"`,
      `last-modified: ${new Date(manifest.madeMs).toUTCString()}`,
      'cache-control: no-cache',
      'vary: accept-encoding',
      ...(isGzipped ? ['content-encoding: gzip'] : []),
    ].join('\r\n')
    const isKnown = known === '*' || known.includes(`${tag}-${text}"`)
    // An answer without a body cannot go out in pieces.
    if (isKnown || exchange.headOnly || (await file.stat()).size === 0) {
      const status = isKnown ? 304 : 200
      exchange.keepAlive = false
      const bodyBytes = (await file.stat()).size
      resumeExchange(exchange, () => reply(exchange, { status, headers, body: '', bodyBytes }))
      return
    }
    await sendWhole(exchange, [file], headers)
  } finally {
    await file?.close()
  }
}

const tooLarge = ({ prefixes, refused }: SetManifest, max: number): string =>
  refused === undefined
    ? `The set has ${formatCount(prefixes)} prefixes, and max is ${formatCount(max)}.`
    : `The set has ${formatCount(refused.prefixes)} prefixes, more than any list may have; ` +
      'narrow its condition.'
