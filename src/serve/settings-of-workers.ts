// What each worker is told when it starts: the part of the settings that answering needs.

import { statSync } from 'node:fs'
import { optionalMember } from '../base/optional-member.ts'
import type { Settings } from '../config/settings.ts'
import { bodyBudgetBytes } from '../http/exchange/body-budget.ts'
import type { TlsFiles } from '../http/listen/tls-files.ts'
import type { WorkerSettings } from '../worker/worker-messages.ts'
import { fileBytesMax } from '../schema/table-layout.ts'
import { decisionLogOf } from '../observe/rotate-decision-log.ts'
import { type WatchedPolicies, policySettings } from './watch-policies.ts'

/** Throws `decision_log_unusable`. */
export function workerSettings(
  { serve, state: stateFolder, store, plans, table }: Settings,
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
    ...optionalMember('tableBytes', tableBytesOf(table)),
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

/** Of what may be a table; what is wrong with the file is said where it is read. */
export function tableBytesOf(path: string): number | undefined {
  try {
    const { size } = statSync(path)
    return size > 0 && size <= fileBytesMax ? size : undefined
  } catch {
    return undefined
  }
}
