// Why a published table was not taken, as a stable code: for the metric, /status and alerts. What
// the table manager refuses has codes of its own (src/supervisor/tables/table-refusal.ts).

import { type IpriskError, messageOf, environmentError } from '../../base/coded-error.ts'

export const pullRefusalCodes = [
  /** Nobody answers at the address, or the connection broke. */
  'unreachable',
  'status',
  /** It took longer than it may, or stood still. */
  'slow',
  /** Other than stated, or more than allowed. */
  'size',
  'redirect',
  /** The manifest is none, or of another form. */
  'manifest',
  /** No trusted key has signed the manifest. */
  'signature',
  /** The manifest is of another place, or of none although one was named before. */
  'place',
  /** The manifest is older than one that was seen before. */
  'replay',
  /** The manifest's serial is more than a day ahead of the clock. */
  'future',
  /** Its table is older than the one in use, and nobody has withdrawn that. */
  'older',
  /** It has no table of a format that this program reads. */
  'format',
  /** An index or a part is not what its hash says, or the index is none. */
  'part',
  'table',
  /** Its trials refused it. */
  'unfit',
  'disk',
  'other',
] as const
export type PullRefusalCode = (typeof pullRefusalCodes)[number]

export interface PullRefusal {
  readonly code: PullRefusalCode
  readonly reason: string
}

export function pullError(code: PullRefusalCode, message: string, cause?: unknown): IpriskError {
  return environmentError(`pull_${code}`, message, { cause })
}

const known: ReadonlySet<string> = new Set(pullRefusalCodes)

export function pullRefusalOf(thrown: unknown): PullRefusal {
  const reason = messageOf(thrown)
  const { code = '' } = thrown as NodeJS.ErrnoException
  const own = code.startsWith('pull_') ? code.slice('pull_'.length) : ''
  if (known.has(own)) return { code: own as PullRefusalCode, reason }
  const isDisk = ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'ENOENT'].includes(code)
  return { code: isDisk ? 'disk' : 'other', reason }
}
