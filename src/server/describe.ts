// The two GETs that describe the service: its OpenAPI document, which anybody may read, and the meta
// answer for the holder of a key.

import type { Authenticated } from '../account/keyring.ts'
import { metaAnswer } from '../api/meta.ts'
import { openApiDocument } from '../api/openapi.ts'
import { levelFloors } from '../model/level.ts'
import type { Exchange } from './exchange.ts'
import { replyError, replyJson } from './reply.ts'

const documentText = JSON.stringify(openApiDocument)

export function answerOpenApi(exchange: Exchange): void {
  replyJson(exchange, documentText)
}

export function answerMeta(exchange: Exchange, key: Authenticated): void {
  const table = exchange.service.table()
  if (table === undefined) {
    replyError(exchange, 'upstream_unavailable')
    return
  }
  const { rate, quotaPerMonth } = key.limits
  const answer = metaAnswer({
    table,
    levelFloors,
    key: {
      id: key.keyId,
      plan: key.plan,
      apis: key.apis,
      insights: key.insights,
      limits: {
        rate: rate === undefined ? null : { per_second: rate.perSecond, burst: rate.burst },
        quota: quotaPerMonth === undefined ? null : { per_month: quotaPerMonth },
      },
    },
    now: Date.now(),
  })
  replyJson(exchange, JSON.stringify(answer))
}
