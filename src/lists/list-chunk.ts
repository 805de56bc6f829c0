// Entries as they are stored: a list is a row of chunks, ascending by key, each a text of lines
// that is never changed. Adding an entry writes one chunk anew.
//
//   4c0000200c00002ff tj3mps tiklz4 the office        key, expires, added (base 36), note
//   4c6336401c6336401 0 tiklz4

import type { ListEntry } from './list-entry.ts'
import { chunkEntriesMax } from './list-limits.ts'

/** Where a chunk is, and what it begins with. */
export interface ListChunk {
  readonly id: string
  /** The key of its first entry. */
  readonly first: string
  readonly entries: number
  /** The earliest expiry of its entries; 0 where none of them expires. */
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

/** What a chunk is called that is to be stored; ids sort by the time of their making. */
export function newChunkId(nowMs: number): string {
  const random = crypto.getRandomValues(new Uint32Array(2))
  const text = [...random].map((word) => word.toString(36).padStart(7, '0')).join('')
  return `${Math.floor(nowMs / 1000).toString(36)}-${text}`
}

/** When a chunk was made, seconds since the epoch; NaN where the id is another's. */
export function chunkMadeAt(id: string): number {
  return parseInt(id.split('-')[0] ?? '', 36)
}

/** A chunk with its text. */
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
