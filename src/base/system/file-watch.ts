// Polls a file for replacement, on every file system. A change counts once two polls agree.

import { statSync } from 'node:fs'

export interface Watch {
  readonly stop: () => void
}

/** `''` if there is no file. */
export function fileIdentity(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? '' : `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}`
}

/**
 * Ignores times, for a file that is touched but never written: detects replacement, truncation and
 * removal. `''` if it cannot be read.
 */
export function inodeIdentity(path: string): string {
  try {
    const { dev, ino, size } = statSync(path)
    return `${dev}:${ino}:${size}`
  } catch {
    return ''
  }
}

/** Calls `changed` for every file that replaces the one with identity `known`. */
export function watchFile(options: {
  readonly path: string
  readonly known: string
  readonly everyMs: number
  readonly changed: () => void
  readonly gone?: () => void
  readonly mayEnd?: boolean
}): Watch {
  const { path, everyMs, changed, gone, mayEnd = false } = options
  let { known } = options
  let seen = known
  const timer = setInterval(() => {
    const identity = identityOrEmpty(path)
    const settled = identity === seen
    seen = identity
    if (!settled || identity === known) return
    known = identity
    if (identity === '') gone?.()
    else changed()
  }, everyMs)
  if (mayEnd) timer.unref()
  return { stop: () => clearInterval(timer) }
}

/** A folder that cannot be read now is not a change. */
export function identityOrEmpty(path: string): string {
  try {
    return fileIdentity(path)
  } catch {
    return ''
  }
}
