// Reads data records with mmdb-lib's decoder, fenced. The decoder trusts its file: pointer loops,
// deep nesting or huge claimed sizes would make it recurse, run or allocate without end. So a
// record's values, characters and depth are limited, and values must start inside the section.

import { createRequire } from 'node:module'
import type * as DecoderFile from 'mmdb-lib/lib/decoder.js'
import { type IpriskError, messageOf, inputError } from '../../src/base/coded-error.ts'

// `import` gives this CommonJS default export in two shapes, depending on the loader; `require`
// gives one.
const { default: Decoder } = createRequire(import.meta.url)(
  'mmdb-lib/lib/decoder.js',
) as typeof DecoderFile.default

/** A GeoIP2 city record with names in eight languages holds under 300 values. */
const valuesMax = 4096
/** The deepest known layout needs eight. */
const depthMax = 32
/** Strings that records share lie behind pointers; each is decoded once while this has room. */
const cachedMax = 1 << 16
const cachedCharactersMax = 1 << 24
/** All texts of a record, keys included; a city in eight languages has some 5,000 characters. */
const charactersMax = 1 << 17

/** The control byte's upper three bits; 0 means "see the next byte". */
const pointerType = 1
/** In the lower five bits: 65,821 or more bytes or members. */
const hugeSizeCode = 31

class FencedDecoder extends Decoder {
  readonly #bytes: Buffer
  readonly #start: number
  #values = 0
  #depth = 0
  #characters = 0

  constructor(bytes: Buffer, start: number) {
    let cachedCharacters = 0
    const cache = new Map<string | number, { value: unknown; offset: number }>()
    super(bytes, start, {
      get: (key) => cache.get(key),
      set: (key, cursor: { value: unknown; offset: number }) => {
        // Only strings: they decode alike at any depth and need no budget.
        if (typeof cursor.value !== 'string' || cache.size >= cachedMax) return
        cachedCharacters += cursor.value.length
        if (cachedCharacters <= cachedCharactersMax) cache.set(key, cursor)
      },
    })
    this.#bytes = bytes
    this.#start = start
  }

  /** `offset` counts from the section's start. */
  record(offset: number): unknown {
    this.#values = 0
    this.#depth = 0
    this.#characters = 0
    return this.decode(this.#start + offset).value
  }

  override decode(offset: number): { value: unknown; offset: number } {
    const control = this.#bytes[offset]
    if (control === undefined) throw new Error('a value starts past the end')
    if (control >> 5 !== pointerType && (control & 0x1f) === hugeSizeCode) {
      throw new Error('a value claims more than 65,820 bytes or members')
    }
    if (++this.#values > valuesMax) throw new Error(`it holds more than ${valuesMax} values`)
    if (++this.#depth > depthMax) throw new Error(`it is nested more than ${depthMax} deep`)
    const cursor: { value: unknown; offset: number } = super.decode(offset)
    this.#depth--
    if (typeof cursor.value === 'string') this.#characters += cursor.value.length
    if (this.#characters > charactersMax) {
      throw new Error(`its texts have more than ${charactersMax} characters`)
    }
    if (cursor.offset > this.#bytes.length) throw new Error('a value ends past the end')
    return cursor
  }
}

/** Returns a reader of records by offset in the section `[start, end)`; throws `mmdb_invalid`. */
export function newRecordReader(options: {
  readonly path: string
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}): (offset: number) => unknown {
  const { path, bytes, start, end } = options
  const decoder = new FencedDecoder(bytes.subarray(0, end), start)
  return (offset) => {
    try {
      return decoder.record(offset)
    } catch (error) {
      throw mmdbError({
        path,
        offset: start + offset,
        problem: `the data record there cannot be read: ${messageOf(error)}`,
        cause: error,
      })
    }
  }
}

/** `problem` is what is wrong at byte `offset` of `path`. */
export function mmdbError(options: {
  readonly path: string
  readonly offset: number
  readonly problem: string
  readonly cause?: unknown
}): IpriskError {
  const { path, offset, problem, cause } = options
  return inputError(
    'mmdb_invalid',
    `${path}: byte ${offset}: ${problem}. The file is damaged or not an MMDB file; ` +
      'fetch it again from its publisher.',
    { cause },
  )
}
