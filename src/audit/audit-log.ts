// The audit log: who changed keys, lists, policies or tables of a state folder, on the command line
// or the admin port, when, and what it changed. JSON lines in `<state>/audit.log`, appended and
// never changed.
//
//   {"act_id":"…","step":"begin","at":"…Z","user":"ops","uid":1000,"act":"rotate","keys":["…"]}
//   {"act_id":"…","step":"done","at":"…Z","changes":[{"key":"…","before":{…},"after":{…}}]}
//   {"act_id":"…","step":"failed","at":"…Z","code":"key_unknown"}
//   {"act_id":"…","step":"unknown","at":"…Z","code":"store_unknown","changes":[…]}
//
// Two lines per act, so that each leaves a trace: the first one is on disk before the store is
// called. An act without a second line may or may not have happened: its process was killed, or the
// disk was full by then, which was reported to the user. The same holds for the step `unknown`: the
// store was called and did not answer, and `changes` are those that it may have made.
//
// Invariants: a line is one write to a file that is open for appending, which Linux does not
// interleave with another one; it is synced before the next step; a piece of a line that a killed
// process left ends where the next line begins, and readers count it. Neither a secret nor its hash
// is ever in it. Rotating the file by renaming it loses nothing: it is opened for each line.

import { randomUUID } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, mkdirSync, readSync, writeSync } from 'node:fs'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { KeySummary } from '../api/admin-answers.ts'
import { IpriskError, environmentError, messageOf } from '../base/coded-error.ts'
import { type JsonObject, isJsonObject, parseJson } from '../base/json-object.ts'
import { flushFolderSync } from '../base/system/atomic-file.ts'
import { openOwnFile } from '../base/system/own-files.ts'
import type { ListAct } from '../lists/list-catalogue.ts'

export type AuditAct =
  | 'create'
  | 'revoke'
  | 'rotate'
  | 'export'
  | 'import'
  | `lists ${ListAct}`
  | 'policies save'
  | 'table reload'
  | 'table rollback'
  | 'table refresh'
  | 'state backup'
  | 'state restore'

export interface AuditChange {
  readonly key: string
  readonly before?: KeySummary | undefined
  readonly after: KeySummary
}

export interface ListAuditChange {
  readonly list: string
  readonly before: ListSummary | null
  readonly after: ListSummary | null
  readonly added: number
  readonly changed: number
  readonly removed: number
}

/** The result of an act on what a server answers with: the ids of tables, the revisions of
 * policies. */
export interface ServerAuditChange {
  readonly before: string | null
  readonly after: string | null
}

interface ListSummary {
  readonly effect: string
  readonly entries: number
}

/** An act, combined from its two lines. */
export interface AuditEntry {
  readonly act_id: string
  readonly at: string
  readonly user: string
  readonly uid: number
  /** The user behind sudo. */
  readonly sudo_user?: string | undefined
  readonly act: AuditAct
  /** Where it was requested, if not on the command line, and by whom: `console as maria`. */
  readonly via?: string | undefined
  /** The list it was about, and the first of its entries, as written. */
  readonly list?: string | undefined
  readonly entries?: readonly string[] | undefined
  /** How many there were; absent in older acts. */
  readonly entry_count?: number | undefined
  /** Ids of the keys it was about; a new key has none before it is made. */
  readonly keys: readonly string[]
  /** `unknown`: no end is recorded, or the store did not say. */
  readonly result: 'done' | 'failed' | 'unknown'
  readonly code?: string
  readonly changes: readonly AuditChange[]
  readonly list_changes?: readonly ListAuditChange[]
  readonly server_changes?: readonly ServerAuditChange[]
}

/**
 * Who acted, and where. Over the admin port it is the owner of the token, not the server's user;
 * one without a name is an admin's.
 */
export function auditActor({
  user,
  sudo_user: sudo,
  via = 'command line',
}: Pick<AuditEntry, 'user' | 'sudo_user' | 'via'>): { readonly who: string; readonly via: string } {
  const [place = '', name = 'admin'] = via.split(' as ')
  if (place !== 'command line') return { who: name, via: place }
  return { who: sudo === undefined ? user : `${user} (${sudo})`, via: place }
}

export function auditLogPath(state: string): string {
  return join(state, 'audit.log')
}

/** The act is over, but its end could not be recorded: no reason to report it as not done. */
function endUnwritten(path: string, actId: string, cause: unknown): IpriskError {
  const message =
    `The second line of this action, ${actId}, could not be written to the audit log ${path}: ` +
    `${messageOf(cause)}. "iprisk keys audit" shows its result as unknown.`
  return environmentError('audit_end_unwritten', message, { cause })
}

function unwritable(path: string, cause: unknown): IpriskError {
  const message =
    `The audit log ${path} cannot be written: ${messageOf(cause)}. Changes that cannot ` +
    'be recorded are not made.'
  return environmentError('audit_unwritable', message, { cause })
}

/** Whether the file ends inside a line: its writer was killed. */
function endsMidLine(file: number): boolean {
  const { size } = fstatSync(file)
  const last = Buffer.alloc(1)
  return size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a
}

