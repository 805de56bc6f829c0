// Verifies signed requests with the keys of the directories that count. Ed25519 runs in libuv's
// threads, never on the loop.
//
// Invariants: `verify` calls back once, within `waitMsMax`; what cannot be done in time, or beyond
// `perSecondMax`, is `unknown`. A key counts for its own directory alone: by `keyid` alone, one
// directory could speak for another.

import { type KeyObject, createPublicKey, verify } from 'node:crypto'
import type { Settings } from '../config/settings.ts'
import type { KeyDirectory } from './key-directory.ts'
import { type ClaimedSignature, directoryUrl } from './web-bot-auth.ts'

/** What a check's signatures say; `by` is set once they are judged. */
export interface SignedClaim {
  readonly authority: string
  readonly signatures: readonly ClaimedSignature[]
  /** The URL of the directory whose key holds; `''`: none does. */
  by?: string | undefined
}

/** A worker's; 0.15 ms each: 3 % of a core, however many requests say that they are signed. */
export const perSecondMax = 200
/** A check waits no longer; libuv's threads may be busy with files. */
const waitMsMax = 50

export type SignatureVerifier = ReturnType<typeof createSignatureVerifier>

export function createSignatureVerifier(
  { directories, authorities }: Settings['agents'] = { directories: [], authorities: [] },
  { nowMs = Date.now, waitMs = waitMsMax } = {},
) {
  const allowed = new Set(directories.map(directoryUrl))
  let fetched = new Set<string>()
  let keyOf = new Map<string, KeyObject>()
  const spent = { second: 0, count: 0 }
  const spend = (): boolean => {
    const second = Math.floor(nowMs() / 1000)
    if (second !== spent.second) Object.assign(spent, { second, count: 0 })
    return ++spent.count <= perSecondMax
  }
  const judge = async ({ directory, keyid, base, signature }: ClaimedSignature) => {
    const key = keyOf.get(`${directory} ${keyid}`)
    if (key === undefined) return fetched.has(directory) ? '' : undefined
    if (!spend()) return undefined
    const bytes = Buffer.from(signature, 'base64')
    return new Promise<string>((resolve) => {
      verify(null, Buffer.from(base), key, bytes, (error, holds) =>
        resolve(!error && holds ? directory : ''),
      )
    })
  }
  return {
    use: (all: readonly KeyDirectory[]): void => {
      fetched = new Set(all.map(({ url }) => url))
      keyOf = new Map()
      for (const { url, keys } of all) {
        for (const { keyid, x } of keys) {
          const key = { kty: 'OKP', crv: 'Ed25519', x }
          keyOf.set(`${url} ${keyid}`, createPublicKey({ key, format: 'jwk' }))
        }
      }
    },
    /** Sets `by` of each; it stays unset where it is unknown. */
    verify: async (claims: readonly SignedClaim[]): Promise<void> => {
      const late = new Promise<void>((resolve) => setTimeout(resolve, waitMs).unref())
      const judged = claims.map(async (claim) => {
        const isOurs = authorities.includes(claim.authority)
        const counting = claim.signatures.filter(({ directory }) => allowed.has(directory))
        const results = await Promise.all(isOurs ? counting.map(judge) : [])
        claim.by = results.find(Boolean) ?? (results.includes(undefined) ? undefined : '')
      })
      await Promise.race([late, Promise.all(judged)])
    },
  }
}
