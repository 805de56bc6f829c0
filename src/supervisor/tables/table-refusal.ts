// Why a table was refused, in one word of a few that never change: for the metric, /status and alerts.
// What is wrong with it in words is the message of what was thrown; no word here is read out of one.

import { messageOf } from '../../base/coded-error.ts'

/** Every word, each a label of the metric from the start. */
export const tableRefusalCodes = [
  /** There is no file. */
  'missing',
  /** There is one that cannot be opened, is empty, or is no regular file. */
  'unreadable',
  /** A checksum, a length or an id in it does not hold. */
  'damaged',
  /** Its format is another program's. */
  'version',
  /** It misjudges an address whose answer everybody knows. */
  'canary',
  /** It judges too much otherwise than the one in use. */
  'changed',
  /** There is no room for its copy, or the disk fails. */
  'disk',
  /** A worker could not open it, or was answered otherwise than where it was verified. */
  'worker',
  'other',
] as const
export type TableRefusalCode = (typeof tableRefusalCodes)[number]

export interface TableRefusal {
  readonly code: TableRefusalCode
  readonly reason: string
}

/** Of the codes of what is thrown on the way, ours and the system's. */
const codes: ReadonlyMap<unknown, TableRefusalCode> = new Map<string, TableRefusalCode>([
  ['file_unreadable', 'unreadable'],
  ['EACCES', 'unreadable'],
  ['EPERM', 'unreadable'],
  ['table_corrupt', 'damaged'],
  ['table_version', 'version'],
  ['table_canary', 'canary'],
  ['table_changed', 'changed'],
  ['ENOSPC', 'disk'],
  ['EDQUOT', 'disk'],
  ['EIO', 'disk'],
  ['EROFS', 'disk'],
  ['swap_failed', 'worker'],
])

/** Of anything that was thrown, or of the nearest of its causes that has a code from above. */
export function tableRefusalOf(thrown: unknown): TableRefusal {
  let code: TableRefusalCode | undefined
  for (let cause = thrown; cause instanceof Error && code === undefined; cause = cause.cause) {
    code = codes.get((cause as NodeJS.ErrnoException).code)
  }
  return { code: code ?? 'other', reason: messageOf(thrown) }
}
