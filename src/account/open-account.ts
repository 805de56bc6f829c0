// Opens a worker's keyring and limiter.

import { storeTimeoutMs } from '../base/limits.ts'
import type { StoreSettings } from '../config/settings.ts'
import { type KeyringOptions, createKeyring } from './keyring.ts'
import { type AbsentStores, type StoresHooks, openStores } from './stores/open-stores.ts'
import { createLastUsedRecorder } from './last-used.ts'

export type Account = Awaited<ReturnType<typeof openAccount>>

export interface AccountOptions extends StoresHooks, Pick<KeyringOptions, 'plans' | 'onSkipped'> {
  readonly stateFolder: string
  /** Default: only the state folder. */
  readonly store?: StoreSettings
  readonly absentStores?: AbsentStores
}

const stateFolderOnly: StoreSettings = { policy: 'refuse', timeoutMs: storeTimeoutMs, replicas: 0 }

/** Throws `keys_unusable` and `rates_unusable`. The limiter's `close` returns leases. */
export async function openAccount(options: AccountOptions) {
  const { stateFolder: state, store = stateFolderOnly, plans, onSkipped, absentStores } = options
  const stores = await openStores({ state, store, plans }, options, absentStores)
  const limiter = stores.openLimiter()
  const { recordUse: onVerified } = createLastUsedRecorder(stores.uses)
  const keyring = createKeyring({ store: stores.keyStore, plans, limiter, onVerified, onSkipped })
  return { keyring, limiter, storeMetrics: stores.metrics }
}
