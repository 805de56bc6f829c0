// A batch: each address gets a result of its own, in order, as if it had been checked alone. More
// than one request takes are several requests, one after the other; what fails fails for its
// addresses.

import { addressGroups } from '../address/address-text.ts'
import { batchAddressesMax, batchPath } from '../generated/wire-types.ts'
import type { BatchOptions, CheckResult, Client } from './check-result.ts'
import { type ClientParts, answerIn, noAnswer, notAnAddress, unexpected } from './client-parts.ts'
import type { Observe } from './open-telemetry.ts'

export function createCheckBatch(parts: ClientParts, observe: Observe): Client['checkBatch'] {
  const { ask, checked, unchecked, settings } = parts

  async function checkSome(
    ips: readonly string[],
    { signal, policy }: BatchOptions,
  ): Promise<readonly CheckResult[]> {
    const meaning = await ask({
      path: batchPath,
      body: policy === undefined ? { ips } : { ips, policy },
      timeoutMs: settings.batchTimeoutMs,
      signal,
      isHeavy: true,
    })
    if (meaning.kind === 'failure') return ips.map(() => unchecked(meaning.failure))
    const { results } = meaning.body
    const rows: readonly unknown[] = Array.isArray(results) ? results : []
    return ips.map((ip, at) => {
      const answer = answerIn(rows[at])
      if (answer !== undefined) return checked(answer, policy)
      return unchecked(addressGroups(ip) === undefined ? notAnAddress : noAnswer)
    })
  }

  return async (given: readonly string[], options = {}) => {
    const end = observe('batch')
    const results: CheckResult[] = []
    // Callers without types come here, too.
    const all = Array.isArray(given) ? given : []
    while (results.length < all.length) {
      const some = all.slice(results.length, results.length + batchAddressesMax)
      try {
        results.push(...(await checkSome(some, options)))
      } catch (cause) {
        results.push(...some.map(() => unchecked(unexpected(cause))))
      }
    }
    end(results.every(({ ok }) => ok) ? 'ok' : 'partly')
    return results
  }
}
