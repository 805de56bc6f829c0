// Changes to a store's keys, recorded in the audit log.

import type { AuditChange, AuditedAct } from '../../audit/audit-log.ts'
import { isUnknown, withAuditedChanges } from '../../audit/audit-log.ts'
import { IpriskError } from '../../base/coded-error.ts'
import { type KeyRecord, summarizeKey } from './key-record.ts'
import type { KeyStore } from './key-store.ts'
import type { SkippedKey } from './read-record.ts'

/** Throws as `withAuditedChanges` does. */
export function withAudit<T>(
  options: AuditedAct & { readonly store: KeyStore },
  run: (store: KeyStore) => Promise<T>,
): Promise<T> {
  const { store, ...audited } = options
  return withAuditedChanges({ ...audited, member: 'changes' }, (changes) =>
    run(recordChanges(store, changes)),
  )
}

function recordChanges(store: KeyStore, changes: Pick<AuditChange[], 'push'>): KeyStore {
  /** Records a change; an unknown outcome names the key's id. */
  const tell = async <T>(work: Promise<T>, changed: () => AuditChange | undefined): Promise<T> => {
    const add = (): string => {
      const change = changed()
      if (change !== undefined) changes.push(change)
      return change?.key ?? ''
    }
    try {
      const result = await work
      add()
      return result
    } catch (error) {
      throw isUnknown(error) ? unknownChange(error, add()) : error
    }
  }
  return {
    ...store,
    create: (record) =>
      tell(store.create(record), () => ({ key: record.id, after: summarizeKey(record) })),
    update: (id, change, mend) => {
      let before: KeyRecord | undefined
      let after: KeyRecord | undefined
      const changed = (found: KeyRecord): KeyRecord => {
        before = found
        after = change(found)
        return after
      }
      // An unreadable record has no summary.
      const mended = mend && ((skipped: SkippedKey) => (after = mend(skipped)))
      return tell(store.update(id, changed, mended), () =>
        after === undefined
          ? undefined
          : { key: id, before: before && summarizeKey(before), after: summarizeKey(after) },
      )
    },
  }
}

function unknownChange(error: IpriskError, key: string): IpriskError {
  if (key === '') return error
  const { code, fault } = error
  const message =
    `${error.message} The key is ${key}: if it has a new secret that was not shown, rotate it ` +
    'again or revoke it.'
  return new IpriskError({ code, message, fault })
}
