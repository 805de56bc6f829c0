// The audit log: which administrative act was done on the keys of a state folder, by whom, when, and
// what it changed. JSON lines in `<state>/audit.log`, appended and never changed.
//
//   {"act_id":"…","step":"begin","at":"…Z","user":"ops","uid":1000,"act":"rotate","keys":["…"]}
//   {"act_id":"…","step":"done","at":"…Z","changes":[{"key":"…","before":{…},"after":{…}}]}
//   {"act_id":"…","step":"failed","at":"…Z","code":"key_unknown"}
//
// Two lines an act, so that no act is without a trace: the first one is on the disk before the store
// is asked. An act that has no second line may or may not have happened (its process was killed).
//
// Invariants: a line is one write to a file that is open for appending, which Linux does not
// interleave with another one; it is synced before the next step; a piece of a line that a killed
// process left ends where the next line begins, and readers count it. Neither a secret nor its hash
// is ever in it. Whoever rotates the file by renaming it loses nothing: it is opened for each line.

import { randomUUID } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { createReadStream, existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { IpriskError, messageOf } from '../base/error.ts'
import type { KeyRecord } from './record.ts'
import { type KeyFacts, factsOf } from './facts.ts'
import type { KeyStore } from './store.ts'

export const auditActs = ['create', 'revoke', 'rotate', 'export', 'import'] as const
export type AuditAct = (typeof auditActs)[number]

/** What became of one key. */
export interface AuditChange {
  readonly key: string
  readonly before?: KeyFacts
  readonly after: KeyFacts
}

/** An act as its two lines tell it. */
export interface AuditEntry {
  readonly act_id: string
  readonly at: string
  readonly user: string
  readonly uid: number
  /** The user behind sudo. */
  readonly sudo_user?: string
  readonly act: AuditAct
  /** Ids of the keys that it was about; a new key has none before it is made. */
  readonly keys: readonly string[]
  /** `unknown`: no end is recorded. */
  readonly result: 'done' | 'failed' | 'unknown'
  /** Of a failure. */
  readonly code?: string
  readonly changes: readonly AuditChange[]
}

/** Where the log of a state folder is. */
export function auditPath(state: string): string {
  return join(state, 'audit.log')
}

function unwritable(path: string, cause: unknown): IpriskError {
  return new IpriskError({
    code: 'audit_unwritable',
    message:
      `The audit log ${path} cannot be written: ${messageOf(cause)}. What cannot be recorded ` +
      'is not done.',
    fault: 'environment',
    cause,
  })
}

/** Whether the file ends inside a line: its writer was killed. */
function endsInside(file: number): boolean {
  const { size } = fstatSync(file)
  const last = Buffer.alloc(1)
  return size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** Appends one line; on the disk when it returns. */
function append(path: string, line: object): void {
  try {
    const isNew = !existsSync(path)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const file = openSync(path, 'a+', 0o600)
    try {
      const text = `${endsInside(file) ? '\n' : ''}${JSON.stringify(line)}\n`
      const bytes = Buffer.from(text)
      const written = writeSync(file, bytes)
      if (written !== bytes.length) throw new Error(`only ${written} bytes could be written`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    if (isNew) syncFolder(dirname(path))
  } catch (cause) {
    throw unwritable(path, cause)
  }
}

/** Who runs this process: a container may run as a number that has no name. */
function whoami(): Pick<AuditEntry, 'user' | 'uid' | 'sudo_user'> {
  const uid = process.getuid?.() ?? -1
  const sudoUser = uid === 0 ? process.env['SUDO_USER'] : undefined
  const sudo = sudoUser === undefined ? {} : { sudo_user: sudoUser }
  try {
    return { user: userInfo().username, uid, ...sudo }
  } catch {
    return { user: String(uid), uid, ...sudo }
  }
}

/** The store, telling `changes` what it changes. */
function observed(store: KeyStore, changes: AuditChange[]): KeyStore {
  return {
    ...store,
    create: async (record) => {
      await store.create(record)
      changes.push({ key: record.id, after: factsOf(record) })
    },
    update: async (id, change) => {
      let before: KeyRecord | undefined
      const after = await store.update(id, (found) => {
        before = found
        return change(found)
      })
      if (after !== undefined && before !== undefined) {
        changes.push({ key: id, before: factsOf(before), after: factsOf(after) })
      }
      return after
    },
  }
}

/** Does an act on a store and records it. Throws `audit_unwritable` before anything is done. */
export async function audited<T>(
  options: {
    readonly state: string
    readonly store: KeyStore
    readonly act: AuditAct
    readonly keys: readonly string[]
  },
  run: (store: KeyStore) => Promise<T>,
): Promise<T> {
  const { state, store, act, keys } = options
  const path = auditPath(state)
  const actId = randomUUID()
  const line = (step: string, more: object): void =>
    append(path, { act_id: actId, step, at: new Date().toISOString(), ...more })
  const changes: AuditChange[] = []
  line('begin', { ...whoami(), act, keys })
  try {
    const result = await run(observed(store, changes))
    line('done', { changes })
    return result
  } catch (error) {
    const code = error instanceof IpriskError ? error.code : 'unexpected'
    line('failed', { code, changes })
    throw error
  }
}

interface Line {
  readonly act_id?: unknown
  readonly step?: unknown
}

function lineOf(text: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** The last acts, oldest first, and how many lines could not be read. */
export async function readAudit(
  state: string,
  last: number,
): Promise<{ readonly entries: readonly AuditEntry[]; readonly broken: number }> {
  const path = auditPath(state)
  if (!existsSync(path)) return { entries: [], broken: 0 }
  // By act: a Map keeps the order of their first lines.
  const entries = new Map<unknown, AuditEntry>()
  let broken = 0
  const input = createReadStream(path, { encoding: 'utf8' })
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    const line = lineOf(text)
    const { step, ...rest } = line ?? {}
    const begun = entries.get(line?.act_id)
    if (step === 'begin') {
      entries.set(line?.act_id, {
        ...rest,
        result: 'unknown',
        changes: [],
      } as unknown as AuditEntry)
    } else if (begun !== undefined && (step === 'done' || step === 'failed')) {
      // It keeps the instant of its beginning.
      const ended = { ...begun, ...rest, at: begun.at, result: step }
      entries.set(line?.act_id, ended as AuditEntry)
    } else if (line === undefined) {
      broken += 1
    }
    // Twice as many as wanted, for acts of several processes overlap.
    if (entries.size > last * 2 + 100) {
      for (const oldest of entries.keys()) {
        entries.delete(oldest)
        break
      }
    }
  }
  return { entries: [...entries.values()].slice(-last), broken }
}
