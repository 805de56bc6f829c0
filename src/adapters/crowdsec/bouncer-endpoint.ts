// What CrowdSec's bouncers request from its local API (contract 6.2: bouncers), as a thin
// translation:
//   GET /v1/decisions?ip=          decided live, as a check; spends rate and quota
// GET /v1/decisions/stream       the published set `bouncer`, or its changes since this key's last
// pull; spends rate
// POST /v1/usage-metrics         discarded
// A key's cursor moves only after its answer was sent whole, so an interrupted pull is repeated.

import { type FileHandle, open } from 'node:fs/promises'
import type { Authenticated } from '../../account/keyring.ts'
import { batchBodyBytesMax, paths } from '../../api/public-port.ts'
import { bouncerSetName } from '../../model/published-sets.ts'
import { packageVersion } from '../../base/package-root.ts'
import { parseAddressText, queryText } from '../../http/endpoint/check-body.ts'
import { chargeThen, resumeExchange } from '../../http/endpoint/charge-quota.ts'
import { decideAnswer } from '../../http/endpoint/decide-answer.ts'
import type { Exchange } from '../../http/exchange/exchange.ts'
import { reply, replyError, replyJson } from '../../http/reply/reply.ts'
import { contentHeaders } from '../../http/reply/check-header-bytes.ts'
import type { AdapterRoutes } from '../../http/routes.ts'
import { countEvent } from '../../observe/request-counters.ts'
import { streamText } from '../../sets/next-generation.ts'
import {
  type SetCursor,
  type SetManifest,
  differencePath,
  readCursor,
  readManifest,
  removeCursor,
  textPath,
  writeCursor,
} from '../../sets/set-folder.ts'
import { newQuery } from '../../table/lookup/query.ts'
import { adapterRoute, headerOnce } from '../adapter-route.ts'
import { decisionJson, unknownFilter } from './decision.ts'
import { type AnswerPart, answerLater, awaitFiles, isOpen, sendWhole } from '../whole-answer.ts'

export interface BouncerSettings {
  readonly folder: string
  /** The duration of the stream's decisions. */
  readonly durationMs: number
}

/** Decisions with other durations, or in the form of another version, are sent to all keys again. */
export const formOf = (durationMs: number): string => `${packageVersion} ${durationMs}`

/** Bouncers keep a live decision this long; it may have changed by then. */
const liveMs = 300_000

interface Asked {
  readonly query: URLSearchParams
  readonly settings: BouncerSettings
  /** The primary makes a set only if it is pulled. */
  readonly onPull: (set: string, texts: readonly string[]) => void
}

type Answer = (exchange: Exchange, key: Authenticated, asked: Asked) => void

const reading = ['GET', 'HEAD']
const discard: Answer = (exchange) =>
  reply(exchange, { status: 201, headers: contentHeaders, body: 'null' })
const routes: ReadonlyMap<string, readonly [methods: readonly string[], answer: Answer]> = new Map([
  [paths.decisions, [reading, answerLive]],
  [paths.decisionStream, [reading, answerPull]],
  [paths.usageMetrics, [['POST'], discard]],
])

export function createBouncerRoutes(
  settings: BouncerSettings,
  onPull: Asked['onPull'],
): AdapterRoutes {
  return (path, request) => {
    const route = routes.get(path)
    if (route === undefined) return undefined
    const [methods, answer] = route
    const query = new URLSearchParams(request.getQuery() ?? '')
    const key = headerOnce(request, 'x-api-key')
    return adapterRoute(methods, {
      credential: { api: 'bouncer', authorization: key === '' ? '' : `Bearer ${key}` },
      bodyBytesMax: batchBodyBytesMax,
      answer: (exchange, key) => {
        const param = unknownFilter(query)
        if (param === undefined) answer(exchange, key, { query, settings, onPull })
        else replyError(exchange, 'invalid_input', { message: noFilter, param })
      },
    })
  }
}

const noFilter = 'This filter is not supported; the policy decides which addresses to stop.'
const about = newQuery()
const noAddress = {
  message: 'Name one address, as in /v1/decisions?ip=192.0.2.1; all decisions are in the stream.',
  param: 'ip',
}

