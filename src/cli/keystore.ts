// What the commands on keys share: their output, the stores of a state folder, ids and usage errors.

import { type AuditAct, audited } from '../account/audit.ts'
import { isKeyId } from '../account/key.ts'
import { type QuotaLedger, createLedger } from '../account/ledger.ts'
import { openLmdbCounters, openLmdbStore } from '../account/lmdb.ts'
import type { KeyStore } from '../account/store.ts'
import { type UseStore, createUseStore } from '../account/uses.ts'
import { IpriskError } from '../base/error.ts'
import type { Settings } from '../config/settings.ts'

/** Where a command writes, and when it is. */
export interface CommandIo {
  /** Takes text for standard output. */
  readonly out: (text: string) => void
  /** Milliseconds since the epoch. */
  readonly now: number
}

export function usage(message: string): IpriskError {
  return new IpriskError({ code: 'usage', message, fault: 'usage' })
}

export function checkId(id: string): void {
  if (isKeyId(id)) return
  throw usage(
    'An id is the 12 letters and digits between "irk_" and the next "_" of a key. ' +
      '"iprisk keys list" shows the ids.',
  )
}

/** What the commands ask: the keys, what they have used, and when last. */
export interface Stores {
  readonly keyStore: KeyStore
  readonly ledger: QuotaLedger
  readonly uses: UseStore
}

/** Opens the stores that the settings name, and closes them whatever comes. */
export async function withStores<T>(
  { state }: Settings,
  use: (stores: Stores) => Promise<T>,
): Promise<T> {
  const keyStore = await openLmdbStore(state)
  try {
    const counters = await openLmdbCounters(state)
    const ledger = createLedger(counters)
    try {
      return await use({ keyStore, ledger, uses: createUseStore(counters) })
    } finally {
      await ledger.close()
    }
  } finally {
    await keyStore.close()
  }
}

/** Does an act on the keys and records it in the audit log. */
export function act<T>(
  settings: Settings,
  what: { readonly act: AuditAct; readonly keys?: readonly string[] },
  run: (store: KeyStore) => Promise<T>,
): Promise<T> {
  const { state } = settings
  return withStores(settings, ({ keyStore: store }) =>
    audited({ state, store, keys: [], ...what }, run),
  )
}

export function apisText(apis: readonly string[]): string {
  return apis.length === 0 ? 'none' : apis.join(',')
}
