// Turns a user's file into plain UTF-8: unpacks gzip, zstd and brotli, decodes marked UTF-16,
// removes byte order marks. Other packings are refused by name.
//
// Damaged or truncated data is not an error: readable data is passed on, then `warn` gets the
// reason. Node's gunzip would drop the block before the damage, so each member is inflated and
// checked here. Memory is bounded by what a slice expands to.

import { Readable, type Transform } from 'node:stream'
import { crc32, createBrotliDecompress, createInflateRaw } from 'node:zlib'
import { Decompress } from 'fzstd'
import { markedEncodingOf, packingMagics } from './byte-order-mark.ts'

export interface UnpackOptions {
  /** Brotli has no magic number and is known by `.br`. */
  readonly name: string
  /** Gets what is wrong: `its gzip data is cut off`. */
  readonly warn: (reason: string) => void
}

/** Throws a reason: `compressed with xz: decompress it first`. */
export async function* unpackText(
  chunks: AsyncIterable<Uint8Array>,
  { name, warn }: UnpackOptions,
): AsyncGenerator<Buffer, void, undefined> {
  const source = newByteSource(chunks)
  const packing = name.endsWith('.br') ? 'brotli' : await packingOf(source)
  if (packing === undefined) yield* decoded(source)
  else {
    const unpack = unpackers[packing]
    if (unpack === undefined) throw new Error(`compressed with ${packing}: decompress it first`)
    yield* decoded(newByteSource(unpack(source, warn)))
  }
}

