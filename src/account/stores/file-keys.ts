// Keys from a file that somebody else keeps, what `iprisk keys export` writes: mounted as a secret,
// it gives many machines the same keys without a store. Read-only here; read again when another
// file is at the path, a mount's symbolic links included. The file is the whole truth: a key that
// it no longer has is revoked.
//
// A quota is counted in one place, and a file is none: each machine would grant it anew. So a file
// in which a key has one, of its own or of its plan, is refused, and says which. Rates hold on each
// machine by itself.
//
// Invariant: a file with a problem changes nothing; the keys that were read before stay. A process
// that starts while it has one begins with the last good one, which is kept in the state folder:
// hashes, as in the file itself.

import { createHash } from 'node:crypto'
import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { IpriskError, messageOf } from '../../base/coded-error.ts'
import { keyFileBytesMax } from '../../base/limits.ts'
import { readBoundedFile } from '../../base/system/bounded-file.ts'
import { parseKeyFile } from '../../config/key-file.ts'
import { type Plans, planNamed } from '../../config/plan.ts'
import { formatSettingProblem } from '../../config/setting-problem.ts'
import { effectiveLimits } from '../keys/key-limits.ts'
import type { KeyRecord } from '../keys/key-record.ts'
import type { KeyStore } from '../keys/key-store.ts'
import { recordsOf } from '../keys/key-transfer.ts'

/** Problems of a file that are named one by one. */
const shownMax = 20

export interface FileKeyStore extends KeyStore {
  /** Judges the file again by these. */
  readonly usePlans: (plans: Plans) => void
}

export function openFileKeyStore(path: string, firstPlans: Plans, state?: string): FileKeyStore {
  const kept = state === undefined ? undefined : join(state, keptName(path))
  const held = newHeldRecords()
  let plans = firstPlans
  let seen = ''
  let trouble: IpriskError | undefined

  const look = (): HeldRecords => {
    const identity = identityOf(path)
    if (identity === seen) {
      if (trouble !== undefined) throw trouble
      return held
    }
    seen = identity
    trouble = undefined
    try {
      const text = readText(path)
      held.take(judgeKeys(text, path, plans))
      if (kept !== undefined) keepText(kept, text)
    } catch (error) {
      trouble = error as IpriskError
      if (held.version() > 0 || kept === undefined || !existsSync(kept)) throw error
      try {
        // The next look says what is wrong.
        held.take(judgeKeys(readText(kept), kept, plans))
      } catch {
        throw trouble
      }
    }
    return held
  }
  const refuse = (): Promise<never> => Promise.reject(readOnly(path))
  return {
    create: refuse,
    update: refuse,
    get: async (id) => look().get(id),
    list: async () => look().since(-1),
    version: async () => look().version(),
    changes: async (since) => {
      const { version, since: changedSince } = look()
      return { version: version(), records: changedSince(since) }
    },
    close: async () => undefined,
    usePlans: (changed) => {
      plans = changed
      seen = ''
    },
  }
}

/** Throws what is wrong with the file as it is now, whatever good one there was before. */
export function validateKeysFile(path: string, plans: Plans): void {
  judgeKeys(readText(path), path, plans)
}

/** The records of a file, and which of its versions brought each as it is. */
interface HeldRecords {
  /** All of another file; what it no longer has is revoked. */
  readonly take: (records: readonly KeyRecord[]) => void
  readonly get: (id: string) => KeyRecord | undefined
  readonly since: (version: number) => readonly KeyRecord[]
  readonly version: () => number
}

function newHeldRecords(): HeldRecords {
  const held = new Map<string, { record: KeyRecord; text: string; changed: number }>()
  let version = 0
  const keep = (record: KeyRecord): void => {
    const text = JSON.stringify(record)
    if (held.get(record.id)?.text === text) return
    held.set(record.id, { record, text, changed: version })
  }
  return {
    take: (records) => {
      version += 1
      const left = new Set(held.keys())
      for (const record of records) {
        left.delete(record.id)
        keep(record)
      }
      for (const id of left) {
        const { record } = held.get(id)!
        keep({ ...record, revokedAt: record.revokedAt ?? Date.now() })
      }
    },
    get: (id) => held.get(id)?.record,
    since: (before) =>
      [...held.values()].filter(({ changed }) => changed > before).map(({ record }) => record),
    version: () => version,
  }
}

/** In the state folder, by the file that it is of. */
function keptName(path: string): string {
  return `keys-file-${createHash('sha256').update(resolve(path)).digest('hex').slice(0, 8)}.json`
}

/** Many processes may write the same at once. Where it cannot be kept, there is one thing fewer. */
function keepText(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`
  try {
    if (existsSync(path) && readText(path) === text) return
    writeFileSync(temporary, text, { mode: 0o600 })
    renameSync(temporary, path)
  } catch {
    rmSync(temporary, { force: true })
    // A full or read-only disk keeps no key from being used.
  }
}

function identityOf(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? 'none' : `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}`
}

function readText(path: string): string {
  try {
    return readBoundedFile(path, { bytesMax: keyFileBytesMax }).bytes.toString('utf8')
  } catch (cause) {
    throw unusable(path, [`  ${messageOf(cause)}`], cause)
  }
}

function judgeKeys(text: string, path: string, plans: Plans): readonly KeyRecord[] {
  const judged = parseKeyFile(text, { plans, origin: `the file ${path}` })
  if ('length' in judged) {
    const lines = judged.slice(0, shownMax).map((problem) => `  ${formatSettingProblem(problem)}`)
    throw unusable(path, lines)
  }
  const records = recordsOf(judged)
  const counted = records.filter((record) => hasQuota(record, plans))
  if (counted.length > 0) {
    const named = counted.slice(0, shownMax).map(({ id, plan }) => `  ${id} (plan ${plan})`)
    const why = 'a quota cannot be shared by a file: each machine would grant it anew.'
    const mend = 'Give these keys a plan without a quota, or use --store:'
    throw unusable(path, [`  ${why} ${mend}`, ...named])
  }
  return records
}

function hasQuota({ plan, limits, revokedAt }: KeyRecord, plans: Plans): boolean {
  const own = planNamed(plans, plan)
  if (own === undefined || revokedAt !== undefined) return false
  return effectiveLimits(own, limits).quotaPerMonth !== undefined
}

function unusable(path: string, details: readonly string[], cause?: unknown): IpriskError {
  return new IpriskError({
    code: 'keys_file',
    message: `The keys in ${path} cannot be used:`,
    details,
    fault: 'input',
    ...(cause === undefined ? {} : { cause }),
  })
}

function readOnly(path: string): IpriskError {
  const message = `The keys come from ${path}: whoever writes that file changes them.`
  return new IpriskError({ code: 'keys_read_only', message, fault: 'usage' })
}
