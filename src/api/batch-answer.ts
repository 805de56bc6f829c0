// The wire form of a batch (contract 3.16): many addresses in one request, answered in order, each
// as a check answers it or with an error of its own.

import type { CheckAnswer } from './check-answer.ts'

export interface BatchError {
  /** The element as sent; its JSON where it is no string. */
  readonly ip: string
  readonly error: { readonly code: 'invalid_input'; readonly message: string }
}

export interface BatchAnswer {
  readonly results: readonly (CheckAnswer | BatchError)[]
}

/** At least one. */
export const batchAddressesMax = 10_000

/** The largest body of a batch, bytes. */
export const batchBodyBytesMax = 1_048_576

/** A batch spends rate by one request for so many addresses, or the beginning of so many. */
export const addressesPerRequest = 100