function answerLive(exchange: Exchange, key: Authenticated, { query }: Asked): void {
  const text = query.get('ip') ?? ''
  if (!parseAddressText(about, text)) {
    replyError(exchange, 'invalid_input', noAddress)
    return
  }
  exchange.policy = ''
  if (exchange.service.logAddresses) exchange.checkedAddress = queryText(about)
  chargeThen(exchange, key, () => {
    const table = exchange.service.table()
    if (table === undefined) {
      replyError(exchange, 'upstream_unavailable')
      return
    }
    // The units may have been leased in a later turn.
    parseAddressText(about, text)
    const outcome = decideAnswer(exchange, table, about, table.answer(about))
    countEvent(exchange.service.counters, 'bouncerAnswers')
    const { action = 'allow', rule = '' } = outcome?.decision ?? {}
    const decided = { action, rule, value: queryText(about), durationMs: liveMs }
    const json = decisionJson(1, decided)
    replyJson(exchange, action === 'allow' ? 'null' : `[${json}]`)
  })
}

function answerPull(exchange: Exchange, key: Authenticated, asked: Asked): void {
  answerLater(exchange, () => pull(exchange, key, asked))
}

async function pull(exchange: Exchange, { keyId }: Authenticated, asked: Asked): Promise<void> {
  const { folder } = asked.settings
  const isStartup = asked.query.get('startup') === 'true'
  const opened = await openPull(exchange, asked, isStartup ? undefined : keyId)
  try {
    if (opened === undefined || exchange.headOnly) {
      resumeExchange(exchange, () =>
        opened === undefined
          ? replyError(exchange, 'upstream_unavailable')
          : replyJson(exchange, ''),
      )
      return
    }
    if (!isOpen(exchange)) return
    // Whatever happens to this answer, the bouncer has started over.
    if (isStartup) await removeCursor(folder, keyId)
    const list = (file: FileHandle | undefined): readonly AnswerPart[] =>
      file === undefined ? ['null'] : ['[', file, ']']
    const parts = ['{"new":', ...list(opened.came), ',"deleted":', ...list(opened.gone), '}']
    const isSent = await sendWhole(exchange, parts)
    if (isSent && opened.next !== undefined) await writeCursor(folder, keyId, opened.next)
  } finally {
    await opened?.close()
  }
}

export interface PullPlan {
  /** Paths; `undefined` for nothing. */
  readonly came: string | undefined
  readonly gone: string | undefined
  /** The cursor once this was sent whole, if it moves. */
  readonly next: SetCursor | undefined
}

/**
 * Everything for an unknown cursor; else the difference, and before half of the duration everything
 * again, because bouncers drop decisions when they expire.
 */
export function planPull(
  folder: string,
  { series, generation, from }: SetManifest,
  cursor: SetCursor | undefined,
  { nowMs, durationMs }: { readonly nowMs: number; readonly durationMs: number },
): PullPlan {
  const all = {
    came: textPath(folder, generation, streamText),
    next: { series, generation, fullMs: nowMs },
  }
  if (cursor === undefined || cursor.series !== series) return { ...all, gone: undefined }
  const { generation: last, fullMs } = cursor
  const isNewest = last === generation
  if (!isNewest && !from.includes(last)) return { ...all, gone: undefined }
  const path = (what: 'new' | 'gone'): string | undefined =>
    isNewest ? undefined : differencePath(folder, [last, generation], what)
  const ageMs = nowMs - fullMs
  if (ageMs < 0 || ageMs > durationMs * renewShare) return { ...all, gone: path('gone') }
  const next = isNewest ? undefined : { series, generation, fullMs }
  return { came: path('new'), gone: path('gone'), next }
}

/** Below a half, by more than any bouncer waits between two pulls. */
const renewShare = 0.45

async function openPull(
  exchange: Exchange,
  { onPull, settings: { folder, durationMs } }: Asked,
  /** Whose cursor counts; `undefined` for none. */
  keyId: string | undefined,
): Promise<Awaited<ReturnType<typeof openPlan>>> {
  return awaitFiles(exchange, async () => {
    onPull(bouncerSetName, [streamText])
    const manifest = await readManifest(folder)
    if (manifest === undefined) return undefined
    const cursor = keyId === undefined ? undefined : await readCursor(folder, keyId)
    return openPlan(planPull(folder, manifest, cursor, { nowMs: Date.now(), durationMs }))
  })
}

async function openPlan({ came, gone, next }: PullPlan) {
  const handles: (FileHandle | undefined)[] = []
  const close = async (): Promise<void> => {
    for (const handle of handles) await handle?.close()
  }
  try {
    for (const path of [came, gone]) handles.push(path === undefined ? path : await open(path))
    return { came: handles[0], gone: handles[1], next, close }
  } catch {
    await close()
    return undefined
  }
}
