// One fetching run a folder. Two at once would interleave their files and their json, so the second
// does not fetch. A lock is a file with its owner's token, touched every few seconds while the
// owner lives; a dead owner's lock is taken over: at once where its process is known to be gone,
// else after LOCK_STALE_MS of silence (another container's process ids mean nothing here).
//
// It is not a proof: an owner that was suspended for longer than that can wake up beside its
// successor. It asks `held` before each commit, and a mixed folder would still be caught by hashes.

import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import {
  copyFile,
  link,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isProcessAlive, pidNamespaceName } from '../../src/base/process.ts'
import { LOCK_HEARTBEAT_MS, LOCK_STALE_MS } from './fetch-limits.ts'

export interface FolderLock {
  /** Whether it is still ours. */
  isHeld(): Promise<boolean>
  release(): Promise<void>
}

interface Owner {
  readonly token: string
  readonly pid: number
  readonly machine: string
}

/** The lock of `folder` (made if it is missing), or `undefined` while another run holds it. */
export async function acquireFolderLock(folder: string): Promise<FolderLock | undefined> {
  await mkdir(folder, { recursive: true })
  const path = join(folder, '.lock')
  const owner: Owner = { token: randomUUID(), pid: process.pid, machine: pidNamespaceName() }
  const claim = `${path}.${owner.token}.tmp`
  try {
    await writeFile(claim, `${JSON.stringify(owner)}\n`)
    if (!(await placeLock(claim, path))) {
      if (!(await isStale(path))) return undefined
      await rename(claim, path)
      // Two runs can both find it stale; the later rename wins, and both wait to see which it was.
      await sleep(100)
    }
  } catch (thrown) {
    // Whoever has the lock sweeps: then it is not ours.
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  } finally {
    await rm(claim, { force: true })
  }
  const isHeld = async (): Promise<boolean> => (await readOwner(path))?.token === owner.token
  if (!(await isHeld())) return undefined
  await removeLeftClaims(folder)
  const beat = setInterval(() => {
    const now = new Date()
    // Where the file is gone or another's, `held` tells; a failed touch alone harms nothing.
    void isHeld()
      .then(async (ours) => (ours ? utimes(path, now, now) : undefined))
      .catch(() => undefined)
  }, LOCK_HEARTBEAT_MS)
  beat.unref()
  return {
    isHeld,
    async release() {
      clearInterval(beat)
      if (await isHeld()) await rm(path, { force: true })
    },
  }
}

/**
 * Gives the claim the lock's name unless that is taken. A second name appears with its content, so
 * that a kill never leaves a lock without its owner, which nobody could call dead for a while.
 */
async function placeLock(claim: string, path: string): Promise<boolean> {
  try {
    await link(claim, path)
    return true
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (code === 'ENOENT') throw thrown
  }
  // Not every file system has second names.
  try {
    await copyFile(claim, path, constants.COPYFILE_EXCL)
    return true
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false
    await rm(path, { force: true }).catch(() => undefined)
    throw thrown
  }
}

/** Claims of killed runs, and of those that are losing this moment. */
async function removeLeftClaims(folder: string): Promise<void> {
  const left = (await readdir(folder)).filter((name) => /^\.lock\..*\.tmp$/.test(name))
  await Promise.all(left.map(async (name) => rm(join(folder, name), { force: true })))
}

async function isStale(path: string): Promise<boolean> {
  const owner = await readOwner(path)
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return true
  if (Date.now() - found.mtimeMs > LOCK_STALE_MS) return true
  if (owner === undefined || owner.machine !== pidNamespaceName()) return false
  return owner.pid !== process.pid && !isProcessAlive(owner.pid)
}

async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    const found = JSON.parse(await readFile(path, 'utf8')) as Partial<Owner>
    const { token, pid, machine } = found
    if (typeof token !== 'string' || typeof pid !== 'number' || typeof machine !== 'string') {
      return undefined
    }
    return { token, pid, machine }
  } catch {
    // Missing, or its owner is just writing it: whoever asks goes by its age then.
    return undefined
  }
}
