// The program of a worker process: connects createWorker to its primary, the real tables, the key
// store and the log. supervisor.ts forks it; it does nothing when run by hand.

import cluster from 'node:cluster'
import process from 'node:process'
import { openAccount } from '../account/open-account.ts'
import type { Keyring } from '../account/keyring.ts'
import { createLog } from '../base/log.ts'
import { ignoreDebuggerSignal } from '../base/system/debugger-signal.ts'
import { useShortTimeSlices } from '../base/system/thread-priority.ts'
import { openTableInSteps } from '../table/open-table.ts'
import { workerClosingMs } from '../base/limits.ts'
import type { Plans } from '../config/plan.ts'
import type { PlansMessage, ToPrimary, ToWorker } from './worker-messages.ts'
import { logAddressFormatter } from '../observe/log-address.ts'
import { startHeartbeat } from '../observe/heartbeat.ts'
import { createWorker } from './worker.ts'

/** How long open requests may still take after the primary has died. */
const orphanMs = 10_000

let keyring: Keyring | undefined
/** Plans that came after the settings, for a keyring that is not open yet. */
let changed: Plans | undefined

function usePlans(plans: Plans): void {
  changed = plans
  keyring?.usePlans(plans)
}

function send(message: ToPrimary): void {
  // The channel is closed if the primary has just died; then this process ends by itself.
  if (process.connected) process.send?.(message)
}

ignoreDebuggerSignal()
useShortTimeSlices()

const receive = createWorker({
  send,
  heartbeat: startHeartbeat(send),
  // Pages are not read into memory on this loop: prepare-table-main.ts has, and memory is shared.
  openInSteps: openTableInSteps,
  openAccount: async (options) => {
    // The primary has created them; empty ones would forget keys and spent units.
    const account = await openAccount({ ...options, absentStores: 'fail' })
    keyring = account.keyring
    // Plans may have come while the account was being opened.
    if (changed !== undefined) keyring.usePlans(changed)
    return account
  },
  createLog: ({ logLevel, ...settings }) => {
    const log = createLog({
      level: logLevel,
      name: 'iprisk-worker',
      pretty: process.stderr.isTTY,
      addresses: logAddressFormatter({ logAddressForm: 'full', ...settings }),
    })
    ignoreDebuggerSignal((message) => log.warn(message))
    return log
  },
  exit: (code) => process.exit(code),
})

// A terminal sends these signals to every process of its group; the primary decides when to drain
// and which plans to use.
process.on('SIGHUP', () => undefined)
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)
process.on('SIGUSR2', () => undefined)
process.on('message', (message: ToWorker | PlansMessage) => {
  if (message.kind === 'plans') usePlans(message.plans)
  else receive(message)
})
// The primary has died. Nothing counts, watches or replaces this process any more, and the next
// primary finds the port in use while this one listens: it finishes its open requests and ends.
cluster.worker?.on('disconnect', () => {
  if (cluster.worker === undefined) return
  // Node would end it at once.
  cluster.worker.exitedAfterDisconnect = true
  receive({ kind: 'drain', drainMs: orphanMs })
  setTimeout(() => process.exit(1), orphanMs + workerClosingMs).unref()
})
process.send?.({ kind: 'hello' })
