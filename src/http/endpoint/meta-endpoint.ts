// The two GETs that describe the service: its OpenAPI document, which needs no key, and the meta
// answer for the holder of a key.

import { remainingIndex, remainingLength } from '../../account/limits/ratelimit-values.ts'
import type { Authenticated } from '../../account/keyring.ts'
import { type MetaAnswer, metaAnswer } from '../../api/meta-answer.ts'
import { openApiDocument } from '../../api/openapi.ts'
import { levelFloors } from '../../model/risk-level.ts'
import { ensureQuotaKnown } from './charge-quota.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Table } from '../../table/table.ts'
import { replyError, replyJson } from '../reply/reply.ts'

const remaining = new Float64Array(remainingLength)

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
  ensureQuotaKnown(exchange, key, () =>
    replyJson(exchange, JSON.stringify(metaOf(exchange, table, key))),
  )
}

function metaOf({ service }: Exchange, table: Table, key: Authenticated): MetaAnswer {
  const { rate, quotaPerMonth } = key.limits
  service.limiter.remaining(key.allowance, performance.now(), remaining)
  return metaAnswer({
    table,
    levelFloors,
    key: {
      id: key.keyId,
      plan: key.plan,
      apis: key.apis,
      insights: key.insights,
      limits: {
        rate:
          rate === undefined
            ? null
            : {
                per_second: rate.perSecond,
                burst: rate.burst,
                remaining: remaining[remainingIndex.rate]!,
                reset_seconds: remaining[remainingIndex.rateReset]!,
              },
        quota:
          quotaPerMonth === undefined
            ? null
            : {
                per_month: quotaPerMonth,
                remaining: remaining[remainingIndex.quota]!,
                reset_seconds: remaining[remainingIndex.quotaReset]!,
              },
      },
    },
    now: Date.now(),
  })
}
