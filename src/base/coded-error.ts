// Coded errors: a stable code; the message says what went wrong, where, and what to do. Never on
// the hot path.

import { constants } from 'node:os'
import type { ErrorCode } from './error-codes.ts'

/** Whose fault a failure is. */
export type Fault = 'usage' | 'input' | 'environment' | 'bug'

interface ErrorDetails {
  /** Lines below the message, one per problem. */
  readonly details?: readonly string[]
  readonly retryable?: boolean
  readonly cause?: unknown
}

/** `retryable`: the same call may succeed later. */
export class IpriskError extends Error {
  override readonly name = 'IpriskError'
  readonly code: ErrorCode
  readonly fault: Fault
  readonly retryable: boolean
  /** The message may quote foreign line breaks; `lines` has ours. */
  readonly lines: readonly string[]

  constructor(
    options: ErrorDetails & {
      readonly code: ErrorCode
      readonly message: string
      readonly fault: Fault
    },
  ) {
    const lines = [options.message, ...(options.details ?? [])]
    super(lines.join('\n'), options.cause === undefined ? undefined : { cause: options.cause })
    this.lines = lines
    this.code = options.code
    this.fault = options.fault
    this.retryable = options.retryable ?? false
  }
}

export const environmentError = (code: ErrorCode, message: string, details?: ErrorDetails) =>
  new IpriskError({ code, message, fault: 'environment', ...details })

export const inputError = (code: ErrorCode, message: string, details?: ErrorDetails): IpriskError =>
  new IpriskError({ code, message, fault: 'input', ...details })

export const usageError = (message: string, details: readonly string[] = []): IpriskError =>
  new IpriskError({ code: 'usage', message, details, fault: 'usage' })

/**
 * Prefix of `feeds_unreachable`, by which a server recognises a missing network, which is cheap to
 * retry.
 */
export const feedsUnreachable = 'No feed could be fetched'

export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown)

const diskErrors = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS', 'EACCES'] as const

/** By name, as in Node, and by number, as in LMDB. */
const diskErrorCodes: ReadonlySet<unknown> = new Set(
  diskErrors.flatMap((name) => [name, constants.errno[name]]),
)

/** These fail only with a disk, whatever the code: a full disk makes mkdir report ENOENT. */
const diskCalls: ReadonlySet<string> = new Set(['fsync', 'fdatasync', 'mkdir'])

/** May come from any call, and is not a bug. */
export function isDiskError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as NodeJS.ErrnoException
  return diskErrorCodes.has(code) || diskCalls.has(syscall ?? '')
}
