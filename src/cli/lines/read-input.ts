// The user's input, files or standard input, gzipped or not, as pieces of whole lines. Read only as
// fast as pieces are taken.

import { createReadStream } from 'node:fs'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { IpriskError, messageOf } from '../../base/coded-error.ts'
import { inputName } from './line-format.ts'

/** Longer lines are no addresses, logs or NDJSON. */
const lineBytesMax = 4_194_304

const lineEnd = 0x0a

export interface InputPiece {
  readonly bytes: Uint8Array
  readonly isFirst: boolean
  readonly input: string
  /** So far, of all inputs; compressed if they are. */
  readonly bytesRead: number
}

/** Pieces of about `bytes`. Throws `input_unreadable`, `line_too_long`. */
export async function* readInput(
  inputs: readonly string[],
  how: { readonly bytes: number; readonly stdin: () => Readable; readonly signal: AbortSignal },
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
      for await (const bytes of wholeLines(unpacked(source, counter, how.bytes), input)) {
        yield { bytes, isFirst, input, bytesRead: before + counter.bytes }
        isFirst = false
      }
    } catch (thrown) {
      if (how.signal.aborted) return
      throw thrown instanceof IpriskError ? thrown : unreadable(input, thrown)
    } finally {
      how.signal.removeEventListener('abort', end)
      source.destroy()
    }
    before += counter.bytes
  }
}

/** Decompresses gzip. */
async function* unpacked(
  source: Readable,
  counter: { bytes: number },
  chunkBytes: number,
): AsyncGenerator<Buffer, void, undefined> {
  const chunks = counted(source, counter)
  let head = Buffer.alloc(0)
  // Two bytes may arrive one by one.
  while (head.length < 2) {
    const next = await chunks.next()
    if (next.done === true) break
    head = Buffer.concat([head, next.value])
  }
  const whole = chain(head, chunks)
  if (head[0] === 0x1f && head[1] === 0x8b) yield* gunzip(whole, chunkBytes)
  else yield* whole
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

async function* chain(
  head: Buffer,
  rest: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  if (head.length > 0) yield head
  yield* rest
}

async function* gunzip(
  packed: AsyncIterable<Buffer>,
  chunkSize: number,
): AsyncGenerator<Buffer, void, undefined> {
  const gunzipped = createGunzip({ chunkSize })
  // An error ends what is read here, and is thrown there.
  pipeline(packed, gunzipped, () => undefined)
  yield* gunzipped as AsyncIterable<Buffer>
}

/** As they come: a slow writer's lines are answered one by one. */
async function* wholeLines(
  chunks: AsyncIterable<Buffer>,
  input: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  let pending: Buffer[] = []
  let size = 0
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(lineEnd) + 1
    if (end > 0) {
      yield joined(pending, chunk.subarray(0, end))
      pending = []
      size = 0
    }
    if (end === chunk.length) continue
    pending.push(chunk.subarray(end))
    size += chunk.length - end
    if (size > lineBytesMax) throw lineTooLong(input)
  }
  if (size > 0) yield joined(pending, Buffer.alloc(0))
}

function joined(pending: readonly Buffer[], last: Buffer): Uint8Array {
  return pending.length === 0 ? last : Buffer.concat([...pending, last])
}

function unreadable(input: string, cause: unknown): IpriskError {
  return new IpriskError({
    code: 'input_unreadable',
    message: `${inputName(input)} cannot be read: ${messageOf(cause)}`,
    fault: 'environment',
    cause,
  })
}

function lineTooLong(input: string): IpriskError {
  return new IpriskError({
    code: 'line_too_long',
    message: `${inputName(input)} has a line of more than ${lineBytesMax} bytes: it is no file of lines.`,
    fault: 'input',
  })
}
