// The interface of key stores (conformance suite: test/account/stores/conformance.ts). Stores keep
// records and count changes; they know nothing of expiry or secrets. An invalid row
// (read-record.ts) is never returned as a record, and does not hide the others.
//
// Invariants of every store:
// - A change and its version become visible together, to every process.
// - `create` and `update` resolve once the change would survive a crash of the machine.
// - Records are never deleted, so that revocations reach readers through `changes`.

import { type IpriskError, environmentError } from '../../base/coded-error.ts'
import type { Plans } from '../../config/plan.ts'
import type { KeyRecord } from './key-record.ts'
import type { KeyRows, SkippedKey } from './read-record.ts'

export interface KeyChanges extends KeyRows {
  /** The version that these records bring the reader to: 0 without keys, one more per change. */
  readonly version: number
}

export interface KeyStore {
  /** Throws `key_exists`. */
  readonly create: (record: KeyRecord) => Promise<void>
  /** Throws `key_unreadable`. */
  readonly get: (id: string) => Promise<KeyRecord | undefined>
  /** Oldest first, each as of some moment during the listing. */
  readonly list: () => Promise<KeyRows>
  /**
   * Replaces a record by `change` of it, atomically; `undefined` for an unknown id. `mend` replaces
   * an invalid row; without it, throws `key_unreadable`. Both may be called again.
   */
  readonly update: (
    id: string,
    change: (record: KeyRecord) => KeyRecord,
    mend?: (skipped: SkippedKey) => KeyRecord,
  ) => Promise<KeyRecord | undefined>
  /** Changes after `since`; everything for 0. Cheap if nothing changed. */
  readonly changes: (since: number) => Promise<KeyChanges>
  /** For stores that validate keys against plans. */
  readonly usePlans?: (plans: Plans) => void
  readonly close: () => Promise<void>
}

export function keyExistsError(id: string): IpriskError {
  const message = `A key with the id ${id} already exists. Create the key again.`
  return environmentError('key_exists', message, { retryable: true })
}
