// Entries as text: a line as `lists export NAME` writes it, or the members of a JSON line. Their
// reader is src/lists/import.

import { formatEntryKey, type ListEntry } from './list-entry.ts'

/** `2026-12-01T00:00:00Z`. */
export function formatExpiry(expires: number): string {
  return new Date(expires * 1000).toISOString().replace('.000Z', 'Z')
}

export function entryJson({ key, expires, added, note }: ListEntry): {
  readonly entry: string
  readonly added: string
  readonly expires?: string
  readonly note?: string
} {
  return {
    entry: formatEntryKey(key),
    added: formatExpiry(added),
    ...(expires === 0 ? {} : { expires: formatExpiry(expires) }),
    ...(note === '' ? {} : { note }),
  }
}

export function entryLine(entry: ListEntry): string {
  const { entry: text, expires, note } = entryJson(entry)
  const until = expires === undefined ? '' : ` ${expires}`
  return `${text}${until}${note === undefined ? '' : ` # ${note}`}`
}
