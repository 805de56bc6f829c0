// The keyring: who is let in, who is not and with which code, what it remembers, and that a change
// made by another process is seen by the next refresh.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Allowance, newAllowance } from '../../src/account/limits/allowance.ts'
import type { IssuedKey } from '../../src/account/keys/issue-key.ts'
import { createKey, revokeKey, rotateKey } from '../../src/account/keys/issue-key.ts'
import {
  formatKeyText,
  parseKeyText,
  randomId,
  randomSecret,
} from '../../src/account/keys/key-text.ts'
import type { Keyring } from '../../src/account/keyring.ts'
import { createKeyring, verifiedKeysMax } from '../../src/account/keyring.ts'
import type { EffectiveLimits } from '../../src/account/keys/key-limits.ts'
import { openLmdbKeyStore } from '../../src/account/stores/lmdb/lmdb-stores.ts'
import type { NewKey } from '../../src/account/keys/key-record.ts'
import type { KeyStore } from '../../src/account/keys/key-store.ts'
import type { Day } from '../../src/base/day.ts'
import { readSettings } from '../../src/config/settings.ts'
import { writeRecord } from './stores/write-row.ts'

const cwd = tmpdir()
const { plans } = readSettings({ command: 'serve', flags: {}, environment: {}, cwd })
const msPerDay = 86_400_000
const invalid = { kind: 'denied', status: 401, code: 'invalid_api_key' }

let state = ''
let store: KeyStore
let keyring: Keyring
let calls = 0

/** What was bound and let go, in order. */
const bound: string[] = []
const limiter = {
  bind: (id: string, limits: EffectiveLimits): Allowance => {
    bound.push(`bind ${id}`)
    return newAllowance(id, limits)
  },
  release: (id: string): void => void bound.push(`release ${id}`),
}

/** The store, counting how often it is asked for anything. */
const counted = (inner: KeyStore): KeyStore => ({
  ...inner,
  get: (id) => ((calls += 1), inner.get(id)),
  changes: (since) => ((calls += 1), inner.changes(since)),
})

beforeEach(async () => {
  state = mkdtempSync(join(tmpdir(), 'iprisk-keyring-'))
  store = counted(await openLmdbKeyStore(state))
  keyring = createKeyring({ store, plans, limiter })
  calls = 0
})
afterEach(async () => {
  await store.close()
  rmSync(state, { recursive: true })
})

const issue = async (key: Partial<NewKey> = {}): Promise<IssuedKey> => {
  const issued = await createKey(store, { name: '', plan: 'team', apis: ['ip-risk'], ...key }, 1000)
  await sleep(1)
  await keyring.refresh(1000)
  return issued
}

describe('a good key', () => {
  it('is let in with its plan and limits', async () => {
    const { text, record } = await issue({ limits: { quotaPerMonth: 5 } })
    expect(keyring.authenticate(`Bearer ${text}`)).toMatchObject({
      kind: 'authenticated',
      keyId: record.id,
      plan: 'team',
      apis: ['ip-risk'],
      insights: 'never',
      limits: { rate: { perSecond: 50, burst: 100 }, quotaPerMonth: 5 },
    })
  })

  it('is let in whatever the case of the scheme and the number of spaces', async () => {
    const { text } = await issue()
    for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'bEaReR  ', 'Bearer     ']) {
      expect([scheme, keyring.authenticate(scheme + text).kind]).toEqual([scheme, 'authenticated'])
    }
  })

  it('is known by its secret alone while it works, so that nobody repeats it', async () => {
    const { text, record } = await issue()
    const secret = text.slice(17, 49)
    expect([keyring.holds(secret), keyring.holds(randomSecret())]).toEqual([true, false])
    expect(keyring.holds(text)).toBe(false)
    await revokeKey(store, record.id, 1000)
    await keyring.refresh(1000)
    expect(keyring.holds(secret)).toBe(false)
  })

  it('gives one and the same answer when warm', async () => {
    const { text } = await issue()
    const cold = keyring.authenticate(`Bearer ${text}`)
    expect(keyring.authenticate(`Bearer ${text}`)).toBe(cold)
    expect(keyring.counts()).toEqual({ keys: 1, verified: 1 })
  })
})

