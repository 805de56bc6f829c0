// Why a table was refused, as a stable code for the metric, /status and alerts.

import type { constants } from 'node:os'
import { messageOf } from '../../base/coded-error.ts'
import type { ErrorCode } from '../../base/error-codes.ts'

export const tableRefusalCodes = [
  'missing',
  'unreadable',
  'damaged',
  /** From another version of the program. */
  'version',
  'canary',
  /** It judges too many addresses differently from the table in use. */
  'changed',
  /** It would decide too many sampled checks differently. */
  'traffic',
  /** No room for its copy, or a failing disk. */
  'disk',
  /** A worker could not open it, or got other answers. */
  'worker',
  'other',
] as const
export type TableRefusalCode = (typeof tableRefusalCodes)[number]

/** For these, the same file would be refused again. */
export const lastingRefusals: ReadonlySet<TableRefusalCode> = new Set([
  'damaged',
  'version',
  'canary',
  'changed',
  'traffic',
])

export interface TableRefusal {
  readonly code: TableRefusalCode
  readonly reason: string
}

/** Our codes or the system's. */
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

/** Derived from the code of the error, or of its nearest known cause. */
export function tableRefusalOf(thrown: unknown): TableRefusal {
  let code: TableRefusalCode | undefined
  for (let cause = thrown; cause instanceof Error && code === undefined; cause = cause.cause) {
    code = codes.get((cause as NodeJS.ErrnoException).code)
  }
  return { code: code ?? 'other', reason: messageOf(thrown) }
}
