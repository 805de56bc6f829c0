// Prefixes that nest, to sorted pieces that each name their innermost prefix (list-file.ts). IPv4
// has one word, IPv6 four.
//
//   10.0.0.0/8 ──────────────────────── node 1
//      10.1.0.0/16 ───────                 node 2, parent 1
//   pieces: 10.0.0.0 → 1 · 10.1.0.0 → 2 · 10.2.0.0 → 1 · 11.0.0.0 → 0
//
// Invariants: prefixes of one family either nest or do not meet, so a stack of the open ones is the
// whole state; equal prefixes nest in their order.

import { grown } from '../../base/grown-array.ts'
import { compareWords } from '../../ip/address.ts'
import { addPower } from '../../ip/prefix-split.ts'

export interface PrefixColumn {
  readonly words: 1 | 4
  count: number
  firsts: Uint32Array
  lengths: Uint8Array
  tags: Uint32Array
}

export function newPrefixColumn(words: 1 | 4): PrefixColumn {
  const room = 1024
  return {
    words,
    count: 0,
    firsts: new Uint32Array(room * words),
    lengths: new Uint8Array(room),
    tags: new Uint32Array(room),
  }
}

export function addPrefix(column: PrefixColumn, length: number, tag: number): number {
  const { words } = column
  const at = column.count
  if (at === column.tags.length) {
    column.firsts = grown(column.firsts, at * 2 * words)
    column.lengths = grown(column.lengths, at * 2)
    column.tags = grown(column.tags, at * 2)
  }
  column.lengths[at] = length
  column.tags[at] = tag
  column.count = at + 1
  return at
}

export type Pieces = ReturnType<typeof piecesOf>

/** `makeNode` gets a prefix's tag and the node that covers it, 0 for none. */
export function piecesOf(column: PrefixColumn, makeNode: (tag: number, parent: number) => number) {
  const { words, firsts, lengths, tags, count } = column
  const order = sortedOrder(column)
  const starts = new Uint32Array((2 * count + 1) * words)
  const nodes = new Uint32Array(2 * count + 1)
  let pieces = 1
  const begin = (source: Uint32Array, from: number, node: number): void => {
    if (compareWords(starts, (pieces - 1) * words, source, from, words) === 0) pieces -= 1
    // Neighbours of one node are one piece.
    if (pieces > 0 && nodes[pieces - 1] === node) return
    for (let i = 0; i < words; i++) starts[pieces * words + i] = source[from + i]!
    nodes[pieces] = node
    pieces += 1
  }
  // The open prefixes, outermost first: their nodes, the first addresses after them, and whether
  // there are any. No garbage: there may be a million.
  const open = { depth: 0, nodes: new Uint32Array(16), ends: new Uint32Array(64), last: [false] }
  const nodeAbove = (depth: number): number => (depth === 0 ? 0 : open.nodes[depth - 1]!)
  const closeInnermost = (): void => {
    const depth = (open.depth -= 1)
    // After the last address there is nothing.
    if (open.last[depth] !== true) begin(open.ends, depth * words, nodeAbove(depth))
  }
  const isOver = (at: number): boolean => {
    const inner = open.depth - 1
    if (inner < 0 || open.last[inner] === true) return false
    return compareWords(firsts, at * words, open.ends, inner * words, words) >= 0
  }
  for (let i = 0; i < count; i++) {
    const at = order[i]!
    while (isOver(at)) closeInnermost()
    const { depth } = open
    if (depth === open.nodes.length) {
      open.nodes = grown(open.nodes, depth * 2)
      open.ends = grown(open.ends, depth * 8)
    }
    const node = makeNode(tags[at]!, nodeAbove(depth))
    begin(firsts, at * words, node)
    open.nodes[depth] = node
    for (let k = 0; k < words; k++) open.ends[depth * words + k] = firsts[at * words + k]!
    open.last[depth] = addPower(open.ends, depth * words, words, words * 32 - lengths[at]!)
    open.depth = depth + 1
  }
  while (open.depth > 0) closeInnermost()
  const own = starts.slice(0, pieces * words)
  return { starts: own, nodes: nodes.slice(0, pieces), index: indexOf(own, words) }
}

/**
 * By first address and length. Native sorts of 64 bits, a word of the address above the number of
 * the prefix; equal words are sorted by the next one, and last by length.
 */
function sortedOrder({ words, count, firsts, lengths }: PrefixColumn): Uint32Array {
  const keys = new BigUint64Array(count)
  // The number is in the lower half (little-endian).
  const halves = new Uint32Array(keys.buffer)
  for (let i = 0; i < count; i++) halves[i * 2] = i
  const sortRun = (from: number, to: number, word: number): void => {
    if (to - from < 2 || word > words) return
    for (let i = from; i < to; i++) {
      const at = halves[i * 2]!
      halves[i * 2 + 1] = word === words ? lengths[at]! : firsts[at * words + word]!
    }
    keys.subarray(from, to).sort()
    for (let begin = from, i = from + 1; i <= to; i++) {
      if (i < to && halves[i * 2 + 1] === halves[begin * 2 + 1]) continue
      sortRun(begin, i, word + 1)
      begin = i
    }
  }
  sortRun(0, count, 0)
  const order = new Uint32Array(count)
  for (let i = 0; i < count; i++) order[i] = halves[i * 2]!
  return order
}

/** 4 MiB, of which look-ups touch what they need. */
const bucketsMax = 2 ** 20

/**
 * Lists are dense in few places (2a00::/12), so the buckets lie between the first words of the
 * first and the last start behind 0: two words are their base and shift. Then by bucket, and one
 * more, the last piece that begins at or below the bucket's first address.
 */
function indexOf(starts: Uint32Array, words: 1 | 4): Uint32Array {
  const pieces = starts.length / words
  const base = pieces === 1 ? 0 : starts[words]!
  const span = starts[(pieces - 1) * words]! - base
  const wanted = Math.min(bucketsMax, 2 * pieces)
  let shift = 0
  while (span >>> shift >= wanted) shift += 1
  const buckets = (span >>> shift) + 1
  const index = new Uint32Array(2 + buckets + 1)
  index[0] = base
  index[1] = shift
  let piece = 0
  for (let bucket = 0; bucket < buckets; bucket++) {
    const first = base + bucket * 2 ** shift
    while (piece + 1 < pieces && startsAtOrBelow(starts, piece + 1, words, first)) piece += 1
    index[2 + bucket] = piece
  }
  index[2 + buckets] = pieces - 1
  return index
}

/** With zeros after the first word. */
function startsAtOrBelow(starts: Uint32Array, piece: number, words: 1 | 4, first: number): boolean {
  const at = piece * words
  if (starts[at] !== first) return starts[at]! < first
  for (let i = 1; i < words; i++) if (starts[at + i] !== 0) return false
  return true
}
