// Where keys are kept: the interface that every store implements and the conformance suite
// (test/account/stores/conformance.ts) holds it to. Stores know nothing of expiry or
// secrets, and of plans only where a file is one: they keep records and count changes. An
// invalid row (read-record.ts) is never returned as a record, and does not hide the others.
//
// Invariants of every store:
// - A change and the version that counts it become visible together, to every process.
// - `create` and `update` resolve when the change would survive a crash of the machine.
// - Records are never deleted: a revoked key stays, so that it can be told from an unknown one in a
//   list, and so that readers learn of it by `changes`.

import { type IpriskError, environmentError } from '../../base/coded-error.ts'
import type { Plans } from '../../config/plan.ts'
import type { KeyRecord } from './key-record.ts'
import type { KeyRows, SkippedKey } from './read-record.ts'

export interface KeyChanges extends KeyRows {
  /** That these records bring the reader to: 0 without keys; each change adds one. */
  readonly version: number
}

export interface KeyStore {
  /** Keeps a new record; fails with `key_exists` where the id is taken. */
  readonly create: (record: KeyRecord) => Promise<void>
  /** The record, or `undefined`; fails with `key_unreadable`. */
  readonly get: (id: string) => Promise<KeyRecord | undefined>
  /** Every record, oldest first, each as it was at some moment of the listing. */
  readonly list: () => Promise<KeyRows>
  /**
   * Replaces a record by what `change` makes of it, atomically; `undefined` where no key has that
   * id. An invalid row is replaced by the result of `mend`; without it, fails with
   * `key_unreadable`. Both are pure: a store may call them again.
   */
  readonly update: (
    id: string,
    change: (record: KeyRecord) => KeyRecord,
    mend?: (skipped: SkippedKey) => KeyRecord,
  ) => Promise<KeyRecord | undefined>
  /** What changed after `since`; everything for 0. Cheap where nothing did. */
  readonly changes: (since: number) => Promise<KeyChanges>
  /** For a store that judges its keys by the plans: they are others now. */
  readonly usePlans?: (plans: Plans) => void
  readonly close: () => Promise<void>
}

export function keyExistsError(id: string): IpriskError {
  const message = `There is a key with the id ${id} already. Make the key once more.`
  return environmentError('key_exists', message, { retryable: true })
}
