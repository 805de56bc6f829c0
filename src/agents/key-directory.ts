// A directory of keys (Web Bot Auth; a JWK Set, RFC 7517): its text to the Ed25519 keys in it, each
// under its thumbprint (RFC 7638, RFC 8037), which is computed and not read. Other keys are skipped.

import { createHash } from 'node:crypto'
import { isJsonObject, parseJson } from '../base/json-object.ts'

/** Plain data: it goes to disk and to the workers. */
export interface DirectoryKey {
  readonly keyid: string
  /** Base64url, as in a JWK. */
  readonly x: string
}

export interface KeyDirectory {
  readonly url: string
  readonly keys: readonly DirectoryKey[]
}

export const keysMax = 64

/** Their private halves are printed in RFC 9421 (B.1.4) and RFC 8037 (A.1). */
const printedKeyids = new Set([
  'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U',
  'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
])

/** `undefined` for what is no JWK Set of at most `keysMax` keys. */
export function parseKeyDirectory(
  text: string,
  nowSeconds: number,
): readonly DirectoryKey[] | undefined {
  const set = parseJson(text)
  const keys = isJsonObject(set) ? set['keys'] : undefined
  if (!Array.isArray(keys) || keys.length > keysMax) return undefined
  return keys.filter(isJsonObject).flatMap((jwk) => {
    const { kty, crv, x, use = 'sig', exp = Infinity } = jwk
    if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string' || use !== 'sig') return []
    if (!isKeyText(x) || typeof exp !== 'number' || exp <= nowSeconds) return []
    const keyid = thumbprint(x)
    return printedKeyids.has(keyid) ? [] : [{ keyid, x }]
  })
}

export function thumbprint(x: string): string {
  const members = `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`
  return createHash('sha256').update(members).digest('base64url')
}

function isKeyText(x: string): boolean {
  const bytes = Buffer.from(x, 'base64url')
  return bytes.length === 32 && bytes.toString('base64url') === x
}
