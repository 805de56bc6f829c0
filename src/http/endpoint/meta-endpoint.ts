// GET of the OpenAPI document, which needs no key, and of the meta answer.

import { readFile } from 'node:fs/promises'
import { remainingIndex, remainingLength } from '../../account/limits/ratelimit-values.ts'
import type { Authenticated } from '../../account/keyring.ts'
import type { MetaAnswer } from '../../api/meta-answer.ts'
import { levelFloors, valueLists } from '../../model/kind.ts'
import { ageSeconds, formatDay } from '../../base/day.ts'
import { defaultPolicyName } from '../../model/policy-form.ts'
import { policyIndexOf } from '../../policy/policy.ts'
import { ensureQuotaKnown, resumeExchange } from './charge-quota.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { coverageReportOf } from '../../table/answer/table-coverage.ts'
import type { Table } from '../../table/table.ts'
import { replyError, replyInternalError, replyJson } from '../reply/reply.ts'

const remaining = new Float64Array(remainingLength)

const documentFile = new URL('../../api/openapi.json', import.meta.url)
let documentText: string | undefined

export function answerOpenApi(exchange: Exchange): void {
  if (documentText === undefined) void readDocument(exchange)
  else replyJson(exchange, documentText)
}

async function readDocument(exchange: Exchange): Promise<void> {
  try {
    documentText = await readFile(documentFile, 'utf8')
    resumeExchange(exchange, () => answerOpenApi(exchange))
  } catch (error) {
    replyInternalError(exchange, error)
  }
}

export function answerMeta(exchange: Exchange, key: Authenticated): void {
  const table = exchange.service.table()
  if (table === undefined) {
    replyError(exchange, 'upstream_unavailable')
    return
  }
  ensureQuotaKnown(exchange, key, () =>
    replyJson(
      exchange,
      JSON.stringify(
        metaOf(table, metaKeyOf(exchange, key), Date.now(), metaPoliciesOf(exchange, key)),
      ),
    ),
  )
}

export function metaOf(
  {
    id,
    asOf,
    bytes,
    coverage,
    sources,
  }: Pick<Table, 'id' | 'asOf' | 'bytes' | 'coverage' | 'sources'>,
  key: MetaAnswer['key'],
  nowMs: number,
  policies: MetaAnswer['policies'] = null,
): MetaAnswer {
  return {
    table: { id, as_of: formatDay(asOf), age_seconds: ageSeconds(asOf, nowMs), bytes },
    coverage: coverageReportOf({ coverage, asOf }, nowMs),
    feeds: sources.map((source) => ({
      id: source.id,
      kind: source.kind,
      provider: source.provider,
      licence: source.licence,
      homepage: source.homepage,
      day: formatDay(source.day),
      age_seconds: ageSeconds(source.day, nowMs),
      entries: source.entries,
    })),
    // The highest level is the first.
    thresholds: levelFloors.map(({ level, least }, i) => ({
      risk_level: level,
      risk_score_min: least,
      risk_score_max: i === 0 ? 100 : levelFloors[i - 1]!.least - 1,
    })),
    values: valueLists,
    policies,
    key,
  }
}

function metaPoliciesOf({ service }: Exchange, key: Authenticated): MetaAnswer['policies'] {
  const set = service.policies.set()
  if (set === undefined) return null
  const { name } = set.policies[policyIndexOf(set, key.policies, '')]!
  // The file may lack some of the key's policies; requests that name them are then refused.
  const names = (key.policies ?? [defaultPolicyName]).filter((one) => set.indexOf(one) >= 0)
  return { revision: set.revision, names, default: name }
}

function metaKeyOf({ service }: Exchange, key: Authenticated): MetaAnswer['key'] {
  const { rate, quotaPerMonth } = key.limits
  service.limiter.remaining(key.allowance, performance.now(), remaining)
  const { rate: atRate, rateReset, quota: atQuota, quotaReset } = remainingIndex
  const rateLeft = { remaining: remaining[atRate]!, reset_seconds: remaining[rateReset]! }
  const quotaLeft = { remaining: remaining[atQuota]!, reset_seconds: remaining[quotaReset]! }
  return {
    id: key.keyId,
    plan: key.plan,
    apis: key.apis,
    insights: key.insights,
    limits: {
      rate:
        rate === undefined ? null : { per_second: rate.perSecond, burst: rate.burst, ...rateLeft },
      quota: quotaPerMonth === undefined ? null : { per_month: quotaPerMonth, ...quotaLeft },
    },
  }
}
