// Feedback on the disk: a file of lines for each day of arrival, below the state folder, readable
// only by its owner. Workers and commands append to it concurrently, each whole request in one
// write; what was reported as `accepted` is in the file, even if the process dies.
// Forgetting an address overwrites its lines, and notes that mention it, with spaces in place:
// appending processes lose no line by that, and no copy of the file is left. Readers skip spaces.

import { type FileHandle, open, readdir, rm } from 'node:fs/promises'
import { makeOwnFolder, openOwnHandle } from '../base/system/own-files.ts'
import { join } from 'node:path'
import { type IpriskError, environmentError, inputError } from '../base/coded-error.ts'
import { createQueue } from '../base/concurrency.ts'
import { addTo } from '../base/counts.ts'
import { dayOf, formatDay, msPerDay } from '../base/day.ts'
import { parseJsonObject } from '../base/json-object.ts'
import { visitorOf } from '../ip/embedded-text.ts'
import {
  dayBytesMax,
  erasedLine,
  keyDayBytesMax,
  keyOfLine,
  type Outcome,
  outcomeLine,
  readOutcome,
} from './outcome.ts'

export const feedbackFolder = (state: string): string => join(state, 'feedback')

export interface KeptOutcome extends Outcome {
  /** When it arrived, milliseconds since the epoch. */
  readonly receivedMs: number
  /** The key that reported it; `import` for a file. */
  readonly keyId: string
}

const dayForm = /^(\d{4}-\d\d-\d\d)\.jsonl$/
const dayName = (ms: number): string => formatDay(dayOf(ms))

/** Throws `feedback_full`, `feedback_share` for one key, and errors of the disk. */
export async function appendOutcomes(
  state: string,
  outcomes: readonly Outcome[],
  about: { readonly keyId: string; readonly receivedMs: number; readonly bytesMax?: number },
): Promise<void> {
  const { keyId, receivedMs, bytesMax = keyDayBytesMax } = about
  const folder = feedbackFolder(state)
  makeOwnFolder(folder)
  const lines = outcomes.map((one) => outcomeLine(one, about)).join('')
  const path = join(folder, `${dayName(receivedMs)}.jsonl`)
  const file = await openOwnHandle(path, { append: true })
  try {
    const { size } = await file.stat()
    const bytes = Buffer.from((await endsMidLine(file, size)) ? `\n${lines}` : lines)
    if (size + bytes.length > dayBytesMax) throw fullError()
    if (bytesMax < dayBytesMax) {
      const used = await bytesOfKey(file, { path, keyId })
      if (used + Buffer.byteLength(lines) > bytesMax) throw shareError()
    }
    const { bytesWritten } = await file.write(bytes)
    if (bytesWritten < bytes.length) {
      await takeBack(path, bytes.subarray(0, bytesWritten), size)
      throw fullError()
    }
  } finally {
    await file.close()
  }
}

/** Overwrites with spaces what a full disk stored of a request, in place: others may have appended since. */
async function takeBack(path: string, written: Buffer, from: number): Promise<void> {
  const file = await openOwnHandle(path)
  try {
    const { size } = await file.stat()
    const { buffer } = await file.read(Buffer.alloc(size - from), 0, size - from, from)
    const at = buffer.indexOf(written)
    if (at >= 0) await file.write(Buffer.alloc(written.length, ' '), 0, written.length, from + at)
  } finally {
    await file.close()
  }
}

/** A full disk truncated the last line: what follows must begin on a new line. */
async function endsMidLine(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer[0] !== 0x0a
}

function fullError(): IpriskError {
  return environmentError('feedback_full', "Today's storage for feedback is full.")
}

function shareError(): IpriskError {
  return inputError('feedback_share', "The key has used its share of today's storage for feedback.")
}

/** Each key's bytes in one day's file, as far as this process has read it. */
const counted = { path: '', at: 0, bytes: new Map<string, number>() }
const enqueueCount = createQueue()

/** Reads what has been appended since the last call, also by other processes. */
function bytesOfKey(
  file: FileHandle,
  { path, keyId }: { readonly path: string; readonly keyId: string },
): Promise<number> {
  return enqueueCount(async () => {
    if (counted.path !== path) Object.assign(counted, { path, at: 0, bytes: new Map() })
    await eachLine(
      file,
      (line, at) => {
        counted.at = at + line.length + 1
        addTo(counted.bytes, keyOfLine(line.toString('latin1')) ?? '', line.length + 1)
      },
      counted.at,
    )
    return counted.bytes.get(keyId) ?? 0
  })
}

export async function outcomeDays(state: string) {
  const folder = feedbackFolder(state)
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const files = names.flatMap((name) => {
    const day = dayForm.exec(name)?.[1]
    return day === undefined ? [] : [{ day, path: join(folder, name) }]
  })
  return files.sort((a, b) => (a.day < b.day ? -1 : 1))
}

/** Calls `take` with each outcome, in order of arrival; returns how many there were. */
export async function readOutcomes(
  state: string,
  take: (outcome: Outcome) => void,
): Promise<number> {
  let count = 0
  for (const { path } of await outcomeDays(state)) {
    await readDayOutcomes(path, (outcome) => {
      count += 1
      take(outcome)
    })
  }
  return count
}

