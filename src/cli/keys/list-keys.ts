// `iprisk keys list` and `iprisk keys show`: never a secret or its hash. src/account/key-view.ts
// says how exact the usage is.

import type { KeySummary } from '../../api/admin-answers.ts'
import { unknownKeyError } from '../../account/keys/issue-key.ts'
import { type KeyView, keyViewOf, readKeyUses } from '../../account/key-view.ts'
import { type EffectiveLimits, effectiveLimits } from '../../account/keys/key-limits.ts'
import { formatMonth, monthOf } from '../../account/limits/quota-period.ts'
import type { KeyRecord } from '../../account/keys/key-record.ts'
import { alignColumns } from '../../base/text/align-columns.ts'
import { formatDay, msPerDay } from '../../base/day.ts'
import { formatCount, formatCounted, formatTime } from '../../base/text/number-format.ts'
import type { Settings } from '../../config/settings.ts'
import { printResult, printTable } from '../terminal/io.ts'
import {
  type CommandIo,
  type StoreCommand,
  apisText,
  checkKeyId,
  warnOfSkipped,
  withStoresToRead,
} from './key-session.ts'

/** Times are ISO 8601, UTC. */
function listedKey({ record, facts, state, units, month, lastUsed }: KeyView, now: number): object {
  const live = record.secrets.filter((secret) => (secret.expiresAt ?? Infinity) > now)
  return {
    id: record.id,
    ...facts,
    state,
    secrets: live.length,
    usage: units === undefined ? null : { month, units_at_most: units },
    last_used: lastUsed === undefined ? null : formatDay(lastUsed),
  }
}

const usedText = (units: number | undefined): string =>
  units === undefined ? '-' : units === 0 ? '0' : `<= ${formatCount(units)}`

/** Oldest first. */
export async function keysList(settings: Settings, io: CommandIo): Promise<void> {
  const { invocation } = settings
  const { views, skipped } = await withStoresToRead(settings, async (stores) => {
    const uses = await readKeyUses(stores, io.now)
    const { records, skipped } = await stores.keyStore.list()
    return {
      views: records.map((record) => keyViewOf(record, uses, settings.plans, io.now)),
      skipped,
    }
  })
  warnOfSkipped(skipped, io)
  if (invocation.json) {
    io.out(JSON.stringify(views.map((view) => listedKey(view, io.now))))
    return
  }
  if (views.length === 0 && skipped.length === 0) {
    io.out('There are no keys. Create one with "iprisk keys create --plan team".')
    return
  }
  const rows = views.map(({ record, facts, state, units, lastUsed }) => [
    record.id,
    state,
    record.test === true ? `${record.plan} (test)` : record.plan,
    apisText(record.apis),
    facts.created_at.slice(0, 10),
    facts.expires ?? 'never',
    usedText(units),
    lastUsed === undefined ? 'never' : formatDay(lastUsed),
    record.name,
  ])
  const used = `USED ${formatMonth(monthOf(io.now))}`
  const head = ['ID', 'STATE', 'PLAN', 'APIS', 'CREATED', 'EXPIRES', used, 'LAST USED', 'NAME']
  printTable(io, head, rows)
}

function limitsText({ rate, quotaPerMonth }: EffectiveLimits): string {
  const rateText =
    rate === undefined
      ? 'no rate limit'
      : `${formatCount(rate.perSecond)}/s, burst ${formatCount(rate.burst)}`
  const quotaText =
    quotaPerMonth === undefined ? 'no quota' : `${formatCount(quotaPerMonth)} checks a month`
  return `${rateText}; ${quotaText}`
}

function ownText({ rate, burst, quota }: KeySummary): string {
  const own = Object.entries({ rate, burst, quota }).filter(([, value]) => value !== null)
  if (own.length === 0) return 'none'
  return own.map(([name, value]) => `${name} ${formatCount(value ?? 0)}`).join(', ')
}

function ageText(ms: number): string {
  const days = Math.floor(ms / msPerDay)
  if (days > 0) return `${formatCounted(days, 'day', 'days')} old`
  return 'less than a day old'
}

function secretText(secret: KeyRecord['secrets'][number], now: number): string {
  const { createdAt, expiresAt } = secret
  const made = `created ${formatTime(createdAt)}, ${ageText(now - createdAt)}`
  if (expiresAt === undefined) return made
  return `${made}, ${expiresAt <= now ? 'expired' : 'expires'} ${formatTime(expiresAt)}`
}

function shownLines(view: KeyView, now: number): readonly string[] {
  const { record, facts, state, plan, inForce, units, month, lastUsed } = view
  const rows: (readonly [string, string])[] = [
    ['id', record.id],
    ['name', record.name === '' ? '-' : record.name],
    ['state', facts.revoked_at === null ? state : `${state} since ${facts.revoked_at}`],
    ['plan', plan === undefined ? `${record.plan}, missing from the configuration` : record.plan],
    ['apis', apisText(record.apis)],
    ['created', facts.created_at],
    ['expires', facts.expires === null ? 'never' : `${facts.expires} 00:00 UTC`],
    ['limits', plan === undefined ? 'every call is refused' : limitsText(inForce)],
    ['  plan', plan === undefined ? '-' : limitsText(effectiveLimits(plan))],
    ['  own', ownText(facts)],
    [`used ${month}`, units === undefined ? 'not counted: no quota' : usedText(units)],
    ['last used', lastUsed === undefined ? 'never' : `${formatDay(lastUsed)} UTC`],
    ...record.secrets.map((secret, i) => [`secret ${i + 1}`, secretText(secret, now)] as const),
  ]
  return alignColumns(rows, 2)
}

function limitsJson({ rate, quotaPerMonth }: EffectiveLimits): object {
  return { rate: rate?.perSecond ?? null, burst: rate?.burst ?? null, quota: quotaPerMonth ?? null }
}

/** Limits with their origin, usage, and the age of each secret. */
export const keysShow: StoreCommand = async (settings, io, [id = '']) => {
  checkKeyId(id)
  const view = await withStoresToRead(settings, async (stores) => {
    const record = await stores.keyStore.get(id)
    if (record === undefined) throw unknownKeyError(id)
    return keyViewOf(record, await readKeyUses(stores, io.now), settings.plans, io.now)
  })
  const { facts, plan, inForce } = view
  const { rate, burst, quota, secrets, ...rest } = facts
  const shown = {
    ...listedKey(view, io.now),
    ...rest,
    limits: {
      in_force: plan === undefined ? null : limitsJson(inForce),
      plan: plan === undefined ? null : limitsJson(effectiveLimits(plan)),
      own: { rate, burst, quota },
    },
    secrets,
  }
  printResult(io, settings.invocation.json, shown, () => shownLines(view, io.now))
}
