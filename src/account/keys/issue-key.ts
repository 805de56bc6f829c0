// Making, rotating and revoking keys on a store: the three operations that change one. The text of
// a key exists only in what these return; it is shown once and kept nowhere. Who may do this is
// decided elsewhere: whoever can open the store can.

import { IpriskError } from '../../base/coded-error.ts'
import { formatKeyText, randomId, randomSecret } from './key-text.ts'
import type { KeyRecord, NewKey } from './key-record.ts'
import { keyState, lostRecord, newRecord, revokedRecord, rotatedRecord } from './key-record.ts'
import type { KeyStore } from './key-store.ts'

/** A key just made or rotated: its text, shown once, and what is kept of it. */
export interface IssuedKey {
  readonly text: string
  readonly record: KeyRecord
}

export function unknownKeyError(id: string): IpriskError {
  const message = `There is no key with the id ${id}. "iprisk keys list" shows the ids.`
  return new IpriskError({ code: 'key_unknown', message, fault: 'input' })
}

/** Makes a key. `now` is in milliseconds since the epoch. */
export async function createKey(store: KeyStore, key: NewKey, now: number): Promise<IssuedKey> {
  const id = randomId()
  const secret = randomSecret()
  const record = newRecord(key, { id, secret, now })
  await store.create(record)
  return { text: formatKeyText({ id, secret, test: key.test === true }), record }
}

/** Revokes a key for good, even if its record is unreadable; fails with `key_unknown`. */
export async function revokeKey(store: KeyStore, id: string, now: number): Promise<KeyRecord> {
  const record = await store.update(
    id,
    (before) => revokedRecord(before, now),
    () => lostRecord(id, now),
  )
  if (record === undefined) throw unknownKeyError(id)
  return record
}

/**
 * Gives a key a new secret; the one before it works for `graceMs` more. Fails with `key_unknown`,
 * and with `key_not_live` for a key that is revoked or expired.
 */
export async function rotateKey(
  store: KeyStore,
  id: string,
  when: { readonly now: number; readonly graceMs: number },
): Promise<IssuedKey> {
  const { now, graceMs } = when
  const secret = randomSecret()
  const change = { secret, now, oldExpiresAt: now + graceMs }
  const record = await store.update(id, (before) => {
    const state = keyState(before, now)
    if (state === 'live') return rotatedRecord(before, change)
    const message = `The key ${id} is ${state} and stays so. Make a new one: "iprisk keys create".`
    throw new IpriskError({ code: 'key_not_live', message, fault: 'input' })
  })
  if (record === undefined) throw unknownKeyError(id)
  return { text: formatKeyText({ id, secret, test: record.test === true }), record }
}