describe('401', () => {
  it('is for everything that is no key here, alike', async () => {
    const { text, record } = await issue()
    const foreign = formatKeyText({ id: randomId(), secret: randomSecret() })
    const wrongSecret = formatKeyText({ id: record.id, secret: randomSecret() })
    const values = [
      '',
      'Bearer',
      'Bearer ',
      text,
      `Basic ${text}`,
      `Bearer${text}`,
      `Bearer\t${text}`,
      `Bearer ${text} ${text}`,
      `Bearer ${text},Bearer ${text}`,
      `Bearer ${text.slice(0, -1)}`,
      `Bearer ${text.toLowerCase()}`,
      `Bearer ${foreign}`,
      `Bearer ${wrongSecret}`,
      `Bearer ${' '.repeat(200)}${text}`,
      `Bearer ${'x'.repeat(10_000)}`,
      'Bearer irk___proto_____',
    ]
    const outcomes = values.map((value) => keyring.authenticate(value))
    for (const [i, outcome] of outcomes.entries()) {
      expect([values[i], outcome]).toEqual([values[i], invalid])
      expect(outcome).toBe(outcomes[0])
    }
    expect(keyring.counts().verified).toBe(0)
  })

  it('is for every key before the first refresh', async () => {
    const { text } = await createKey(store, { name: '', plan: 'team', apis: ['ip-risk'] }, 1)
    expect(keyring.authenticate(`Bearer ${text}`)).toEqual(invalid)
  })

  it('is for an expired key from the first instant of that day, warm or cold', async () => {
    const { text } = await issue({ expires: 3 as Day })
    const value = `Bearer ${text}`
    await keyring.refresh(3 * msPerDay - 1)
    expect(keyring.authenticate(value).kind).toBe('authenticated')
    await keyring.refresh(3 * msPerDay)
    expect(keyring.authenticate(value)).toEqual(invalid)
    expect(keyring.counts().verified).toBe(0)
    expect(keyring.authenticate(value)).toEqual(invalid)
  })

  it('is for a revoked key after the next refresh', async () => {
    const { text, record } = await issue()
    expect(keyring.authenticate(`Bearer ${text}`).kind).toBe('authenticated')
    await revokeKey(store, record.id, 2000)
    await sleep(1)
    await keyring.refresh(2000)
    expect(keyring.authenticate(`Bearer ${text}`)).toEqual(invalid)
    expect(keyring.counts()).toEqual({ keys: 0, verified: 0 })
  })
})

describe('403', () => {
  it.each<[string, Partial<NewKey>, string]>([
    ['a plan without the API', { plan: 'free' }, 'api_not_enabled_for_plan'],
    ['a plan that is no more', { plan: 'gone' }, 'api_not_enabled_for_plan'],
    [
      'a plan named like a member of every object',
      { plan: 'constructor' },
      'api_not_enabled_for_plan',
    ],
    ['a key that is not allowed', { apis: [] }, 'token_not_allowed_for_api'],
    ['both: the plan first', { plan: 'free', apis: [] }, 'api_not_enabled_for_plan'],
  ])('is for %s', async (_, key, code) => {
    const { text } = await issue(key)
    const wanted = { kind: 'denied', status: 403, code }
    expect(keyring.authenticate(`Bearer ${text}`)).toEqual(wanted)
    expect(keyring.authenticate(`Bearer ${text}`)).toEqual(wanted)
  })
})

describe('rotation', () => {
  it('lets both secrets in until the grace ends, then the new one alone', async () => {
    const first = await issue()
    const second = await rotateKey(store, first.record.id, { now: 2000, graceMs: 500 })
    await sleep(1)
    const seen = async (now: number): Promise<string[]> => {
      await keyring.refresh(now)
      return [first, second].map(({ text }) => keyring.authenticate(`Bearer ${text}`).kind)
    }
    expect(await seen(2499)).toEqual(['authenticated', 'authenticated'])
    expect(await seen(2500)).toEqual(['denied', 'authenticated'])
    expect(parseKeyText(second.text)?.id).toBe(first.record.id)
  })

  it.each(['revoked', 'expired'] as const)('is refused for a key that is %s', async (how) => {
    const { record } = await issue(how === 'expired' ? { expires: 1 as Day } : {})
    if (how === 'revoked') await revokeKey(store, record.id, 1500)
    const rotated = rotateKey(store, record.id, { now: msPerDay, graceMs: 0 })
    await expect(rotated).rejects.toMatchObject({ code: 'key_not_live' })
    expect((await store.get(record.id))?.secrets).toHaveLength(1)
  })
})

describe('a flood', () => {
  it('of unknown keys asks the store nothing and leaves nothing behind', async () => {
    const { record } = await issue()
    calls = 0
    for (let i = 0; i < 20_000; i += 1) {
      const id = i % 2 === 0 ? record.id : randomId()
      const text = formatKeyText({ id, secret: randomSecret() })
      expect(keyring.authenticate(`Bearer ${text}`).kind).toBe('denied')
    }
    expect(calls).toBe(0)
    expect(keyring.counts()).toEqual({ keys: 1, verified: 0 })
  })

  it('of spellings of a good key stays within its bound and goes on working', async () => {
    // 64 spellings of the scheme × up to 60 spaces are 3,840; 18 keys pass the bound.
    const texts: string[] = []
    for (let i = 0; i < 18; i += 1) texts.push((await issue()).text)
    const schemes = Array.from({ length: 64 }, (_, bits) =>
      'bearer'
        .split('')
        .map((c, i) => ((bits >> i) & 1 ? c.toUpperCase() : c))
        .join(''),
    )
    let highest = 0
    for (const text of texts) {
      for (const scheme of schemes) {
        for (let spaces = 1; spaces <= 60; spaces += 1) {
          const outcome = keyring.authenticate(scheme + ' '.repeat(spaces) + text)
          if (outcome.kind !== 'authenticated') throw new Error(`${scheme} ${spaces}`)
        }
      }
      highest = Math.max(highest, keyring.counts().verified)
    }
    expect(highest).toBe(verifiedKeysMax)
    expect(keyring.authenticate(`Bearer ${texts[0]}`).kind).toBe('authenticated')
  })
})

