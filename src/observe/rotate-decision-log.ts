// Rotates the decision log: when FILE is full it becomes FILE.1, FILE.1 becomes FILE.2, and so on;
// the oldest is removed. Workers reopen it within a second (base/system/line-file.ts), also after
// another program, such as logrotate.

import { rename, rm, stat } from 'node:fs/promises'
import { openSync, closeSync } from 'node:fs'
import { environmentError, messageOf } from '../base/coded-error.ts'
import type { Log } from '../base/log.ts'
import { outputTarget } from '../base/system/atomic-file.ts'
import type { ServeSettings } from '../config/settings.ts'
import type { DecisionLogSettings } from './decision-log.ts'

const rotateMs = 1000

/** The workers' settings. Throws `decision_log_unusable` now rather than at the first check. */
export function decisionLogOf(serve: ServeSettings): DecisionLogSettings | undefined {
  const { decisionLog: path, decisionLogShare: sharePercent = 100 } = serve
  if (path === undefined) return undefined
  if (path !== '-') probe(path)
  return { path, sharePercent }
}

/** Polls every second until the returned function is called; a failure is logged once. */
export function rotateDecisionLog(serve: ServeSettings, log: Log): () => Promise<void> {
  const { decisionLog: path, decisionLogMb: mb, decisionLogFiles: kept } = serve
  if (path === undefined || path === '-') return async () => undefined
  let failing = false
  let running = Promise.resolve()
  const look = async (): Promise<void> => {
    try {
      await rotateWhenFull({ path, bytesMax: mb * 2 ** 20, kept })
      failing = false
    } catch (error) {
      if (!failing) log.error({}, `The decision log cannot be rotated: ${messageOf(error)}`)
      failing = true
    }
  }
  const timer = setInterval(() => {
    running = running.then(look)
  }, rotateMs)
  return () => {
    clearInterval(timer)
    return running
  }
}

function probe(path: string): void {
  try {
    closeSync(openSync(outputTarget(path), 'a', 0o600))
  } catch (cause) {
    const message =
      `The decision log ${path} cannot be written: ${messageOf(cause)}. ` +
      'Name a file, or - for standard output.'
    throw environmentError('decision_log_unusable', message, { cause })
  }
}

/** `kept`: files beside the one being written. */
export async function rotateWhenFull(file: {
  readonly path: string
  readonly bytesMax: number
  readonly kept: number
}): Promise<void> {
  const { bytesMax, kept } = file
  const found = await stat(file.path).catch(() => undefined)
  if (found === undefined || found.size < bytesMax) return
  // A link's target is renamed.
  const path = outputTarget(file.path)
  await rm(`${path}.${kept}`, { force: true })
  for (let number = kept - 1; number >= 0; number -= 1) {
    const from = number === 0 ? path : `${path}.${number}`
    await rename(from, `${path}.${number + 1}`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
}
