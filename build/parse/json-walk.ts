// Walks a JSON stream and reports scalars with their paths, without building objects, so files may
// have any size. Checks the grammar; the library makes the tokens.

import { Tokenizer, TokenizerError, TokenType } from '@streamparser/json'
import { messageOf } from '../../src/base/coded-error.ts'
import { sampleCharactersMax, wrongFormat } from './parse-counts.ts'

export type JsonScalar = string | number | boolean | null
/** Member names and array indexes from the root; valid only during the call. */
export type JsonPath = readonly (string | number)[]

export interface JsonVisitor {
  value(path: JsonPath, value: JsonScalar): void
  open(path: JsonPath): void
}

/** Feeds nest up to seven deep. */
const depthMax = 64

type Expect = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'comma' | 'nothing'

/**
 * RFC 6901: `/prefixes/3/ip_prefix`; the root is `/`. Long names are cut: every entry below keeps
 * its place, and a long name above thousands of entries would fill the memory.
 */
export const pointerOf = (path: JsonPath): string => `/${path.map(escaped).join('/')}`

function escaped(part: string | number): string | number {
  if (typeof part === 'number') return part
  const isLong = part.length > sampleCharactersMax
  const shown = isLong ? `${part.slice(0, sampleCharactersMax)}…` : part
  return /[~/]/.test(shown) ? shown.replaceAll('~', '~0').replaceAll('/', '~1') : shown
}

/**
 * Throws `not_this_format` if the text is invalid, truncated or HTML. `many`: JSON lines, each with
 * its own root.
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
    // Errors of the disk and the sink pass unchanged.
    if (!isJsonError(thrown)) throw thrown
    throw wrongFormat(grammar.place(), 'is not JSON', messageOf(thrown))
  }
  grammar.end()
}

/** The library's errors, and the decoder's for invalid UTF-8. */
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

/** Refuses HTML by the first non-blank byte. */
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