/** From byte `from` on, until `take` gives false; `at` and `end` are those of the outcome's line. */
export async function readDayOutcomes(
  path: string,
  take: (outcome: KeptOutcome, at: number, end: number) => unknown,
  from = 0,
): Promise<void> {
  const file = await open(path, 'r')
  const takeLine = (line: Buffer, at: number): unknown => {
    const outcome = parseLine(line)
    return outcome === undefined || take(outcome, at, at + line.length + 1)
  }
  try {
    await eachLine(file, takeLine, from)
  } finally {
    await file.close()
  }
}

/** Keyed by day: how many bytes of its file have been read. */
export type FeedbackPosition = Readonly<Record<string, number>>

/** What came after `from`, on days not before `sinceMs`, at most `countMax`; and how far. */
export async function readNewOutcomes(
  state: string,
  from: FeedbackPosition,
  { sinceMs, countMax }: { readonly sinceMs: number; readonly countMax: number },
) {
  const outcomes: (KeptOutcome & { readonly day: string; readonly at: number })[] = []
  const position: Record<string, number> = {}
  for (const { day, path } of await outcomeDays(state)) {
    if (day < dayName(sinceMs)) continue
    position[day] = from[day] ?? 0
    const take = (outcome: KeptOutcome, at: number, end: number): boolean => {
      if (outcomes.length === countMax) return false
      position[day] = end
      return outcomes.push({ ...outcome, day, at }) > 0
    }
    await readDayOutcomes(path, take, position[day])
  }
  return { outcomes, position, isMore: outcomes.length === countMax }
}

/** `undefined` for an erased, truncated or otherwise invalid line. */
function parseLine(line: Buffer): KeptOutcome | undefined {
  const row = parseJsonObject(line)
  if (typeof row === 'string') return undefined
  const { received, key_id: keyId } = row
  const receivedMs = Date.parse(String(received))
  // `at` was checked against the clock when it came in.
  const outcome = readOutcome(row, Infinity)
  if ('message' in outcome || !Number.isFinite(outcome.atMs)) return undefined
  if (Number.isNaN(receivedMs) || typeof keyId !== 'string') return undefined
  return { ...outcome, receivedMs, keyId }
}

/**
 * Overwrites with spaces everything about an innermost address (src/ip/embedded-text.ts). Returns
 * how many outcomes that were, and how many notes of outcomes of other addresses.
 */
export async function eraseOutcomes(state: string, address: string) {
  const erased = { outcomes: 0, notes: 0 }
  for (const { path } of await outcomeDays(state)) {
    const file = await openOwnHandle(path)
    try {
      const found: { readonly at: number; readonly bytes: Buffer }[] = []
      await eachLine(file, (line, at) => {
        const left = erasedLine(line.toString('utf8'), address)
        if (left === undefined) return
        const bytes = Buffer.alloc(line.length, ' ')
        bytes.write(left.line)
        found.push({ at, bytes })
        erased[left.what] += 1
      })
      for (const { at, bytes } of found) await file.write(bytes, 0, bytes.length, at)
      if (found.length > 0) await file.sync()
    } finally {
      await file.close()
    }
  }
  return erased
}

/** Removes the files of days that are at least `days` days ago; returns how many. */
export async function pruneOutcomes(state: string, days: number, nowMs: number): Promise<number> {
  const oldest = dayName(nowMs - days * msPerDay)
  const gone = (await outcomeDays(state)).filter(({ day }) => day <= oldest)
  for (const { path } of gone) await rm(path, { force: true })
  return gone.length
}

/** What a worker's loop reads between two turns, in half a millisecond. */
const blockBytes = 1 << 16
const newline = 0x0a

/**
 * Calls `take` with each line without its end, and where it begins, until it gives false; the last
 * may be cut off.
 */
async function eachLine(
  file: FileHandle,
  take: (line: Buffer, at: number) => unknown,
  from = 0,
): Promise<void> {
  let rest: Buffer = Buffer.alloc(0)
  let at = from
  for (;;) {
    const block = Buffer.alloc(blockBytes)
    const { bytesRead } = await file.read(block, 0, blockBytes, at + rest.length)
    if (bytesRead === 0) {
      if (rest.length > 0) take(rest, at)
      return
    }
    const bytes = Buffer.concat([rest, block.subarray(0, bytesRead)])
    let start = 0
    for (let to = bytes.indexOf(newline); to >= 0; to = bytes.indexOf(newline, start)) {
      if (take(bytes.subarray(start, to), at + start) === false) return
      start = to + 1
    }
    rest = bytes.subarray(start)
    at += start
  }
}

/**
 * The last outcome of each visitor's address (IPv6: /64): one that is reported a thousand times, or
 * under a thousand addresses of one line, counts once. `count` is of all outcomes.
 */
export async function lastOutcomes(
  state: string,
): Promise<{ readonly count: number; readonly outcomes: ReadonlyMap<string, Outcome> }> {
  const outcomes = new Map<string, Outcome>()
  const count = await readOutcomes(state, (one) => {
    const visitor = visitorOf(one.address) ?? one.address
    const known = outcomes.get(visitor)
    if (known === undefined || known.atMs <= one.atMs) outcomes.set(visitor, one)
  })
  return { count, outcomes }
}
