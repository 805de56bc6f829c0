// Opens the keyring and the limiter of a worker from the stores that the settings name.

import { storeTimeoutMs } from '../base/limits.ts'
import type { Plans } from '../config/plan.ts'
import type { StoreSettings } from '../config/settings.ts'
import { type Keyring, type KeyringOptions, createKeyring } from './keyring.ts'
import type { Limiter } from './limits/limiter.ts'
import { type AbsentStores, type StoreMetrics, openStores } from './stores/open-stores.ts'
import { createLastUsedRecorder } from './last-used.ts'

export interface Account {
  readonly keyring: Keyring
  /** Its `close` gives leases back; the process ends after it. */
  readonly limiter: Limiter
  readonly storeMetrics: () => StoreMetrics
}

export interface AccountOptions {
  readonly stateFolder: string
  /** Absent: the state folder is all. */
  readonly store?: StoreSettings
  readonly plans: Plans
  /** Default: created. */
  readonly absentStores?: AbsentStores
  readonly onTrouble: (error: unknown) => void
  readonly onRecovery: () => void
  readonly onSkipped?: KeyringOptions['onSkipped']
}

const stateFolderOnly: StoreSettings = {
  policy: 'refuse',
  timeoutMs: storeTimeoutMs,
  replicas: 0,
}

/** Throws `keys_unusable` and `rates_unusable`. */
export async function openAccount(options: AccountOptions): Promise<Account> {
  const { stateFolder: state, store = stateFolderOnly, plans, onTrouble, onRecovery } = options
  const { absentStores } = options
  const stores = await openStores({ state, store, plans }, { onTrouble, onRecovery }, absentStores)
  const limiter = stores.openLimiter()
  const { recordUse: onVerified } = createLastUsedRecorder(stores.uses)
  const { onSkipped } = options
  const terms = { plans, limiter, onVerified, onSkipped } as const
  const keyring = createKeyring({ store: stores.keyStore, ...terms })
  return { keyring, limiter, storeMetrics: stores.metrics }
}