describe('refresh', () => {
  it('takes in a change of another process within a second', async () => {
    const { text, record } = await issue()
    expect(keyring.authenticate(`Bearer ${text}`).kind).toBe('authenticated')
    // Another process, with lmdb alone: revokes the key as the store's format says.
    const script = `
      import { open } from 'lmdb'
      const json = { encoding: 'json' }
      const root = open({ path: process.argv[1], overlappingSync: false, ...json })
      const [keys, changes, meta] = ['keys', 'changes', 'meta'].map((name) => root.openDB({ name, ...json }))
      root.transactionSync(() => {
        const { changed, record } = keys.get(process.argv[2])
        const version = meta.get('version') + 1
        changes.removeSync(changed)
        changes.putSync(version, record.id)
        keys.putSync(record.id, { changed: version, record: { ...record, revokedAt: 1 } })
        meta.putSync('version', version)
      })
      await root.close()`
    const project = fileURLToPath(new URL('../..', import.meta.url))
    const flags = ['--input-type=module', '-e', script, join(state, 'keys'), record.id]
    execFileSync(process.execPath, flags, { cwd: project })
    const from = performance.now()
    while (keyring.authenticate(`Bearer ${text}`).kind === 'authenticated') {
      expect(performance.now() - from).toBeLessThan(1000)
      await sleep(5)
      await keyring.refresh(1000)
    }
    expect(keyring.authenticate(`Bearer ${text}`)).toEqual(invalid)
  })

  it('binds a key to its limits at each change, and lets a revoked one go', async () => {
    bound.length = 0
    const { text, record } = await issue({ limits: { perSecond: 3, burst: 4 } })
    expect(bound).toEqual([`bind ${record.id}`])
    const outcome = keyring.authenticate(`Bearer ${text}`)
    if (outcome.kind === 'denied') throw new Error(outcome.code)
    expect(outcome.allowance.limits).toEqual(outcome.limits)
    expect(outcome.limits.rate).toEqual({ perSecond: 3, burst: 4 })
    await revokeKey(store, record.id, 2)
    await sleep(1)
    await keyring.refresh(3)
    expect(bound).toEqual([`bind ${record.id}`, `release ${record.id}`])
  })

  it('reads only what changed', async () => {
    for (let i = 0; i < 5; i += 1) await issue()
    const asked: number[] = []
    const spying: KeyStore = {
      ...store,
      changes: (since) => (asked.push(since), store.changes(since)),
    }
    const other = createKeyring({ store: spying, plans, limiter })
    await other.refresh(1)
    await issue()
    await other.refresh(2)
    await other.refresh(3)
    expect(asked).toEqual([0, 5, 6])
    expect(other.counts().keys).toBe(6)
  })

  it('denies a key with an invalid record, and applies every other change', async () => {
    const { text, record } = await issue()
    const other = await issue()
    const told: (readonly [readonly string[], number])[] = []
    keyring = createKeyring({
      store,
      plans,
      limiter,
      onSkipped: (came, count) => told.push([came.map(({ id }) => id), count]),
    })
    await keyring.refresh(1000)
    expect(keyring.authenticate(`Bearer ${text}`).kind).toBe('authenticated')
    bound.length = 0
    await writeRecord(state, record.id, '{"id":"?"')
    await revokeKey(store, other.record.id, 1000)
    const fresh = await createKey(store, { name: '', plan: 'team', apis: ['ip-risk'] }, 1000)
    await sleep(1)
    for (let i = 0; i < 3; i += 1) await keyring.refresh(1001 + i)
    expect(keyring.authenticate(`Bearer ${text}`)).toEqual(invalid)
    expect(keyring.authenticate(`Bearer ${other.text}`)).toEqual(invalid)
    expect(keyring.authenticate(`Bearer ${fresh.text}`).kind).toBe('authenticated')
    expect(keyring.holds(text.slice(17, 49))).toBe(false)
    expect(bound).toContain(`release ${record.id}`)
    await store.update(
      record.id,
      () => record,
      () => record,
    )
    await sleep(1)
    await keyring.refresh(1010)
    expect(keyring.authenticate(`Bearer ${text}`).kind).toBe('authenticated')
    expect(told).toEqual([
      [[record.id], 1],
      [[], 0],
    ])
  })

  it('keeps its keys and moves its clock when the store fails', async () => {
    const { text } = await issue({ expires: 3 as Day })
    const failing: KeyStore = {
      ...store,
      changes: (since) => (since === 0 ? store.changes(0) : Promise.reject(new Error('disk gone'))),
    }
    const other = createKeyring({ store: failing, plans, limiter })
    await other.refresh(1000)
    await expect(other.refresh(2000)).rejects.toMatchObject({
      code: 'keys_unreadable',
      retryable: true,
    })
    expect(other.authenticate(`Bearer ${text}`).kind).toBe('authenticated')
    await expect(other.refresh(3 * msPerDay)).rejects.toThrow('disk gone')
    expect(other.authenticate(`Bearer ${text}`)).toEqual(invalid)
  })
})
