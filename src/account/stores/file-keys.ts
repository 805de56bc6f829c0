// Keys from a file of `iprisk keys export`: mounted as a secret, it gives many machines the same
// keys without a store. Read-only; reread when the file changes, symbolic links of a mount
// included. A key missing from a newer file is revoked. Keys with a quota are invalid here, because
// each machine would grant all of it; rates hold per machine.
//
// An invalid key is skipped by name. An invalid file changes nothing: the previous keys stay, and a
// starting process uses the last good file, kept in the state folder.

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { IpriskError, messageOf, inputError } from '../../base/coded-error.ts'
import { keyFileBytesMax } from '../../base/limits.ts'
import { readBoundedFile } from '../../base/system/bounded-file.ts'
import { fileIdentity } from '../../base/system/file-watch.ts'
import { replaceOwnFileSync } from '../../base/system/own-files.ts'
import { readKeyFileRows } from '../../config/key-file.ts'
import { type Plans, planNamed } from '../../config/plan.ts'
import { formatSettingProblem } from '../../config/setting-problem.ts'
import { effectiveLimits } from '../keys/key-limits.ts'
import { type KeyRecord, lostRecord } from '../keys/key-record.ts'
import type { KeyStore } from '../keys/key-store.ts'
import { fromFile } from '../keys/key-transfer.ts'
import { type KeyRow, isSkipped, recordOf, sortRows } from '../keys/read-record.ts'

const shownMax = 20

export function openFileKeyStore(
  path: string,
  firstPlans: Plans,
  state?: string,
): Required<KeyStore> {
  const mark = createHash('sha256').update(resolve(path)).digest('hex').slice(0, 8)
  const kept = state === undefined ? undefined : join(state, `keys-file-${mark}.json`)
  const held = newHeldRows()
  let plans = firstPlans
  let seen: string | undefined
  let trouble: IpriskError | undefined

  const look = (): typeof held => {
    const identity = fileIdentity(path)
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
    get: async (id) => {
      const row = look().get(id)
      return row === undefined ? undefined : recordOf(row)
    },
    list: async () => sortRows(look().since(-1)),
    changes: async (since) => {
      const { version, since: changedSince } = look()
      return { version: version(), ...sortRows(changedSince(since)) }
    },
    close: async () => undefined,
    usePlans: (changed) => {
      plans = changed
      seen = undefined
    },
  }
}

/** Throws the file's problems, even if a good copy was kept. */
export function validateKeysFile(path: string, plans: Plans): void {
  judgeKeys(readText(path), path, plans)
}

/** A file's rows, each with the version that last changed it. */
function newHeldRows() {
  const held = new Map<string, { row: KeyRow; text: string; changed: number }>()
  let version = 0
  const keep = (row: KeyRow): void => {
    const text = JSON.stringify(row)
    if (held.get(row.id)?.text === text) return
    held.set(row.id, { row, text, changed: version })
  }
  return {
    take: (rows: readonly KeyRow[]): void => {
      version += 1
      const left = new Set(held.keys())
      for (const row of rows) {
        left.delete(row.id)
        keep(row)
      }
      for (const id of left) {
        const { row } = held.get(id)!
        const gone = isSkipped(row) ? lostRecord(id, Date.now()) : row
        keep({ ...gone, revokedAt: gone.revokedAt ?? Date.now() })
      }
    },
    get: (id: string) => held.get(id)?.row,
    since: (before: number) =>
      [...held.values()].filter(({ changed }) => changed > before).map(({ row }) => row),
    version: () => version,
  }
}

/** Concurrent writers write the same; a failure is harmless. */
function keepText(path: string, text: string): void {
  try {
    if (!existsSync(path) || readText(path) !== text) replaceOwnFileSync(path, text)
  } catch {
    // A full or read-only disk.
  }
}

function readText(path: string): string {
  try {
    return readBoundedFile(path, { bytesMax: keyFileBytesMax }).bytes.toString('utf8')
  } catch (cause) {
    throw unusable(path, [`  ${messageOf(cause)}`], cause)
  }
}

function judgeKeys(text: string, path: string, plans: Plans): readonly KeyRow[] {
  const judged = readKeyFileRows(text, { plans, origin: `the file ${path}` })
  if ('length' in judged) {
    const lines = judged.slice(0, shownMax).map((problem) => `  ${formatSettingProblem(problem)}`)
    throw unusable(path, lines)
  }
  const rows: KeyRow[] = judged.unsound.map((row) => ({ ...row, isRevoked: false }))
  for (const record of judged.sound.map(fromFile)) {
    const { id } = record
    rows.push(hasQuota(record, plans) ? { id, why: quotaAdvice, isRevoked: false } : record)
  }
  return rows
}

const quotaAdvice =
  'a keys file cannot share a quota between machines; use a plan without a quota, or --store'

function hasQuota({ plan, limits, revokedAt }: KeyRecord, plans: Plans): boolean {
  const own = planNamed(plans, plan)
  if (own === undefined || revokedAt !== undefined) return false
  return effectiveLimits(own, limits).quotaPerMonth !== undefined
}

const unusable = (path: string, details: readonly string[], cause?: unknown): IpriskError =>
  inputError('keys_file', `The keys in ${path} cannot be used:`, { details, cause })

function readOnly(path: string): IpriskError {
  const message = `The keys come from ${path}; change them in that file.`
  return new IpriskError({ code: 'keys_read_only', message, fault: 'usage' })
}
