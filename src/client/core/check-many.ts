// A batch: each address gets a result of its own, in order, as if it had been checked alone; what is
// no address is not sent. More than one request takes are several requests, one after the other,
// within the time of one batch; what fails fails for its addresses, and is told once.

import { addressGroups } from '../address/address-text.ts'
import { batchAddressesMax, batchPath } from '../generated/wire-types.ts'
import type { BatchOptions, CheckResult, Client } from './check-result.ts'
import { type ClientParts, answerIn, noAnswer, notAnAddress, unexpected } from './client-parts.ts'
import { monotonicMs } from './monotonic-clock.ts'
import type { Observe } from './open-telemetry.ts'
import type { ClientFailure } from './outcome-report.ts'

interface Part {
  readonly ips: readonly string[]
  readonly options: BatchOptions
  readonly timeoutMs: number
  /** Of the whole batch. */
  readonly told: Set<ClientFailure>
}

export function createCheckBatch(parts: ClientParts, observe: Observe): Client['checkBatch'] {
  const { ask, checked, unchecked, report } = parts
  const { batchTimeoutMs } = parts.settings
  const outOfTime: ClientFailure = {
    reason: 'timeout',
    message: `Not all of the batch within ${batchTimeoutMs} ms.`,
  }

  async function checkPart(part: Part): Promise<readonly CheckResult[]> {
    const { ips, options, timeoutMs, told } = part
    const { signal, policy } = options
    if (timeoutMs <= 0) return ips.map(() => unchecked(outOfTime, { told }))
    const meaning = await ask({
      path: batchPath,
      body: policy === undefined ? { ips } : { ips, policy },
      timeoutMs,
      signal,
      isHeavy: true,
    })
    if (meaning.kind === 'failure') return ips.map(() => unchecked(meaning.failure, { told }))
    const { results } = meaning.body
    const rows: readonly unknown[] = Array.isArray(results) ? results : []
    const answers = ips.map((_ip, at) => answerIn(rows[at]))
    if (answers.some((answer) => answer !== undefined)) report.answered()
    return answers.map((answer) =>
      answer === undefined ? unchecked(noAnswer, { told }) : checked(answer, policy, { told }),
    )
  }

  return async (given: readonly string[], options = {}) => {
    const end = observe('batch')
    const until = monotonicMs() + batchTimeoutMs
    const told = new Set<ClientFailure>()
    // Callers without types come here, too.
    const all = Array.isArray(given) ? [...(given as readonly string[])] : []
    const isAddress = all.map((ip) => addressGroups(ip) !== undefined)
    const addresses = all.filter((_ip, at) => isAddress[at])
    const found: CheckResult[] = []
    while (found.length < addresses.length) {
      const ips = addresses.slice(found.length, found.length + batchAddressesMax)
      try {
        const timeoutMs = Math.round(until - monotonicMs())
        found.push(...(await checkPart({ ips, options, timeoutMs, told })))
      } catch (cause) {
        const failure = unexpected(cause)
        found.push(...ips.map(() => unchecked(failure, { told })))
      }
    }
    let next = 0
    const results = isAddress.map((is) => (is ? found[next++]! : unchecked(notAnAddress)))
    end(results.every(({ ok }) => ok) ? 'ok' : 'partly')
    return results
  }
}
