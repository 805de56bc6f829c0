// Verifies signed requests with the keys of the directories that count. Ed25519 runs in libuv's
// threads, never on the loop.
//
// Invariants: `verify` calls back exactly once, within `waitMsMax`, and never throws; whatever it
// cannot do in time, or beyond `perSecondMax`, is `unknown`. A key counts for its own directory
// alone: by `keyid` alone, one directory could speak for another.

import { type KeyObject, createPublicKey, verify } from 'node:crypto'
import type { SignedBy } from './agent-status.ts'
import type { KeyDirectory } from './key-directory.ts'
import { type ClaimedSignature, directoryUrl } from './web-bot-auth.ts'

/** Plain data: the primary sends it to its workers. Hosts in lower case. */
export interface AgentSettings {
  /** Whose directories count. */
  readonly directories: readonly string[]
  /** The operator's own: a signature over another authority can be replayed here. */
  readonly authorities: readonly string[]
}

/** What of a check's agent is to be verified. */
export interface SignedClaim {
  readonly authority: string
  readonly signatures: readonly ClaimedSignature[]
}

/** A worker's; 0.15 ms each: 3 % of a core, however many requests say they are signed. */
export const perSecondMax = 200

/** A check waits no longer; libuv's threads may be busy with files. */
const waitMsMax = 50

export type SignatureVerifier = ReturnType<typeof createSignatureVerifier>

export function createSignatureVerifier(
  { directories, authorities }: AgentSettings,
  { nowMs = Date.now, waitMs = waitMsMax } = {},
) {
  const allowed = new Set(directories.map(directoryUrl))
  let keysOf = new Map<string, ReadonlyMap<string, KeyObject>>()
  let window = 0
  let spent = 0
  const spend = (): boolean => {
    const second = Math.floor(nowMs() / 1000)
    if (second !== window) spent = 0
    window = second
    spent += 1
    return spent <= perSecondMax
  }
  return {
    use: (fetched: readonly KeyDirectory[]): void => {
      keysOf = new Map(
        fetched.map(({ url, keys }) => [
          url,
          new Map(keys.map(({ keyid, x }) => [keyid, publicKey(x)])),
        ]),
      )
    },
    verify: ({ authority, signatures }: SignedClaim, done: (by: SignedBy) => void): void => {
      const counting = authorities.includes(authority)
        ? signatures.filter(({ directory }) => allowed.has(directory))
        : []
      let open = counting.length
      let otherwise: SignedBy = 'nobody'
      let isDone = false
      const end = (by: SignedBy): void => {
        if (isDone) return
        isDone = true
        clearTimeout(timer)
        done(by)
      }
      const timer = setTimeout(end, waitMs, 'unknown')
      const settle = (by: SignedBy): void => {
        open -= 1
        if (by === 'unknown') otherwise = 'unknown'
        if (typeof by !== 'string') end(by)
        else if (open <= 0) end(otherwise)
      }
      if (open === 0) end('nobody')
      for (const { directory, keyid, base, signature } of counting) {
        const keys = keysOf.get(directory)
        const key = keys?.get(keyid)
        if (key === undefined) settle(keys === undefined ? 'unknown' : 'nobody')
        else if (!spend()) settle('unknown')
        else {
          verify(null, Buffer.from(base), key, signature, (error, holds) =>
            settle(!error && holds ? { directory } : 'nobody'),
          )
        }
      }
    },
  }
}

function publicKey(x: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
}
