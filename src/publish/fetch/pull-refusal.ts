// Why a published table was refused, as stable codes for the metric, /status and alerts. The table
// manager has its own codes (src/supervisor/tables/table-refusal.ts).

import { type IpriskError, messageOf, environmentError } from '../../base/coded-error.ts'

export const pullRefusalCodes = [
  /** No answer, or the connection broke. */
  'unreachable',
  'status',
  /** A time limit. */
  'slow',
  /** Not the stated size, or over a limit. */
  'size',
  'redirect',
  /** The manifest is invalid or has another form. */
  'manifest',
  /** No trusted key signed the manifest. */
  'signature',
  /** The manifest names another place, or none although an earlier one did. */
  'place',
  /** The manifest is older than one seen before. */
  'replay',
  /** The manifest's serial is more than a day ahead of the clock. */
  'future',
  /** Its table is older than the one in use, which was not withdrawn. */
  'older',
  /** It has no table in a format that this program reads. */
  'format',
  /** An index or a part does not match its hash, or the index is invalid. */
  'part',
  'table',
  /** Refused by the trials. */
  'unfit',
  'disk',
  'other',
] as const
export type PullRefusalCode = (typeof pullRefusalCodes)[number]

export interface PullRefusal {
  readonly code: PullRefusalCode
  readonly reason: string
}

export const pullError = (code: PullRefusalCode, message: string, cause?: unknown): IpriskError =>
  environmentError(`pull_${code}`, message, { cause })

const known: ReadonlySet<string> = new Set(pullRefusalCodes)

export function pullRefusalOf(thrown: unknown): PullRefusal {
  const reason = messageOf(thrown)
  const { code = '' } = thrown as NodeJS.ErrnoException
  const own = code.startsWith('pull_') ? code.slice('pull_'.length) : ''
  if (known.has(own)) return { code: own as PullRefusalCode, reason }
  const isDisk = ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'ENOENT'].includes(code)
  return { code: isDisk ? 'disk' : 'other', reason }
}
