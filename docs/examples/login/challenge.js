// The step-up: ALTCHA, a proof of work that the browser computes and that no other host sees. Its
// verification asks iprisk about the address once more, and carries the insights where the key's plan
// has them (enterprise): what stood behind the score is then beside the attempt, for your support.

import { randomBytes } from 'node:crypto'
import { CappedMap, create, randomInt } from 'altcha-lib/frameworks/hono'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'

/** @import { Insights } from 'iprisk-client' */
/** @import { Said } from './pages.js' */

// One secret for all processes of your application: take it from where your secrets are.
const secret = process.env['ALTCHA_SECRET'] ?? randomBytes(32).toString('hex')
const keySecret = `${secret}-key`
/** A solution counts once. More than one machine: a store that all of them share. */
const used = new CappedMap({ maxSize: 10_000 })

const altcha = create({
  deriveKey,
  hmacSignatureSecret: secret,
  hmacKeySignatureSecret: keySecret,
  createChallengeParameters: () => ({
    algorithm: 'PBKDF2/SHA-256',
    // About a second of work for a telephone.
    cost: 5000,
    counter: randomInt(600, 300),
    expiresAt: Math.floor(Date.now() / 1000) + 300,
  }),
})

export const newChallenge = altcha.challengeHandler

/**
 * @param {Pick<import('iprisk-client').Client, 'check'>} client
 * @param {{ readonly solution: string, readonly address: string, readonly policy: string }} asked
 * @returns {Promise<
 *   | { readonly success: false, readonly error: string }
 *   | { readonly success: true, readonly said: Said, readonly insights: Insights | null }
 * >}
 */
export async function verifyChallenge(client, { solution, address, policy }) {
  const { error } = await altcha.verify(solution, deriveKey, secret, keySecret, used)
  if (error !== null) return { success: false, error }
  const result = await client.check(address, { policy, insights: true })
  const action = result.ok ? (result.decision?.action ?? 'allow') : result.fallback
  const insights = result.ok ? (result.answer.insights ?? null) : null
  return { success: true, said: { action, address, result }, insights }
}
