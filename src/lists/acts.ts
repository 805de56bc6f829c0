// Acts on own lists, from the command line or the admin port: the same checks, messages and records
// in the audit log. change-lists.ts changes the store.

import type { IpriskError } from '../base/coded-error.ts'
import { fewLines, joinFew, moreText } from '../base/text/shortened-list.ts'
import { bogonRanges } from '../ip/special-purpose.ts'
import * as change from './change-lists.ts'
import {
  formatEntryKey,
  isWide,
  listError,
  noteFault,
  parseEntryKey,
  rangeOfKey,
} from './list-entry.ts'
import { actEntriesMax, widestPrefix } from './list-limits.ts'
import type { ListEffect } from '../model/kind.ts'
import type { ListStore } from './list-store.ts'
import { type ListAuditChange, withAuditedChanges } from '../audit/audit-log.ts'

export type ListRequest =
  | { readonly act: 'create'; readonly list: string; readonly effect: ListEffect }
  | { readonly act: 'delete'; readonly list: string }
  | {
      readonly act: 'add'
      readonly list: string
      readonly entries: readonly string[]
      /** Absent: permanent. */
      readonly forMs?: number | undefined
      readonly note?: string | undefined
      readonly force: boolean
    }
  | { readonly act: 'remove'; readonly list: string; readonly entries: readonly string[] }
  | (change.ListImport & { readonly act: 'import'; readonly list: string })
  /** Absent: the newest act of any list. */
  | { readonly act: 'undo'; readonly list?: string | undefined }

export interface ListActor {
  readonly state: string
  readonly store: ListStore
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Absent: the command line. */
  readonly via?: string
  readonly onUnwritten: (error: IpriskError) => void
}

export interface ListResult extends change.ListChange {
  /** Warnings about what the caller may not intend, a sentence each. */
  readonly cautions: readonly string[]
}

/** Entries of an act, with their total number. */
const entriesAudited = 100

const faultsShown = 10

/** Throws what is wrong with the request before anything is recorded or done. */
export async function actOnLists(actor: ListActor, request: ListRequest): Promise<ListResult> {
  const checked = checkListRequest(actor, request)
  const { state, store, now, via, onUnwritten } = actor
  const { act, list } = request
  const texts = checked.keys.slice(0, entriesAudited).map((key) => formatEntryKey(key))
  const done = await withAuditedChanges(
    {
      state,
      act: `lists ${act}`,
      member: 'list_changes',
      keys: [],
      via,
      list,
      entries: texts.length === 0 ? undefined : texts,
      entry_count: texts.length === 0 ? undefined : checked.keys.length,
      onUnwritten,
    },
    async (changes) => {
      const changed = await checked.run({ store, now })
      changes.push(auditChange(changed))
      return changed
    },
  )
  return { ...done, cautions: [...cautionsOf(checked.keys), ...expiredCautions(request, now)] }
}

interface CheckedRequest {
  readonly keys: readonly string[]
  readonly run: (moment: Pick<ListActor, 'store' | 'now'>) => Promise<change.ListChange>
}

export function checkListRequest(
  { now }: Pick<ListActor, 'now'>,
  request: ListRequest,
): CheckedRequest {
  switch (request.act) {
    case 'create': {
      const { list: name, effect } = request
      change.checkListName(name)
      return { keys: [], run: (moment) => change.createList(moment, { name, effect }) }
    }
    case 'delete':
      return { keys: [], run: (moment) => change.deleteList(moment, request.list) }
    case 'undo':
      return { keys: [], run: (moment) => change.undoAct(moment, request.list) }
    case 'remove': {
      const keys = parseKeys(request.entries)
      return { keys, run: (moment) => change.removeEntries(moment, request.list, keys) }
    }
    case 'add': {
      const { list, note = '', forMs } = request
      const keys = parseKeys(request.entries)
      const fault = noteFault(note)
      if (fault !== undefined) throw listError('list_note', `Nothing was added: ${fault}.`)
      refuseWide(keys, request.force)
      const added = change.secondsOf(now)
      // Rounded up: never shorter than requested.
      const expires = forMs === undefined ? 0 : Math.ceil((now + forMs) / 1000)
      const entries = keys.map((key) => ({ key, expires, added, note }))
      return { keys, run: (moment) => change.addEntries(moment, list, entries) }
    }
    case 'import': {
      const { list, ...asked } = request
      const keys = asked.entries.map(({ key }) => key)
      refuseWide(keys, asked.force)
      return { keys, run: (moment) => change.importEntries(moment, list, asked) }
    }
    default:
      return request satisfies never
  }
}

/** Throws `list_entry` with all invalid ones. */
function parseKeys(texts: readonly string[]): readonly string[] {
  if (texts.length === 0) throw listError('list_entry', 'There are no entries.')
  if (texts.length > actEntriesMax) {
    const message = `There are ${texts.length} entries, but at most ${actEntriesMax} are allowed at once.`
    throw listError('list_entry', `${message} "iprisk lists import" accepts files of any length.`)
  }
  const faults: string[] = []
  const keys = texts.flatMap((text) => {
    const key = parseEntryKey(text)
    if (typeof key === 'string') return [key]
    faults.push(`  ${JSON.stringify(text.slice(0, 80))}: ${key.fault}`)
    return []
  })
  if (faults.length > 0)
    throw listError('list_entry', 'Nothing was changed:', fewLines(faults, faultsShown))
  return keys
}

function refuseWide(keys: readonly string[], force: boolean): void {
  const wide = force ? [] : keys.filter((key) => isWide(key))
  if (wide.length === 0) return
  const limit = `wider than /${widestPrefix[4]} (IPv6: /${widestPrefix[6]})`
  const shown = wide.slice(0, faultsShown).map((key) => `  ${formatEntryKey(key)}`)
  const message = `Nothing was changed; entries ${limit} need --force:`
  throw listError('list_wide', message, fewLines(shown, faultsShown, '  ', wide.length))
}

/** Bogons stay bogons (contract 5.3: own lists), so such an entry has no effect. */
function cautionsOf(keys: readonly string[]): readonly string[] {
  const vain = keys.slice(0, actEntriesMax).filter((key) => {
    if (key.startsWith('a')) return false
    const { family, first, last } = rangeOfKey(key)
    return bogonRanges(family).some((one) => one.first <= first && last <= one.last)
  })
  if (vain.length === 0) return []
  const shown = joinFew(vain.slice(0, 3).map(formatEntryKey), 3, { total: vain.length })
  const among = keys.length > actEntriesMax ? ` (among the first ${actEntriesMax})` : ''
  return [
    `${shown}${among}: bogons, which do not occur on the public Internet; no list affects them`,
  ]
}

/** Only an old file can have expired entries. */
function expiredCautions(request: ListRequest, nowMs: number): readonly string[] {
  if (request.act !== 'import') return []
  const ended = request.entries.filter(({ expires }) => expires !== 0 && expires * 1000 <= nowMs)
  const [first] = ended
  if (first === undefined) return []
  const named = `${formatEntryKey(first.key)} ${moreText(ended.length - 1)}`.trimEnd()
  return [`${named}: already expired, so it will never match`]
}

function auditChange({ list, before, after, ...counts }: change.ListChange): ListAuditChange {
  const summary = (of: change.ListChange['before']) =>
    of === undefined ? null : { effect: of.effect, entries: of.entries }
  const { added, changed, removed } = counts
  return { list, before: summary(before), after: summary(after), added, changed, removed }
}
