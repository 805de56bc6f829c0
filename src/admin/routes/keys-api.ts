// The routes of keys, by the same code and audit as `iprisk keys`. A key's text is only in the
// answer that issues it. Every worker knows a change when it is answered; other machines see it in
// the store within a second.

import { inputError } from '../../base/coded-error.ts'
import { type KeyView, keyViewOf, readKeyUses } from '../../account/key-view.ts'
import type { AuditedAct } from '../../audit/audit-log.ts'
import { withAudit } from '../../account/keys/audited-keys.ts'
import {
  createKey,
  type IssuedKey,
  newKeyOf,
  policiesCaution,
  revokeKey,
  rotateKey,
} from '../../account/keys/issue-key.ts'
import type { KeyStore } from '../../account/keys/key-store.ts'
import { isKeyId } from '../../account/keys/key-text.ts'
import { skippedText } from '../../account/keys/read-record.ts'
import type { Stores } from '../../account/stores/open-stores.ts'
import { formatDay } from '../../base/day.ts'
import { formatTime } from '../../base/text/number-format.ts'
import type { Plans } from '../../config/plan.ts'
import type { KeyIssued, KeysView } from '../../api/admin-answers.ts'
import { keyCreation, keyRotation } from '../../api/admin-requests.ts'
import {
  listOf,
  shape,
  text,
  textOrNull,
  truth,
  whole,
  wholeOrNull,
} from '../../api/json-schema.ts'
import { type AdminRequest, type AdminRoute, allFaults, withBody } from '../admin-api.ts'
import { viaOf } from '../admin-caller.ts'

/** The newest; `iprisk keys list` shows all. */
const adminKeysMax = 2000

export interface KeysApiParts {
  readonly state: string
  readonly plans: () => Plans
  /** `undefined` without policies. */
  readonly policyNames: () => readonly string[] | undefined
  readonly stores: () => Promise<Pick<Stores, 'keyStore' | 'ledger' | 'uses'>>
  /** Whether every worker knows the keys as the store has them. */
  readonly readKeys: () => Promise<boolean>
  readonly onUnwritten: AuditedAct['onUnwritten']
}

const key = shape(
  {
    id: text,
    name: text,
    plan: text,
    state: { enum: ['live', 'expired', 'revoked'] },
    created: text,
    last_used: { ...textOrNull, description: 'A day, UTC.' },
    revoked: textOrNull,
    expires: { ...textOrNull, description: 'The day (UTC) on which it stops working.' },
    per_second: { ...wholeOrNull, description: 'In force; null for no limit.' },
    quota: { ...wholeOrNull, description: 'Checks a month in force; null for no limit.' },
    used: { ...whole, description: 'Upper bound of the units used this month; 0 without a quota.' },
    policies: listOf(text),
    test: truth,
  },
  ['id', 'name', 'plan', 'created', 'last_used', 'revoked', 'expires', 'used'],
)
const issued = shape(
  {
    id: text,
    key: { ...text, description: 'Shown only once: only its hash is stored.' },
    old_secret_until: textOrNull,
    cautions: { ...listOf(text), description: 'Warnings about what may not be intended.' },
    in_effect: { ...truth, description: 'Whether every worker of this server uses it now.' },
  },
  ['id', 'key', 'in_effect'],
)

const keys = '/admin/keys'

const skippedMax = 20

export function keyRoutes(parts: KeysApiParts): readonly AdminRoute[] {
  return [...readingRoutes(parts), ...changingRoutes(parts)]
}

function readingRoutes({ stores, plans }: KeysApiParts): readonly AdminRoute[] {
  return [
    {
      method: 'GET',
      path: keys,
      role: 'admin',
      summary: `The keys, newest first, at most ${adminKeysMax}, with limits and usage this month`,
      status: 200,
      answer: shape({
        keys: listOf(key),
        total: whole,
        plans: { ...listOf(text), description: 'The plans a new key may have.' },
        skipped: {
          ...listOf(text),
          description: `Invalid key records, one sentence each, at most ${skippedMax}.`,
        },
      }),
      run: async () => {
        const now = Date.now()
        const { keyStore, ...counts } = await stores()
        const { records, skipped } = await keyStore.list()
        const uses = await readKeyUses(counts, now)
        const shown = records.slice(-adminKeysMax).toReversed()
        return {
          keys: shown.map((record) => keyJson(keyViewOf(record, uses, plans(), now))),
          total: records.length,
          plans: Object.keys(plans()),
          skipped: skipped.slice(0, skippedMax).map(skippedText),
        } satisfies KeysView
      },
    },
  ]
}

