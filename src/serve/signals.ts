// A server's signals: SIGTERM, SIGINT or a takeover end it; SIGHUP, which would end the process
// without a listener, is kept until someone listens.

import process from 'node:process'

const sameSignalMs = 1000

export interface Shutdown {
  readonly requested: Promise<void>
  readonly signal: AbortSignal
  /** Another server has taken over: end without the grace of a shutdown. */
  readonly yield: () => void
  readonly yielded: () => boolean
  /** The start has failed: cancel everything. */
  readonly abort: () => void
  readonly stop: () => void
}

/**
 * The first SIGTERM or SIGINT asks for an orderly end; a later one ends the process at once. One
 * signal may arrive twice: from the terminal to all processes, and from npm.
 */
export function listenForShutdown(): Shutdown {
  const controller = new AbortController()
  const { signal } = controller
  let firstMs: number | undefined
  let yielded = false
  const requested = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const onSignal = (): void => {
    if (firstMs !== undefined) {
      if (performance.now() - firstMs > sameSignalMs) process.exit(1)
      return
    }
    firstMs = performance.now()
    controller.abort()
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return {
    requested,
    signal,
    yield: () => {
      yielded = true
      controller.abort()
    },
    yielded: () => yielded,
    abort: () => controller.abort(),
    stop: () => {
      process.off('SIGTERM', onSignal)
      process.off('SIGINT', onSignal)
    },
  }
}

export type SighupListener = ReturnType<typeof captureSighup>

/** A signal before `listen` is kept for the listener. */
export function captureSighup() {
  let isWaiting = false
  let handle = (): void => {
    isWaiting = true
  }
  const onSighup = (): void => handle()
  process.on('SIGHUP', onSighup)
  return {
    listen: (onSignal: () => void): void => {
      handle = onSignal
      if (isWaiting) onSignal()
      isWaiting = false
    },
    stop: (): void => void process.off('SIGHUP', onSighup),
  }
}
