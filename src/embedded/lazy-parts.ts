// What a plain check does not need: insights and the model of the score behind them; policies and
// the schemas of their file. To load both takes an application several times as long as all the
// rest, so each is loaded when it is first asked for; policies when the client is made.

import type { ClientFailure } from '../client/core/outcome-report.ts'
import type { answerWithInsights } from '../table/explain/insights.ts'
import type { EmbeddedPolicies } from './embedded-policies.ts'

export interface LazyParts {
  /** Resolves when a check has what it needs; `undefined` where it has. Rejects if that fails. */
  readonly load: (needs: { readonly insights: boolean }) => Promise<void> | undefined
  readonly policies: () => EmbeddedPolicies | undefined
  readonly explain: () => typeof answerWithInsights | undefined
  readonly close: () => void
}

export function createLazyParts({
  policies: path,
  watchMs: everyMs = 1000,
  onRefused,
  onMisconfigured,
}: {
  readonly policies?: string
  readonly watchMs?: number
  readonly onRefused?: (failure: ClientFailure) => unknown
  readonly onMisconfigured?: (failure: ClientFailure) => unknown
}): LazyParts {
  let policies: EmbeddedPolicies | undefined
  let explain: typeof answerWithInsights | undefined
  let closed = false
  const loadPolicies = async (path: string): Promise<void> => {
    const { watchPolicies } = await import('./embedded-policies.ts')
    if (!closed) policies = watchPolicies({ path, everyMs, onRefused, onMisconfigured })
  }
  const first = path === undefined ? undefined : loadPolicies(path)
  // Each check is told why there are none.
  first?.catch(() => undefined)
  const loadInsights = async (): Promise<void> => {
    explain = (await import('../table/explain/insights.ts')).answerWithInsights
  }
  return {
    load: ({ insights }) => {
      const missing = [
        policies === undefined ? first : undefined,
        insights && explain === undefined ? loadInsights() : undefined,
      ].filter((part) => part !== undefined)
      return missing.length === 0 ? undefined : allOf(missing)
    },
    policies: () => policies,
    explain: () => explain,
    close: () => {
      closed = true
      policies?.close()
    },
  }
}

async function allOf(parts: readonly Promise<void>[]): Promise<void> {
  await Promise.all(parts)
}
