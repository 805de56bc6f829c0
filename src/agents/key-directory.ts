// A directory of keys (Web Bot Auth; a JWK Set, RFC 7517): its text to the Ed25519 keys in it, each
// under its thumbprint (RFC 7638, RFC 8037), which is computed and not read. Other keys are skipped.

import { createHash } from 'node:crypto'
import { isJsonObject, parseJson } from '../base/json-object.ts'

export interface KeyDirectory {
  readonly url: string
  /** `x` is base64url, as in a JWK. */
  readonly keys: readonly { readonly keyid: string; readonly x: string }[]
}

const keysMax = 64

/** Their private halves are printed in RFC 9421 (B.1.4) and RFC 8037 (A.1). */
const printedKeyids = new Set([
  'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U',
  'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
])

/** Throws if it is not a JWK Set of at most `keysMax` keys. */
export function parseKeyDirectory(text: string, nowSeconds: number): KeyDirectory['keys'] {
  const set = parseJson(text)
  const keys = isJsonObject(set) ? set['keys'] : undefined
  if (!Array.isArray(keys) || keys.length > keysMax)
    throw new Error(`it is not a JWK Set of at most ${keysMax} keys`)
  return keys.filter(isJsonObject).flatMap(({ kty, crv, x, use = 'sig', exp = Infinity }) => {
    const isKey = kty === 'OKP' && crv === 'Ed25519' && use === 'sig' && Number(exp) > nowSeconds
    return (isKey && signingKey(x)) || []
  })
}

/** `undefined` for what is not 32 bytes as base64url, or a key that is printed in an RFC. */
export function signingKey(x: unknown): KeyDirectory['keys'][number] | undefined {
  if (typeof x !== 'string' || !/^[\w-]{43}$/.test(x)) return undefined
  const keyid = thumbprint(x)
  return printedKeyids.has(keyid) ? undefined : { keyid, x }
}

export function thumbprint(x: string): string {
  const members = `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`
  return createHash('sha256').update(members).digest('base64url')
}
