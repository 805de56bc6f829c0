// SIGHUP, from the first moment of a server on: without a listener it ends the process.

import process from 'node:process'

/** Receives SIGHUP from now on; a signal that comes before `listen` is kept for the listener. */
export interface SighupListener {
  readonly listen: (onSignal: () => void) => void
  readonly stop: () => void
}

/** To be called first of all. */
export function captureSighup(): SighupListener {
  let isWaiting = false
  let handle = (): void => {
    isWaiting = true
  }
  const onSighup = (): void => handle()
  process.on('SIGHUP', onSighup)
  return {
    listen: (onSignal) => {
      handle = onSignal
      if (isWaiting) onSignal()
      isWaiting = false
    },
    stop: () => process.off('SIGHUP', onSighup),
  }
}
