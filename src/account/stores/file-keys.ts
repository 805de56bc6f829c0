// Keys from a file that somebody else keeps, what `iprisk keys export` writes: mounted as a secret,
// it gives many machines the same keys without a store. Read-only here; read again when another
// file is at the path, a mount's symbolic links included. The file is the whole truth: a key that
// it no longer has is revoked.
//
// A quota is counted in one place, and a file is none: each machine would grant it anew. So a file
// in which a key has one, of its own or of its plan, is refused, and says which. Rates hold on each
// machine by itself.
//
// Invariant: a file with a problem changes nothing; the keys that were read before stay.

import { statSync } from 'node:fs'
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

interface HeldRecord {
  readonly record: KeyRecord
  readonly text: string
  /** The version that brought it as it is. */
  readonly changed: number
}

export function openFileKeyStore(path: string, plans: Plans): KeyStore {
  const held = new Map<string, HeldRecord>()
  let version = 0
  let seen = ''
  let trouble: IpriskError | undefined

  const look = (): void => {
    const identity = identityOf(path)
    if (identity === seen) {
      if (trouble !== undefined) throw trouble
      return
    }
    seen = identity
    trouble = undefined
    try {
      take(readKeys(path, plans))
    } catch (error) {
      trouble = error as IpriskError
      throw error
    }
  }
  const take = (records: readonly KeyRecord[]): void => {
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
  }
  const keep = (record: KeyRecord): void => {
    const text = JSON.stringify(record)
    if (held.get(record.id)?.text === text) return
    held.set(record.id, { record, text, changed: version })
  }
  const refuse = (): Promise<never> => Promise.reject(readOnly(path))
  return {
    create: refuse,
    update: refuse,
    get: async (id) => {
      look()
      return held.get(id)?.record
    },
    list: async () => {
      look()
      return [...held.values()].map(({ record }) => record)
    },
    version: async () => {
      look()
      return version
    },
    changes: async (since) => {
      look()
      const fresh = [...held.values()].filter(({ changed }) => changed > since)
      return { version, records: fresh.map(({ record }) => record) }
    },
    close: async () => undefined,
  }
}

function identityOf(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? 'none' : `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}`
}

function readKeys(path: string, plans: Plans): readonly KeyRecord[] {
  let text: string
  try {
    text = readBoundedFile(path, { bytesMax: keyFileBytesMax }).bytes.toString('utf8')
  } catch (cause) {
    throw unusable(path, [`  ${messageOf(cause)}`], cause)
  }
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
