// The program as the first process of a container, with no init above it. For that process alone the
// kernel drops a signal that nothing listens for: Ctrl-C and `docker stop` would not end a build.

import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM'] as const

/** Lets these signals end the process as they end any other, where no command listens for them. */
export function endBySignals(): void {
  for (const signal of signals) {
    const end = (): void => {
      if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal])
    }
    process.on(signal, end)
  }
}
