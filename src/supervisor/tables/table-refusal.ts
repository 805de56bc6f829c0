// Why a table was refused, as one of a few codes that never change: for the metric, /status and
// alerts. The reason in words is the message of what was thrown; the code is never derived from
// that text.

import type { constants } from 'node:os'
import { messageOf } from '../../base/coded-error.ts'
import type { ErrorCode } from '../../base/error-codes.ts'

/** Every code; the metric has a label for each from the start. */
export const tableRefusalCodes = [
  /** There is no file. */
  'missing',
  /** The file cannot be opened, is empty, or is no regular file. */
  'unreadable',
  /** A checksum, a length or an id in it does not hold. */
  'damaged',
  /** Its format belongs to another version of the program. */
  'version',
  /** It misjudges a canary. */
  'canary',
  /** It judges too many addresses differently from the table in use. */
  'changed',
  /** It would decide too many of the checks otherwise that the server has sampled. */
  'traffic',
  /** There is no room for its copy, or the disk fails. */
  'disk',
  /** A worker could not open it, or got other answers than the verifying process. */
  'worker',
  'other',
] as const
export type TableRefusalCode = (typeof tableRefusalCodes)[number]

/** What the table is, and not what was short when it came: the same file is refused again. */
const lasting: ReadonlySet<TableRefusalCode> = new Set([
  'damaged',
  'version',
  'canary',
  'changed',
  'traffic',
])

export function isLasting(code: TableRefusalCode): boolean {
  return lasting.has(code)
}

export interface TableRefusal {
  readonly code: TableRefusalCode
  readonly reason: string
}

/** By the code of what was thrown, ours or the system's. */
const codes: ReadonlyMap<unknown, TableRefusalCode> = new Map<
  ErrorCode | keyof typeof constants.errno,
  TableRefusalCode
>([
  ['file_unreadable', 'unreadable'],
  ['EACCES', 'unreadable'],
  ['EPERM', 'unreadable'],
  ['table_corrupt', 'damaged'],
  ['table_version', 'version'],
  ['table_canary', 'canary'],
  ['table_changed', 'changed'],
  ['table_traffic', 'traffic'],
  ['ENOSPC', 'disk'],
  ['EDQUOT', 'disk'],
  ['EIO', 'disk'],
  ['EROFS', 'disk'],
  ['swap_failed', 'worker'],
])

/** The refusal for anything thrown: by its own code or that of its nearest cause that is known. */
export function tableRefusalOf(thrown: unknown): TableRefusal {
  let code: TableRefusalCode | undefined
  for (let cause = thrown; cause instanceof Error && code === undefined; cause = cause.cause) {
    code = codes.get((cause as NodeJS.ErrnoException).code)
  }
  return { code: code ?? 'other', reason: messageOf(thrown) }
}
