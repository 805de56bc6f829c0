// What a worker asks about keys and limits, opened from a state folder: the keyring and the limiter
// that it binds its keys to. One machine: keys and quotas in LMDB, rates in a shared file.

import { bootId, machineOffsetMs } from '../base/clock.ts'
import type { Plans } from '../config/plan.ts'
import { type Keyring, createKeyring } from './keyring.ts'
import { createLedger } from './ledger.ts'
import { type Limiter, createLimiter } from './limiter.ts'
import { openLmdbCounters, openLmdbStore } from './lmdb.ts'
import { openRates } from './slots.ts'
import { createUseNotes, createUseStore } from './uses.ts'

export interface Account {
  readonly keyring: Keyring
  readonly limiter: Limiter
}

export interface AccountOptions {
  readonly stateFolder: string
  readonly plans: Plans
  /** Called for every failure of the store of quotas; whoever logs says it once. */
  readonly onTrouble: (error: unknown) => void
  readonly onRecovery: () => void
}

/** Throws `keys_unusable` and `rates_unusable`. */
export async function openAccount(options: AccountOptions): Promise<Account> {
  const { stateFolder, plans, onTrouble, onRecovery } = options
  const store = await openLmdbStore(stateFolder)
  const counters = await openLmdbCounters(stateFolder)
  const limiter = createLimiter({
    rates: openRates(stateFolder, { boot: bootId() }),
    ledger: createLedger(counters),
    machineOffsetMs: machineOffsetMs(),
    now: () => performance.now(),
    wall: () => Date.now(),
    onTrouble,
    onRecovery,
  })
  const { noteUse: onVerified } = createUseNotes(createUseStore(counters))
  const keyring = createKeyring({ store, plans, api: 'ip-risk', limiter, onVerified })
  return { keyring, limiter }
}
