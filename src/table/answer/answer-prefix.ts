// Hot path: all but `prefixText`. No allocation, throw or closure there.
//
// The widest prefix around an address for which its answer holds (contract 6.4: scope): same
// record, own lists and, because policies see nothing else, decision. Special ranges, the table and
// own lists cut the addresses into pieces. A prefix lies in one piece if its first and last address
// do, so its length is found by bisection. An address inside another one (6to4, NAT64, Teredo)
// starts that many bits later.

import { EMBEDDED, type EmbeddedKind, embeddedKind } from '../../ip/embedded-ipv4.ts'
import { type Family, newAddressWords } from '../../ip/address.ts'
import { formatAddressBytes, formatIpv4Bytes } from '../../ip/format-address-bytes.ts'
import { parseAddress } from '../../ip/parse-address.ts'
import { specialPiece } from '../../ip/special-piece.ts'
import { locate, type Located, newLocated } from '../lookup/locate.ts'
import type { Query } from '../lookup/query.ts'
import { isPieceIpv6, pieceOfIpv4 } from '../lookup/search.ts'
import type { AnswerReader } from './answer-reader.ts'
import { extendAnswer } from './answer-writer.ts'

type Reader = Pick<AnswerReader, 'views' | 'lists'>

const inner = newAddressWords()
const first = newAddressWords()
const last = newAddressWords()

function setBounds(words: Uint32Array, length: number): void {
  for (let i = 0; i < 4; i++) {
    const bits = length - i * 32
    const below = bits >= 32 ? 0 : bits <= 0 ? -1 : -1 >>> bits
    first[i] = words[i]! & ~below
    last[i] = words[i]! | below
  }
}

function lengthAround(reader: Reader, family: Family, words: Uint32Array, bogon: boolean): number {
  let low = 0
  let high = family === 4 ? 32 : 128
  while (low < high) {
    const length = (low + high) >>> 1
    setBounds(words, length)
    const isWhole =
      specialPiece(family, first) === specialPiece(family, last) &&
      (bogon || isOnePiece(reader, family))
    if (isWhole) high = length
    else low = length + 1
  }
  return low
}

function isOnePiece({ views, lists }: Reader, family: Family): boolean {
  const isPiece =
    family === 4
      ? pieceOfIpv4(views, first[0]!) === pieceOfIpv4(views, last[0]!)
      : isPieceIpv6(views, first, last)
  return (
    isPiece && (lists === undefined || lists.pieceOf(family, first) === lists.pieceOf(family, last))
  )
}

/** Bits before the embedded IPv4 address. */
const bitsBefore: Readonly<Record<EmbeddedKind, number>> = { 0: 0, 1: 0, 2: 16, 3: 96, 4: 96 }

/** Insights also depend on what is listed in the /24, or the /64 of IPv6. */
function lengthOf(reader: Reader, words: Uint32Array, located: Located, insights: boolean): number {
  const { version, ipv4, bogon } = located
  const kind = version === 4 ? EMBEDDED.mapped : embeddedKind(words)
  let length = insights && version === 6 ? 64 : 0
  if (kind !== EMBEDDED.none) {
    inner[0] = ipv4
    const least = Math.max(lengthAround(reader, 4, inner, bogon), insights ? 24 : 0)
    length = Math.max(length, bitsBefore[kind] + least)
  }
  return version === 4 ? length : Math.max(length, lengthAround(reader, 6, words, bogon))
}

const label = Buffer.from(',"prefix":"')
/** Room for the label, the longest prefix and its end, in whole elements. */
const data = new Float64Array(9)
const bytes = new Uint8Array(data.buffer)
bytes.set(label)
/** The member, from the comma before it to the answer's brace. */
const tail = { data, bytes: 0 }

/** What follows the first address, by length. */
const ends = Array.from({ length: 129 }, (_, length) => Buffer.from(`/${length}"}`))

/** Appends the prefix to an answer's `body`; `located` is that of `query`. */
export function withPrefix(
  reader: Reader,
  { words }: Query,
  located: Located,
  body: Uint8Array,
): Uint8Array {
  tail.bytes = writePrefix(reader, words, located, false)
  return extendAnswer(body, tail)
}

/** Writes after the label, including the answer's brace; returns the end. */
function writePrefix(
  reader: Reader,
  words: Uint32Array,
  located: Located,
  insights: boolean,
): number {
  const length = lengthOf(reader, words, located, insights)
  const isIpv4 = located.version === 4
  if (isIpv4) inner[0] = located.ipv4
  setBounds(isIpv4 ? inner : words, length)
  const at = isIpv4
    ? formatIpv4Bytes(first[0]!, bytes, label.length)
    : formatAddressBytes(first, bytes, label.length)
  bytes.set(ends[length]!, at)
  return at + ends[length]!.length
}

/** For answers as objects; `text` must be an address. */
export function prefixText(reader: Reader, text: string, insights: boolean): string {
  const words = newAddressWords()
  const located = newLocated()
  const family = parseAddress(text, words)
  locate(reader.views, family === 4 ? 4 : 6, words, located)
  const end = writePrefix(reader, words, located, insights)
  return Buffer.from(bytes.subarray(label.length, end - 2)).toString('latin1')
}
