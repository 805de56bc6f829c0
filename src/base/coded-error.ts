// Coded errors: a stable code; the message says what went wrong, where, and what to do. Not for the
// hot path: absence there is `undefined` or an index of -1, never an exception.

import { constants } from 'node:os'
import type { ErrorCode } from './error-codes.ts'

/** Whose fault a failure is, and so who can mend it. */
export type Fault = 'usage' | 'input' | 'environment' | 'bug'

interface ErrorDetails {
  /** Lines below the message: one for each problem. */
  readonly details?: readonly string[]
  readonly retryable?: boolean
  readonly cause?: unknown
}

/** A failure with a stable code. `retryable` says whether the same call can succeed later. */
export class IpriskError extends Error {
  override readonly name = 'IpriskError'
  readonly code: ErrorCode
  readonly fault: Fault
  readonly retryable: boolean
  /**
   * Any line of the message may quote foreign text, line breaks too; `lines` tells ours from those.
   */
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

export function environmentError(code: ErrorCode, message: string, details?: ErrorDetails) {
  return new IpriskError({ code, message, fault: 'environment', ...details })
}

export function inputError(code: ErrorCode, message: string, details?: ErrorDetails): IpriskError {
  return new IpriskError({ code, message, fault: 'input', ...details })
}

export function usageError(message: string, details: readonly string[] = []): IpriskError {
  return new IpriskError({ code: 'usage', message, details, fault: 'usage' })
}

/**
 * The message of `feeds_unreachable` begins so: a server that runs the build tells by it a missing
 * network, which is cheap to retry, from a failure that has cost a whole build.
 */
export const feedsUnreachable = 'Not one feed could be fetched'

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

const diskErrors = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS', 'EACCES'] as const

/** By name, as Node says it, and by number, as LMDB does. */
const diskErrorCodes: ReadonlySet<unknown> = new Set(
  diskErrors.flatMap((name) => [name, constants.errno[name]]),
)

/** These fail only where a disk does, whatever they say: a full one makes mkdir say ENOENT. */
const diskCalls: ReadonlySet<string> = new Set(['fsync', 'fdatasync', 'mkdir'])

/** Can show at any call; it is no bug. */
export function isDiskError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as NodeJS.ErrnoException
  return diskErrorCodes.has(code) || diskCalls.has(syscall ?? '')
}
