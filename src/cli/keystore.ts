// What the commands on keys share: their output, the stores of a state folder, ids and usage errors.

import { audited, type AuditAct } from '../account/audit.ts'
import { isKeyId } from '../account/key.ts'
import { openLmdbStore } from '../account/lmdb.ts'
import type { KeyStore } from '../account/store.ts'
import { IpriskError } from '../base/error.ts'

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

export async function withStore<T>(
  state: string,
  use: (store: KeyStore) => Promise<T>,
): Promise<T> {
  const store = await openLmdbStore(state)
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

/** Does an act on the keys of a state folder and records it in the audit log. */
export function act<T>(
  options: { readonly state: string; readonly act: AuditAct; readonly keys: readonly string[] },
  run: (store: KeyStore) => Promise<T>,
): Promise<T> {
  return withStore(options.state, (store) => audited({ ...options, store }, run))
}

export function apisText(apis: readonly string[]): string {
  return apis.length === 0 ? 'none' : apis.join(',')
}