/** Appends one line; on the disk when it returns. */
function append(path: string, line: object): void {
  const isNew = !existsSync(path)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // Also for reading: opening a pipe for writing alone waits for a reader. Its fsync fails.
  const file = openOwnFile(path, { append: true })
  try {
    const text = `${endsMidLine(file) ? '\n' : ''}${JSON.stringify(line)}\n`
    const bytes = Buffer.from(text)
    const written = writeSync(file, bytes)
    if (written !== bytes.length) throw new Error(`only ${written} bytes could be written`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  if (isNew) flushFolderSync(dirname(path))
}

/** Who runs this process: in a container it may be a number without a name. */
function whoami(): Pick<AuditEntry, 'user' | 'uid' | 'sudo_user'> {
  const uid = process.getuid?.() ?? -1
  const sudo_user = uid === 0 ? process.env['SUDO_USER'] : undefined
  try {
    return { user: userInfo().username, uid, sudo_user }
  } catch {
    return { user: String(uid), uid, sudo_user }
  }
}

/** The store was asked, and did not report whether it was done. */
export const isUnknown = (error: unknown): error is IpriskError =>
  error instanceof IpriskError && error.code === 'store_unknown'

export interface AuditedAct extends Pick<
  AuditEntry,
  'act' | 'keys' | 'via' | 'list' | 'entries' | 'entry_count'
> {
  readonly state: string
  /** If the end cannot be recorded, that is reported; what was done is done. */
  readonly onUnwritten: (error: IpriskError) => void
}

type AnyChange = AuditChange | ListAuditChange | ServerAuditChange

/**
 * Performs an act and records it; `run` returns what it changes. Throws `audit_unwritable` before
 * anything is done.
 */
export async function withAuditedChanges<T>(
  options: AuditedAct & { readonly member: 'changes' | 'list_changes' | 'server_changes' },
  run: (changes: AnyChange[]) => Promise<T>,
): Promise<T> {
  const { state, onUnwritten, member, ...facts } = options
  const path = auditLogPath(state)
  const actId = randomUUID()
  const line = (step: string, more: object): void =>
    append(path, { act_id: actId, step, at: new Date().toISOString(), ...more })
  const end = (step: string, more: object): void => {
    try {
      line(step, more)
    } catch (cause) {
      onUnwritten(endUnwritten(path, actId, cause))
    }
  }
  const changes: AnyChange[] = []
  try {
    line('begin', { ...whoami(), ...facts })
  } catch (cause) {
    throw unwritable(path, cause)
  }
  let result: T
  try {
    result = await run(changes)
  } catch (error) {
    const code = error instanceof IpriskError ? error.code : 'unexpected'
    end(isUnknown(error) ? 'unknown' : 'failed', { code, [member]: changes })
    throw error
  }
  end('done', { [member]: changes })
  return result
}

const isEnd = (step: unknown): step is AuditEntry['result'] =>
  step === 'done' || step === 'failed' || step === 'unknown'

/** `undefined` for a line without the members that readers need; it is skipped. */
function lineOf(text: string): JsonObject | undefined {
  const value = parseJson(text)
  if (!isJsonObject(value)) return undefined
  return (value['step'] === 'begin' ? isBegin(value) : hasChanges(value)) ? value : undefined
}

const isText = (value: unknown): boolean => typeof value === 'string'

const isBegin = (line: JsonObject): boolean => {
  const { at, user, act, via, keys, list, entries = [], entry_count: count = 0 } = line
  return (
    [at, user, act, via ?? '', list ?? ''].every(isText) &&
    typeof count === 'number' &&
    [keys, entries].every((texts) => Array.isArray(texts) && texts.every(isText))
  )
}

const areObjects = (value: unknown, members: readonly string[] = []): boolean =>
  Array.isArray(value) &&
  value.every((one) => isJsonObject(one) && members.every((name) => isJsonObject(one[name])))

const hasChanges = ({
  changes = [],
  list_changes: lists = [],
  server_changes: server = [],
}: JsonObject): boolean => areObjects(changes, ['after']) && areObjects(lists) && areObjects(server)

/**
 * The last acts, oldest first, and how many lines could not be read; with `before` those that began
 * before that time, read only from the last `tailBytes` of the file.
 */
export async function readAuditLog(
  state: string,
  last: number,
  how: { readonly before?: string | undefined; readonly tailBytes?: number } = {},
): Promise<{ readonly entries: readonly AuditEntry[]; readonly broken: number }> {
  const path = auditLogPath(state)
  if (!existsSync(path)) return { entries: [], broken: 0 }
  // Keyed by act: a Map keeps the order of their first lines.
  const entries = new Map<unknown, AuditEntry>()
  let broken = 0
  const { before = '\uffff', tailBytes = Infinity } = how
  const start = Math.max(0, statSync(path).size - tailBytes)
  // The first line of a tail is a piece of one.
  let isCut = start > 0
  const input = createReadStream(path, { encoding: 'utf8', start })
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    if (isCut) {
      isCut = false
      continue
    }
    const line = lineOf(text)
    const { step, ...rest } = line ?? {}
    const actId = line?.['act_id']
    const begun = entries.get(actId)
    if (step === 'begin') {
      if (String(rest['at']) >= before) continue
      const opened = { ...rest, result: 'unknown', changes: [] }
      entries.set(actId, opened as unknown as AuditEntry)
    } else if (begun !== undefined && isEnd(step)) {
      // It keeps the instant of its beginning.
      entries.set(actId, { ...begun, ...rest, at: begun.at, result: step })
    } else if (line === undefined) broken += 1
    // Twice as many as wanted, because acts of several processes overlap.
    if (entries.size > last * 2 + 100) entries.delete(entries.keys().next().value)
  }
  return { entries: [...entries.values()].slice(-last), broken }
}
