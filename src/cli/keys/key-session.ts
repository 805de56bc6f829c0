// Shared by the commands on keys and lists: stores, audit log, key ids.

import type { AuditAct } from '../../audit/audit-log.ts'
import { withAudit } from '../../account/keys/audited-keys.ts'
import { isKeyId } from '../../account/keys/key-text.ts'
import { type SkippedKey, skippedAdvice, skippedText } from '../../account/keys/read-record.ts'
import type { KeyStore } from '../../account/keys/key-store.ts'
import {
  type AbsentStores,
  type Stores,
  type StoresSettings,
  openStores,
  silentHooks,
} from '../../account/stores/open-stores.ts'
import { type IpriskError, usageError } from '../../base/coded-error.ts'
import type { Settings } from '../../config/settings.ts'
import { type Command, type Io, warn } from '../terminal/io.ts'

export type CommandIo = Pick<Io, 'out' | 'lines' | 'err' | 'now'>
export type StoreCommand = Command<Promise<void>, CommandIo>

export function checkKeyId(id: string): void {
  if (isKeyId(id)) return
  throw usageError(
    'The id of a key is the 12 letters and digits between "irk_" and the next "_". ' +
      '"iprisk keys list" shows the ids.',
  )
}

export async function withStores<T>(
  settings: StoresSettings,
  use: (stores: Stores) => Promise<T>,
  absent: AbsentStores = 'make',
): Promise<T> {
  const stores = await openStores(settings, silentHooks, absent)
  try {
    return await use(stores)
  } finally {
    await stores.close()
  }
}

/** Commands that only read work without a state folder, unless one was named. */
export function withStoresToRead<T>(
  settings: Settings,
  use: (stores: Stores) => Promise<T>,
): Promise<T> {
  return withStores(settings, use, settings.stateNamed ? 'refuse' : 'empty')
}

/** Reports that the end of an act could not be logged. */
export const unwrittenTo =
  ({ err }: Pick<Io, 'err'>) =>
  ({ message }: IpriskError): void =>
    err(`iprisk: ${message}`)

export function runAudited<T>(
  settings: Settings,
  io: Pick<Io, 'err'>,
  what: { readonly act: AuditAct; readonly keys?: readonly string[] },
  run: (store: KeyStore) => Promise<T>,
  absent: AbsentStores = 'make',
): Promise<T> {
  const audit = { state: settings.state, keys: [], ...what, onUnwritten: unwrittenTo(io) }
  return withStores(settings, ({ keyStore: store }) => withAudit({ ...audit, store }, run), absent)
}

const skippedShownMax = 20

export function warnOfSkipped(skipped: readonly SkippedKey[], io: Pick<Io, 'err'>): void {
  if (skipped.length === 0) return
  for (const one of skipped.slice(0, skippedShownMax)) warn(io, skippedText(one))
  const more = skipped.length - skippedShownMax
  if (more > 0) warn(io, `${more} more key records are invalid.`)
  io.err(`iprisk: ${skippedAdvice}`)
}

export function apisText(apis: readonly string[]): string {
  return apis.length === 0 ? 'none' : apis.join(',')
}
