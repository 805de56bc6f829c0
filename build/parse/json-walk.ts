// Walks a JSON text as it arrives and reports scalars with their path. It never builds an object or
// an array: what it holds is the path, so a file of any size costs one string. The grammar between
// tokens is checked here; the tokens themselves come from the library.
// Not a reader of feeds: what a path means is the caller's.

import { Tokenizer, TokenizerError, TokenType } from '@streamparser/json'
import { messageOf } from '../../src/base/coded-error.ts'
import { sampleCharactersMax, wrongFormat } from './parse-counts.ts'

export type JsonScalar = string | number | boolean | null
/** Member names and array indexes from the root; valid during the call only. */
export type JsonPath = readonly (string | number)[]

export interface JsonVisitor {
  value(path: JsonPath, value: JsonScalar): void
  /** An object or array begins at `path`. */
  open(path: JsonPath): void
}

/** Feeds nest up to seven deep. */
const depthMax = 64

type Expect = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'comma' | 'nothing'

/**
 * RFC 6901: `/prefixes/3/ip_prefix`; the root is `/`. Of a long name it has the beginning: every
 * entry below keeps its place, and a name of a megabyte above a thousand would fill the memory.
 */
export function pointerOf(path: JsonPath): string {
  return `/${path.map(escaped).join('/')}`
}

function escaped(part: string | number): string | number {
  if (typeof part === 'number') return part
  const isLong = part.length > sampleCharactersMax
  const shown = isLong ? `${part.slice(0, sampleCharactersMax)}…` : part
  return /[~/]/.test(shown) ? shown.replaceAll('~', '~0').replaceAll('/', '~1') : shown
}

/**
 * Throws `not_this_format` where the text is no JSON, is cut off, or is HTML. With `many` it is one
 * value after the other (JSON lines), each with a path from its own root.
 */
export async function walkJson(
  chunks: AsyncIterable<Uint8Array>,
  visitor: JsonVisitor,
  { many = false }: { readonly many?: boolean } = {},
): Promise<void> {
  const grammar = newGrammar(visitor, many)
  const tokenizer = new Tokenizer()
  tokenizer.onToken = ({ token, value }) => grammar.token(token, value)
  const refuseHtml = newHtmlGuard()
  try {
    for await (const chunk of chunks) {
      refuseHtml(chunk)
      tokenizer.write(chunk)
    }
    tokenizer.end()
  } catch (thrown) {
    // Errors of the disk and of the sink pass as they are; only the library's get a place here.
    if (!isJsonError(thrown)) throw thrown
    throw wrongFormat(grammar.place(), 'is not JSON', messageOf(thrown))
  }
  grammar.end()
}

/** The library's own errors, and the decoder's for bytes that are no UTF-8. */
function isJsonError(thrown: unknown): boolean {
  if (thrown instanceof TokenizerError) return true
  return thrown instanceof TypeError && 'code' in thrown && String(thrown.code).includes('ENCODING')
}

function newGrammar(visitor: JsonVisitor, many: boolean) {
  const path: (string | number)[] = []
  const arrays: boolean[] = []
  let expect: Expect = many ? 'nothing' : 'value'

  const place = (): string => pointerOf(path)
  const refuse = (): never => {
    throw wrongFormat(place(), `is not JSON: expected ${expect}`)
  }
  const closed = (): void => {
    expect = arrays.length === 0 ? 'nothing' : 'comma'
  }
  const open = (isArray: boolean): void => {
    visitor.open(path)
    if (arrays.length >= depthMax) throw wrongFormat(place(), `nests over ${depthMax} deep`)
    arrays.push(isArray)
    path.push(isArray ? 0 : '')
    expect = isArray ? 'first value' : 'first name'
  }
  const close = (isArray: boolean): void => {
    const empty = expect === (isArray ? 'first value' : 'first name')
    if (arrays.at(-1) !== isArray || !(empty || expect === 'comma')) refuse()
    arrays.pop()
    path.pop()
    closed()
  }
  const comma = (): void => {
    const last = path.at(-1)
    if (expect !== 'comma' || last === undefined) return refuse()
    if (typeof last === 'number') path[path.length - 1] = last + 1
    expect = typeof last === 'number' ? 'value' : 'name'
  }
  const takesValue = (): boolean =>
    expect === 'value' || expect === 'first value' || (many && expect === 'nothing')

  return {
    place,
    token(token: TokenType, value: JsonScalar): void {
      if (token === TokenType.COMMA) return comma()
      if (token === TokenType.COLON) {
        if (expect !== 'colon') refuse()
        expect = 'value'
      } else if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) {
        close(token === TokenType.RIGHT_BRACKET)
      } else if (token === TokenType.STRING && (expect === 'name' || expect === 'first name')) {
        path[path.length - 1] = String(value)
        expect = 'colon'
      } else if (!takesValue()) {
        refuse()
      } else if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) {
        open(token === TokenType.LEFT_BRACKET)
      } else {
        visitor.value(path, value)
        closed()
      }
    },
    end(): void {
      if (expect !== 'nothing') throw wrongFormat(place(), 'is where the JSON text breaks off')
    },
  }
}

/** Looks at the first byte that is not blank: an error page begins with `<`. */
function newHtmlGuard(): (chunk: Uint8Array) => void {
  let done = false
  let line = 1
  return (chunk) => {
    for (let at = 0; at < chunk.length && !done; at++) {
      const byte = chunk[at]
      if (byte === 0x0a) line++
      const blank = byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d
      const mark = byte === 0xef || byte === 0xbb || byte === 0xbf
      if (blank || mark) continue
      done = true
      if (byte !== 0x3c) continue
      const start = new TextDecoder().decode(chunk.subarray(at, at + 80))
      throw wrongFormat(`line ${line}`, 'looks like HTML', start)
    }
  }
}
