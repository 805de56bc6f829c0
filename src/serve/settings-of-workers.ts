// What each worker is told when it starts: the part of the settings that answering needs.

import { optionalMember } from '../base/optional-member.ts'
import type { Settings } from '../config/settings.ts'
import { bodyBudgetBytes } from '../http/exchange/body-budget.ts'
import type { TlsFiles } from '../http/listen/tls-files.ts'
import type { WorkerSettings } from '../supervisor/workers/worker-messages.ts'
import { decisionLogOf } from './rotate-decision-log.ts'
import { type WatchedPolicies, policySettings } from './watch-policies.ts'

/** Throws `decision_log_unusable`. */
export function workerSettings(
  { serve, state: stateFolder, store, plans }: Settings,
  found: {
    readonly port: number
    readonly tls: TlsFiles | undefined
    readonly policies: WatchedPolicies
  },
): WorkerSettings {
  return {
    host: serve.host,
    port: found.port,
    stateFolder,
    store,
    plans,
    ...policySettings(found.policies),
    logLevel: serve.logLevel,
    logAddresses: serve.logAddresses,
    logAddressForm: serve.logAddressForm,
    ...optionalMember('logAddressKeyFile', serve.logAddressKeyFile),
    ...optionalMember('tls', found.tls),
    docs: serve.docs === 'on',
    ...optionalMember('decisionLog', decisionLogOf(serve)),
    ...(serve.sample > 0 ? { sampling: true as const } : {}),
    ...(serve.console === 'on' ? { countsTraffic: true as const } : {}),
    pool: { threads: serve.poolThreads, queue: serve.poolQueue },
    connections: { all: serve.connections, perAddress: serve.connectionsPerAddress },
    bodiesBytes: bodyBudgetBytes(serve.workerMemoryMb * 2 ** 20),
  }
}
