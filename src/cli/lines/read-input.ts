// The user's input, files or standard input, compressed or not, as batches of whole lines; a JSON
// array yields one line per element. Reads only as fast as batches are consumed.

import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { environmentError, IpriskError, messageOf } from '../../base/coded-error.ts'
import { unpackText } from '../../base/text/unpack-text.ts'
import { arrayElements } from '../../bulk/array-elements.ts'
import type { BadReason } from '../../bulk/log-line.ts'
import { inputName } from './line-format.ts'

/** Longer lines are not addresses, logs or NDJSON. */
const lineBytesMax = 4_194_304
const charsShown = 200

const lineEnd = 0x0a

export interface InputPiece {
  readonly bytes: Uint8Array
  readonly isFirst: boolean
  readonly input: string
  /** So far, of all inputs; compressed size if they are. */
  readonly bytesRead: number
  /** Why its only line cannot be read. */
  readonly refused?: BadReason
}

/** Batches of about `bytes`. Throws `input_unreadable`. */
export async function* readInput(
  inputs: readonly string[],
  how: {
    readonly bytes: number
    readonly stdin: () => Readable
    readonly signal: AbortSignal
    /** Called with what is wrong with compressed data; what could be decompressed is still
     * delivered. */
    readonly warn: (input: string, reason: string) => void
  },
): AsyncGenerator<InputPiece, void, undefined> {
  let before = 0
  for (const input of inputs) {
    const source =
      input === '-' ? how.stdin() : createReadStream(input, { highWaterMark: how.bytes })
    const end = (): void => void source.destroy()
    how.signal.addEventListener('abort', end, { once: true })
    const counter = { bytes: 0 }
    try {
      let isFirst = true
      let fault = ''
      const unpacked = unpackText(counted(source, counter), {
        name: input,
        warn: (reason) => (fault = reason),
      })
      const isCut = (): boolean => /cut off|damaged/.test(fault)
      for await (const lines of wholeLines(arrayElements(unpacked), isCut)) {
        yield { ...lines, isFirst, input, bytesRead: before + counter.bytes }
        isFirst = false
      }
      if (fault !== '' && isFirst) throw new Error(fault)
      if (fault !== '') how.warn(input, fault)
    } catch (thrown) {
      if (how.signal.aborted) return
      if (thrown instanceof IpriskError) throw thrown
      const message = `${inputName(input)} cannot be read: ${messageOf(thrown)}`
      throw environmentError('input_unreadable', message, { cause: thrown })
    } finally {
      how.signal.removeEventListener('abort', end)
      source.destroy()
    }
    before += counter.bytes
  }
}

async function* counted(
  source: Readable,
  counter: { bytes: number },
): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of source as AsyncIterable<Buffer>) {
    counter.bytes += chunk.length
    yield chunk
  }
}

interface Lines {
  readonly bytes: Uint8Array
  /** Why these cannot be read: the beginning of a line that is too long, or the last, truncated
   * one. */
  readonly refused?: BadReason
}

/** As they arrive: a slow writer's lines are answered one by one. */
async function* wholeLines(
  chunks: AsyncIterable<Uint8Array>,
  isCut: () => boolean,
): AsyncGenerator<Lines, void, undefined> {
  let pending: Uint8Array[] = []
  let size = 0
  const cut = (): Lines => {
    const bytes = Buffer.concat([...pending, Buffer.from('\n')])
    pending = []
    return { bytes, refused: 'line too long' }
  }
  for await (let chunk of chunks) {
    if (size > lineBytesMax) {
      // Skipped up to the end of the line.
      const end = chunk.indexOf(lineEnd) + 1
      if (end === 0) continue
      yield cut()
      size = 0
      chunk = chunk.subarray(end)
    }
    const end = chunk.lastIndexOf(lineEnd) + 1
    if (end > 0) {
      yield { bytes: joined(pending, chunk.subarray(0, end)) }
      pending = []
      size = 0
    }
    if (end === chunk.length) continue
    pending.push(chunk.subarray(end))
    size += chunk.length - end
    if (size > lineBytesMax) pending = [Buffer.concat(pending).subarray(0, charsShown)]
  }
  if (size > lineBytesMax) yield cut()
  else if (size > 0) {
    const bytes = joined(pending, Buffer.alloc(0))
    yield isCut() ? { bytes, refused: 'line cut off' } : { bytes }
  }
}

function joined(pending: readonly Uint8Array[], last: Uint8Array): Uint8Array {
  return pending.length === 0 ? last : Buffer.concat([...pending, last])
}
