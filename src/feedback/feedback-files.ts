// Feedback on the disk: a file of lines for each day on which it came in, below the state folder,
// for its owner alone. Workers and commands append to it at the same time, each whole request in
// one write; what a reader of `accepted` was told is in the file, whatever becomes of the process.
//
// Forgetting an address writes spaces over its lines, in place: nobody who appends can lose a line
// by that, and no copy of the file is left. Readers skip such lines.

import { type FileHandle, open, readdir, rm } from 'node:fs/promises'
import { makeOwnFolder, openOwnHandle } from '../base/system/own-files.ts'
import { join } from 'node:path'
import { IpriskError } from '../base/coded-error.ts'
import { dayOf, formatDay, msPerDay } from '../base/day.ts'
import { parseJsonObject } from '../base/json-object.ts'
import { dayBytesMax, lineStartOf, type Outcome, outcomeLine, readOutcome } from './outcome.ts'

export const feedbackFolder = (state: string): string => join(state, 'feedback')

export interface KeptOutcome extends Outcome {
  /** When it came in, milliseconds since the epoch. */
  readonly receivedMs: number
  /** Of the key that reported it; `import` of a file. */
  readonly keyId: string
}

const dayForm = /^(\d{4}-\d\d-\d\d)\.jsonl$/
const dayName = (ms: number): string => formatDay(dayOf(ms))

/** Throws `feedback_full`, and what the disk says. */
export async function appendOutcomes(
  state: string,
  outcomes: readonly Outcome[],
  about: { readonly keyId: string; readonly receivedMs: number },
): Promise<void> {
  const folder = feedbackFolder(state)
  makeOwnFolder(folder)
  const lines = outcomes.map((one) => outcomeLine(one, about)).join('')
  const file = await openOwnHandle(join(folder, `${dayName(about.receivedMs)}.jsonl`), {
    append: true,
  })
  try {
    const { size } = await file.stat()
    const bytes = Buffer.from((await endsMidLine(file, size)) ? `\n${lines}` : lines)
    if (size + bytes.length > dayBytesMax) throw fullError()
    const { bytesWritten } = await file.write(bytes)
    // The disk is full: what is there of the last line is no line, and readers skip it.
    if (bytesWritten < bytes.length) throw fullError()
  } finally {
    await file.close()
  }
}

/** A full disk cut the last line off: what comes next must begin a line of its own. */
async function endsMidLine(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer[0] !== 0x0a
}

function fullError(): IpriskError {
  const message = 'There is no room for more feedback today.'
  return new IpriskError({ code: 'feedback_full', message, fault: 'environment' })
}

export async function outcomeDays(
  state: string,
): Promise<readonly { readonly day: string; readonly path: string }[]> {
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

/** Calls `take` with each outcome, in the order in which they came in; gives how many there were. */
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

export async function readDayOutcomes(
  path: string,
  take: (outcome: KeptOutcome) => void,
): Promise<void> {
  const file = await open(path, 'r')
  try {
    await eachLine(file, (line) => {
      const outcome = parseLine(line)
      if (outcome !== undefined) take(outcome)
    })
  } finally {
    await file.close()
  }
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

/** Writes spaces over all lines about an address; gives how many there were. */
export async function eraseOutcomes(state: string, address: string): Promise<number> {
  const start = Buffer.from(lineStartOf(address))
  let erased = 0
  for (const { path } of await outcomeDays(state)) {
    const file = await openOwnHandle(path)
    try {
      const found: { readonly at: number; readonly length: number }[] = []
      await eachLine(file, (line, at) => {
        if (line.subarray(0, start.length).equals(start)) found.push({ at, length: line.length })
      })
      for (const { at, length } of found) await file.write(Buffer.alloc(length, ' '), 0, length, at)
      if (found.length > 0) await file.sync()
      erased += found.length
    } finally {
      await file.close()
    }
  }
  return erased
}

/** Removes the files of days that are `days` or more days ago; gives how many. */
export async function pruneOutcomes(state: string, days: number, nowMs: number): Promise<number> {
  const oldest = dayName(nowMs - days * msPerDay)
  const gone = (await outcomeDays(state)).filter(({ day }) => day <= oldest)
  for (const { path } of gone) await rm(path, { force: true })
  return gone.length
}

const blockBytes = 1 << 20
const newline = 0x0a

/** Calls `take` with each line without its end, and where it begins; the last may be cut off. */
async function eachLine(file: FileHandle, take: (line: Buffer, at: number) => void): Promise<void> {
  let rest: Buffer = Buffer.alloc(0)
  let at = 0
  for (;;) {
    const block = Buffer.alloc(blockBytes)
    const { bytesRead } = await file.read(block, 0, blockBytes, at + rest.length)
    if (bytesRead === 0) {
      if (rest.length > 0) take(rest, at)
      return
    }
    const bytes = Buffer.concat([rest, block.subarray(0, bytesRead)])
    let from = 0
    for (let to = bytes.indexOf(newline); to >= 0; to = bytes.indexOf(newline, from)) {
      take(bytes.subarray(from, to), at + from)
      from = to + 1
    }
    rest = bytes.subarray(from)
    at += from
  }
}

/**
 * How each address turned out last: one that is reported a thousand times says no more than once.
 * `count` is of all outcomes.
 */
export async function lastOutcomes(
  state: string,
): Promise<{ readonly count: number; readonly outcomes: ReadonlyMap<string, Outcome> }> {
  const outcomes = new Map<string, Outcome>()
  const count = await readOutcomes(state, (one) => {
    const known = outcomes.get(one.address)
    if (known === undefined || known.atMs <= one.atMs) outcomes.set(one.address, one)
  })
  return { count, outcomes }
}