function keyJson(view: KeyView): KeysView['keys'][number] {
  const { record, facts, state, inForce, units = 0, lastUsed } = view
  return {
    id: record.id,
    name: facts.name,
    plan: facts.plan,
    state,
    created: facts.created_at,
    last_used: lastUsed === undefined ? null : formatDay(lastUsed),
    revoked: facts.revoked_at,
    expires: facts.expires,
    per_second: inForce.rate?.perSecond ?? null,
    quota: inForce.quotaPerMonth ?? null,
    used: units,
    policies: facts.policies ?? [],
    test: record.test === true,
  }
}

function changingRoutes(parts: KeysApiParts): readonly AdminRoute[] {
  const change = { method: 'POST', role: 'admin', status: 200, answer: issued } as const
  return [
    withBody(
      keyCreation,
      {
        ...change,
        path: keys,
        summary: 'Create a key, like `iprisk keys create`',
        status: 201,
        run: async ({ caller }, body) => {
          const made = newKeyOf(body, parts.plans(), Date.now(), (member) => member)
          const audit = { act: 'create', via: viaOf(caller) } as const
          const done = await act(parts, audit, (store) => createKey(store, made, Date.now()))
          const caution = policiesCaution(made.policies, parts.policyNames())
          return {
            ...issuedJson(done),
            cautions: caution === undefined ? [] : [caution],
            in_effect: await parts.readKeys(),
          }
        },
      },
      allFaults,
    ),
    withBody(
      keyRotation,
      {
        ...change,
        path: `${keys}/{id}/rotate`,
        summary: 'Give a key a new secret; the old one works until its grace period ends',
        run: async (request, { grace_hours: hours }) => {
          const { caller } = request
          const id = idOf(request)
          const when = { now: Date.now(), graceMs: hours * 3_600_000 }
          const audit = { act: 'rotate', keys: [id], via: viaOf(caller) } as const
          const done = await act(parts, audit, (store) => rotateKey(store, id, when))
          const old = done.record.secrets.at(-2)?.expiresAt
          return {
            ...issuedJson(done),
            old_secret_until: old === undefined ? null : formatTime(old),
            in_effect: await parts.readKeys(),
          }
        },
      },
      allFaults,
    ),
    {
      ...change,
      method: 'DELETE',
      path: `${keys}/{id}`,
      summary: 'Revoke a key permanently; repeating it changes nothing',
      answer: shape({ id: text, revoked: text, in_effect: truth }),
      run: async (request) => {
        const id = idOf(request)
        const now = Date.now()
        const audit = { act: 'revoke', keys: [id], via: viaOf(request.caller) } as const
        const record = await act(parts, audit, (store) => revokeKey(store, id, now))
        const revoked = formatTime(record.revokedAt ?? now)
        return { id, revoked, in_effect: await parts.readKeys() }
      },
    },
  ]
}

const issuedJson = ({ text, record }: IssuedKey): Omit<KeyIssued, 'in_effect'> => ({
  id: record.id,
  key: text,
})

async function act<T>(
  { state, stores, onUnwritten }: KeysApiParts,
  audit: Pick<AuditedAct, 'act' | 'via'> & { readonly keys?: readonly string[] },
  run: (store: KeyStore) => Promise<T>,
): Promise<T> {
  const { keyStore: store } = await stores()
  return withAudit({ state, store, keys: [], ...audit, onUnwritten }, run)
}

function idOf({ name }: AdminRequest): string {
  if (isKeyId(name)) return name
  throw inputError(
    'invalid_input',
    'The id of a key is the 12 letters and digits between "irk_" and the next "_".',
  )
}
