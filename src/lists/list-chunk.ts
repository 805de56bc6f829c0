// Entries as they are stored: a list is a row of chunks, ascending by key, each a text of lines
// that never changes. Adding an entry rewrites one chunk.
//   4c0000200c00002ff tj3mps tiklz4 the office        key, expires, added (base 36), note
// 4c6336401c6336401 0 tiklz4
// A missing or malformed chunk would leave addresses uncovered: see `chunkFault`.

import { type IpriskError, environmentError } from '../base/coded-error.ts'
import type { ListEntry } from './list-entry.ts'
import { chunkEntriesMax } from './list-limits.ts'

export interface ListChunk {
  readonly id: string
  readonly first: string
  readonly entries: number
  /** 0 if none of its entries expires. */
  readonly soonest: number
}

export function encodeChunk(entries: readonly ListEntry[]): string {
  return entries
    .map(({ key, expires, added, note }) => {
      const line = `${key} ${expires.toString(36)} ${added.toString(36)}`
      return note === '' ? line : `${line} ${note}`
    })
    .join('\n')
}

export function decodeChunk(text: string): ListEntry[] {
  return text.split('\n').map((line) => {
    const key = line.indexOf(' ')
    const expires = line.indexOf(' ', key + 1)
    const end = line.indexOf(' ', expires + 1)
    const added = end < 0 ? line.length : end
    return {
      key: line.slice(0, key),
      expires: parseInt(line.slice(key + 1, expires), 36),
      added: parseInt(line.slice(expires + 1, added), 36),
      note: end < 0 ? '' : line.slice(end + 1),
    }
  })
}

export const isChunkId = (id: unknown): id is string =>
  typeof id === 'string' && /^[\w-]{1,64}$/.test(id)

const lineForm = /^(?:a[0-9a-f]{8}|4[0-9a-f]{16}|6[0-9a-f]{64}) [0-9a-z]{1,7} [0-9a-z]{1,7}(?: |$)/

function isLine(line: string): boolean {
  if (!lineForm.test(line)) return false
  const keyEnd = line.indexOf(' ')
  const half = (keyEnd + 1) / 2
  if (line[0] !== 'a' && line.slice(1, half) > line.slice(half, keyEnd)) return false
  // The compiled file has 32 bits for it.
  return parseInt(line.slice(keyEnd + 1, line.indexOf(' ', keyEnd + 1)), 36) <= 0xffff_ffff
}

/** Follows "its chunk"; `undefined` if it is valid. */
export function chunkFault({ id, entries }: ListChunk, text: string | undefined) {
  if (text === undefined) return `${id} is not in the store`
  const lines = text.split('\n')
  if (lines.length !== entries) return `${id} has ${lines.length} entries instead of ${entries}`
  const bad = lines.findIndex((line) => !isLine(line))
  return bad < 0 ? undefined : `${id} is malformed in line ${bad + 1}`
}

export function damagedListError(list: string, fault: string): IpriskError {
  const message =
    `The list${list === '' ? '' : ` ${list}`} cannot be read: its chunk ${fault}. ` +
    'Restore it with "iprisk state restore FILE", or delete the list and import it again.'
  return environmentError('lists_damaged', message)
}

/** Ids sort by age. */
export function newChunkId(nowMs: number): string {
  const random = crypto.getRandomValues(new Uint32Array(2))
  const text = [...random].map((word) => word.toString(36).padStart(7, '0')).join('')
  return `${Math.floor(nowMs / 1000).toString(36)}-${text}`
}

/** Seconds since the epoch; NaN for a foreign id. */
export function chunkMadeAt(id: string): number {
  return parseInt(id.split('-')[0] ?? '', 36)
}

export interface MadeChunk {
  readonly chunk: ListChunk
  readonly text: string
}

/** Sorted entries as chunks of even size. */
export function makeChunks(entries: readonly ListEntry[], nowMs: number): MadeChunk[] {
  const count = Math.ceil(entries.length / chunkEntriesMax)
  const size = Math.ceil(entries.length / Math.max(1, count))
  const made: MadeChunk[] = []
  for (let at = 0; at < entries.length; at += size) {
    const own = entries.slice(at, at + size)
    let soonest = 0
    for (const { expires } of own) {
      if (expires !== 0 && (soonest === 0 || expires < soonest)) soonest = expires
    }
    const chunk = { id: newChunkId(nowMs), first: own[0]!.key, entries: own.length, soonest }
    made.push({ chunk, text: encodeChunk(own) })
  }
  return made
}
