// What a worker opens at its start besides its table: the binding, the log, keys and limits, the
// decision log, pages.

import type { Account, AccountOptions } from '../account/open-account.ts'
import { type SkippedKey, skippedAdvice, skippedText } from '../account/keys/read-record.ts'
import { isOutage } from '../account/stores/open-stores.ts'
import { IpriskError, isDiskError, messageOf } from '../base/coded-error.ts'
import { type Log, describeError } from '../base/log.ts'
import { type DecisionLog, createDecisionLog } from '../observe/decision-log.ts'
import { readDocsFiles } from '../http/docs-files.ts'
import { type RequestCounters, countEvent, countStoreOutage } from '../observe/request-counters.ts'
import { loadUws } from '../http/listen/load-uws.ts'
import { logAddressFormatter } from '../observe/log-address.ts'
import type { WorkerSettings } from './worker-messages.ts'

export interface PreparationParts {
  readonly openAccount: (options: AccountOptions) => Promise<Account>
  readonly createLog: (settings: WorkerSettings) => Log
}

export type PreparedWorker = Awaited<ReturnType<typeof prepareWorker>>

/** Throws what opening the account throws. */
export async function prepareWorker(
  parts: PreparationParts,
  settings: WorkerSettings,
  counters: RequestCounters,
) {
  const uws = await loadUws()
  const log = parts.createLog(settings)
  const account = await parts.openAccount({
    stateFolder: settings.stateFolder,
    store: settings.store,
    plans: settings.plans,
    ...quotaStoreCallbacks(counters, log),
    onSkipped: (came, count) => {
      counters.keysSkipped = count
      logSkippedKeys(came, log)
    },
  })
  return {
    uws,
    log,
    account,
    decisionLog: openDecisionLog(settings, counters, log),
    // Loaded only if the console is on.
    traffic: settings.countsTraffic
      ? (await import('../observe/traffic-counter.ts')).createTrafficCounter()
      : undefined,
    docs: settings.docs === true ? readDocsFiles() : undefined,
  }
}

function openDecisionLog(
  settings: WorkerSettings,
  counters: RequestCounters,
  log: Log,
): DecisionLog | undefined {
  const { decisionLog } = settings
  if (decisionLog === undefined) return undefined
  return createDecisionLog(decisionLog, {
    counters,
    addresses: logAddressFormatter({ logAddressForm: 'full', ...settings }),
    onTrouble: (error) => {
      log.error({}, `The decision log cannot be written; its lines are queued: ${messageOf(error)}`)
    },
    onRecovery: () => log.info({}, 'The decision log can be written again.'),
    onLost: (lines) => log.warn({ lines }, 'Lines of the decision log were lost.'),
  })
}

const skippedLoggedMax = 20

function logSkippedKeys(came: readonly SkippedKey[], log: Log): void {
  const shown = came.slice(0, skippedLoggedMax)
  for (const skipped of shown) log.error({}, `${skippedText(skipped)} ${skippedAdvice}`)
  const more = came.length - shown.length
  if (more > 0)
    log.error({}, `${more} more key records are invalid; "iprisk keys list" names them.`)
}

/** Logs once when quotas cannot be leased, and once when they can again. */
function quotaStoreCallbacks(
  counters: RequestCounters,
  log: Log,
): Pick<AccountOptions, 'onTrouble' | 'onRecovery'> {
  return {
    onTrouble: (error) => {
      const ours = error instanceof IpriskError ? error : undefined
      if (!isOutage(error)) {
        if (ours?.code.startsWith('store_lost_') === true) countEvent(counters, 'losses')
        log.error({ code: ours?.code }, messageOf(error))
        return
      }
      if (!counters.storeReachable) return
      countStoreOutage(counters)
      // Our own messages contain neither addresses nor credentials.
      const refused = isDiskError(error) ? ` The disk failed: ${messageOf(error)}.` : ''
      const why = ours === undefined ? refused : ` ${ours.message}`
      const text = `The store of keys and quotas is unreachable; leased units are still spent.${why}`
      log.error(describeError(error), text)
    },
    onRecovery: () => {
      if (counters.storeReachable) return
      counters.storeReachable = true
      log.info({}, 'The store of keys and quotas is reachable again.')
    },
  }
}
