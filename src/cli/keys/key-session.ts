// What the commands on keys share: their output, the stores of a state folder, ids and usage
// errors.

import type { AuditAct } from '../../audit/audit-log.ts'
import { withAudit } from '../../account/keys/audited-keys.ts'
import { isKeyId } from '../../account/keys/key-text.ts'
import { type SkippedKey, skippedAdvice, skippedText } from '../../account/keys/read-record.ts'
import type { KeyStore } from '../../account/keys/key-store.ts'
import {
  type AbsentStores,
  type Stores,
  openStores,
  silentHooks,
} from '../../account/stores/open-stores.ts'
import { type IpriskError, usageError } from '../../base/coded-error.ts'
import type { Settings } from '../../config/settings.ts'

/** Where a command writes, and when it is. */
export interface CommandIo {
  /** Takes a line for standard output. */
  readonly out: (text: string) => void
  /** The same of many lines, at once; resolves when the system has taken them. */
  readonly lines: (texts: readonly string[]) => Promise<void>
  /** Takes a line for standard error. */
  readonly err: (text: string) => void
  /** Milliseconds since the epoch. */
  readonly now: number
}

export function checkKeyId(id: string): void {
  if (isKeyId(id)) return
  throw usageError(
    'An id is the 12 letters and digits between "irk_" and the next "_" of a key. ' +
      '"iprisk keys list" shows the ids.',
  )
}

/** Opens the stores that the settings name, and closes them whatever comes. */
export async function withStores<T>(
  settings: Settings,
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

/** For commands that only look: whoever has not named a folder may have nothing yet. */
export function withStoresToRead<T>(
  settings: Settings,
  use: (stores: Stores) => Promise<T>,
): Promise<T> {
  return withStores(settings, use, settings.stateNamed ? 'refuse' : 'empty')
}

/** Does an act on the keys and records it in the audit log; says so where its end could not be. */
export function runAudited<T>(
  settings: Settings,
  io: Pick<CommandIo, 'err'>,
  what: { readonly act: AuditAct; readonly keys?: readonly string[] },
  run: (store: KeyStore) => Promise<T>,
  absent: AbsentStores = 'make',
): Promise<T> {
  const { state } = settings
  const onUnwritten = ({ message }: IpriskError): void => io.err(`iprisk: ${message}`)
  return withStores(
    settings,
    ({ keyStore: store }) => withAudit({ state, store, keys: [], ...what, onUnwritten }, run),
    absent,
  )
}

const skippedShownMax = 20

export function warnOfSkipped(
  skipped: readonly SkippedKey[],
  { err }: Pick<CommandIo, 'err'>,
): void {
  if (skipped.length === 0) return
  const shown = skipped.slice(0, skippedShownMax)
  for (const one of shown) err(`iprisk: warning: ${skippedText(one)}`)
  const more = skipped.length - shown.length
  if (more > 0) err(`iprisk: warning: ${more} more key records are invalid.`)
  err(`iprisk: ${skippedAdvice}`)
}

export function apisText(apis: readonly string[]): string {
  return apis.length === 0 ? 'none' : apis.join(',')
}