/** Throws also if the text is longer than `bytesMax`. */
export async function unpackWhole(
  bytes: Uint8Array,
  { bytesMax, ...how }: UnpackOptions & { readonly bytesMax: number },
): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of unpackText(Readable.from([bytes]), how)) {
    length += part.length
    if (length > bytesMax) throw new Error(`it unpacks to more than ${bytesMax} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts, length).toString('utf8')
}

type Unpack = (
  source: ByteSource,
  warn: UnpackOptions['warn'],
) => AsyncGenerator<Buffer, void, undefined>

const unpackers: Readonly<Record<string, Unpack>> = { gzip: gunzip, zstd: unzstd, brotli: unbrotli }

/** Reads no more bytes than needed: typed lines are short. */
async function packingOf(source: ByteSource): Promise<string | undefined> {
  for (let count = 1; ; count += 1) {
    const head = await source.peek(count)
    const begun = Object.entries(packingMagics).filter(([, magic]) =>
      magic.slice(0, count).every((byte, at) => head[at] === byte),
    )
    const whole = begun.find(([, magic]) => magic.length <= count)
    if (whole !== undefined) return whole[0]
    if (begun.length === 0) return undefined
  }
}

type ByteSource = ReturnType<typeof newByteSource>

function newByteSource(chunks: AsyncIterable<Uint8Array>) {
  const rest = chunks[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  /** Peeks at least `count` bytes, fewer at the end. */
  const peek = async (count: number): Promise<Buffer> => {
    while (held.length < count) {
      const { done, value } = await rest.next()
      if (done === true) break
      const next = Buffer.from(value.buffer, value.byteOffset, value.length)
      held = held.length === 0 ? next : Buffer.concat([held, next])
    }
    return held
  }
  return {
    peek,
    /** The next bytes, at most `most`; none at the end. */
    take: async (most: number) => {
      const taken = (await peek(1)).subarray(0, most)
      held = held.subarray(taken.length)
      return taken
    },
    putBack: (bytes: Buffer): void => {
      held = Buffer.concat([bytes, held])
    },
  }
}

async function* decoded(source: ByteSource): AsyncGenerator<Buffer, void, undefined> {
  const first = (await source.peek(1))[0]
  const head = first === 0xef || first === 0xfe || first === 0xff ? await source.peek(3) : undefined
  const encoding = head && markedEncodingOf(head)
  if (encoding !== undefined) await source.take(encoding === 'utf-8' ? 3 : 2)
  const decoder =
    encoding === undefined || encoding === 'utf-8' ? undefined : new TextDecoder(encoding)
  for (;;) {
    const chunk = await source.take(Infinity)
    const isEnd = chunk.length === 0
    const part =
      decoder === undefined ? chunk : Buffer.from(decoder.decode(chunk, { stream: !isEnd }))
    if (part.length > 0) yield part
    if (isEnd) return
  }
}

/** A slice expands at most a thousandfold. */
const sliceBytes = 16_384

/** Concatenated members (RFC 1952, 2.2). */
async function* gunzip(
  source: ByteSource,
  warn: UnpackOptions['warn'],
): AsyncGenerator<Buffer, void, undefined> {
  for (let member = 0; await takeGzipHeader(source, member); member += 1) {
    const sums = { crc: 0, bytes: 0 }
    const end = yield* inflated(createInflateRaw({ chunkSize: 8 * sliceBytes }), source, (part) => {
      sums.crc = crc32(part, sums.crc)
      sums.bytes += part.length
    })
    const trailer = end === 'whole' ? await source.peek(8) : Buffer.alloc(0)
    if (trailer.length < 8) {
      warn(`its gzip data is ${end === 'damaged' ? end : 'cut off'}`)
      return
    }
    if (trailer.readUInt32LE(0) !== sums.crc || trailer.readUInt32LE(4) !== sums.bytes % 2 ** 32) {
      warn('the checksum of its gzip data is wrong')
    }
    await source.take(8)
  }
  await warnOfRest(source, 'gzip', warn)
}

/** Whether there is a header; a truncated one counts only in the first member. */
async function takeGzipHeader(source: ByteSource, member: number): Promise<boolean> {
  const head = await source.peek(10)
  if (head[0] !== packingMagics.gzip[0] || head[1] !== packingMagics.gzip[1]) return false
  const flags = head[3] ?? 0
  let bytes = 10
  if ((flags & 4) > 0) {
    const extra = await source.peek(bytes + 2)
    bytes += 2 + (extra[bytes] ?? 0) + (extra[bytes + 1] ?? 0) * 256
  }
  // File name and comment, each zero-terminated.
  const texts = [8, 16].filter((flag) => (flags & flag) > 0).length
  for (let ended = 0; ended < texts; bytes += 1) {
    if (((await source.peek(bytes + 1))[bytes] ?? 0) === 0) ended += 1
  }
  if ((flags & 2) > 0) bytes += 2
  const isWhole = (await source.peek(bytes)).length >= bytes
  await source.take(bytes)
  return isWhole || member === 0
}

async function* unbrotli(
  source: ByteSource,
  warn: UnpackOptions['warn'],
): AsyncGenerator<Buffer, void, undefined> {
  const end = yield* inflated(createBrotliDecompress(), source, () => undefined)
  if (end !== 'whole') warn(`its brotli data is ${end === 'damaged' ? end : 'cut off'}`)
  else await warnOfRest(source, 'brotli', warn)
}

/** Zeros fill a tape's block. */
async function warnOfRest(
  source: ByteSource,
  packing: string,
  warn: UnpackOptions['warn'],
): Promise<void> {
  const rest = await source.peek(1)
  if (rest.some((byte) => byte !== 0)) warn(`bytes after its ${packing} data are ignored`)
}

/** One zlib stream; bytes after its end stay in the source. */
async function* inflated(
  engine: Transform & { readonly bytesWritten: number },
  source: ByteSource,
  onPart: (part: Buffer) => void,
): AsyncGenerator<Buffer, 'whole' | 'cut off' | 'damaged', undefined> {
  const parts: Buffer[] = []
  const state = { isEnded: false, isFailed: false, wake: (): void => undefined }
  const fail = (): void => {
    state.isFailed = true
    state.wake()
  }
  engine.on('data', (part: Buffer) => parts.push(part))
  engine.once('error', fail)
  engine.once('end', () => {
    state.isEnded = true
    state.wake()
  })
  try {
    for (;;) {
      const slice = await source.take(sliceBytes)
      const before = engine.bytesWritten
      await new Promise<void>((resolve) => {
        state.wake = resolve
        // At the end of a stream only `end` is emitted.
        if (slice.length === 0) engine.end()
        else engine.write(slice, (error) => (error ? fail() : resolve()))
      })
      for (const part of parts.splice(0)) {
        onPart(part)
        yield part
      }
      if (state.isFailed) return slice.length === 0 ? 'cut off' : 'damaged'
      if (!state.isEnded) continue
      source.putBack(slice.subarray(engine.bytesWritten - before))
      return 'whole'
    }
  } finally {
    engine.destroy()
  }
}

/** Four bytes of zstd may expand to two million. */
const zstdSliceBytes = 128

async function* unzstd(
  source: ByteSource,
  warn: UnpackOptions['warn'],
): AsyncGenerator<Buffer, void, undefined> {
  const parts: Uint8Array[] = []
  const engine = new Decompress((part) => parts.push(part))
  for (;;) {
    const slice = await source.take(zstdSliceBytes)
    const isEnd = slice.length === 0
    let isFailed = false
    try {
      engine.push(slice, isEnd)
    } catch {
      isFailed = true
    }
    for (const part of parts.splice(0)) {
      yield Buffer.from(part.buffer, part.byteOffset, part.length)
    }
    if (isFailed) warn(`its zstd data is ${isEnd ? 'cut off' : 'damaged'}`)
    if (isFailed || isEnd) return
  }
}
