// A check of one address, on the path of a login.

import { addressGroups } from '../address/address-text.ts'
import { checkPath } from '../generated/wire-types.ts'
import { createAnswerCache } from './answer-cache.ts'
import type { CheckOptions, CheckResult, Client } from './check-result.ts'
import { monotonicMs } from './monotonic-clock.ts'
import { type ClientParts, answerIn, noAnswer, notAnAddress, unexpected } from './client-parts.ts'
import type { Observe } from './open-telemetry.ts'
import { addressFailure } from './outcome-report.ts'

export function createCheck(parts: ClientParts, observe: Observe): Client['check'] {
  const { ask, checked, unchecked, report } = parts
  const { timeoutMs, cacheMs: keptMs, cacheMax: max } = parts.settings
  const cache = createAnswerCache({ max, keptMs, now: monotonicMs })

  async function judge(ip: string, options: CheckOptions): Promise<CheckResult> {
    const { signal, policy, insights = false } = options
    const terms = { ip, policy: policy ?? '', insights }
    const known = cache.find(terms)
    if (known !== undefined) {
      report.count('cached')
      return checked(known, policy)
    }
    const meaning = await ask({
      path: insights ? `${checkPath}?include=insights` : checkPath,
      body: policy === undefined ? { ip } : { ip, policy },
      timeoutMs,
      signal,
      isHeavy: insights,
    })
    if (meaning.kind === 'failure') return unchecked(meaning.failure, options)
    const answer = answerIn(meaning.body)
    if (answer === undefined) return unchecked(noAnswer)
    report.answered()
    const result = checked(answer, policy)
    if (result.ok) cache.keep(terms, answer)
    return result
  }

  return async (ip, options = {}) => {
    const end = observe('check')
    let result: CheckResult
    try {
      const isAddress = addressGroups(ip) !== undefined
      result = isAddress
        ? await judge(ip, options)
        : unchecked(addressFailure(options, notAnAddress))
    } catch (cause) {
      result = unchecked(unexpected(cause))
    }
    end(result.ok ? 'ok' : result.reason)
    return result
  }
}
