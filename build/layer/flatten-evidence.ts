// Flatten: overlapping ranges become disjoint pieces that carry all their evidence. One sweep over
// the starts and ends; nested and partially overlapping ranges are the same to it.
//
//   10.0.0.0/8    ├───────────────── a ─────────────────┤
//   10.0.0.7         ├─ b ─┤
//   partial                        ├────────── c ──────────────┤
//   pieces        │a │ a b │   a   │        a c         │  c   │ 0
//
// Not here: what the evidence means, or which of it wins (src/score), and one-value ranges where
// the more specific wins (networks).

import { grown } from '../../src/base/grown-array.ts'
import type { Family } from '../../src/ip/address.ts'
import { maxAddress, bigintToWords } from '../../src/ip/range.ts'
import type { Layer } from './layer.ts'
import { newLayerPieces } from './pieces.ts'

/** A range of one family and the number (from 1) of what is said of it. */
export interface Observation {
  readonly first: bigint
  readonly last: bigint
  readonly evidence: number
}

/**
 * The values of the layer are list ids; 0 is no evidence. Lists are shared: pass the same `lists`
 * for both families so that ids do not clash.
 */
export function flattenEvidence(
  family: Family,
  observations: readonly Observation[],
  lists: ListInterner,
): Layer {
  // IPv4 fits a double exactly, which sorts several times faster than a bigint.
  return family === 4
    ? sweep(family, observations.map(numbers), { zero: 0, one: 1 }, lists)
    : sweep(family, observations, { zero: 0n, one: 1n }, lists)
}

export interface ListInterner {
  id(evidence: readonly number[]): number
  readonly lists: readonly (readonly number[])[]
}

/** Ids from 1 in order of first appearance; the empty list is 0. */
export function newListInterner(): ListInterner {
  const ids = new Map<string, number>()
  /** Of lists of one, which most are, by that one: a text a list would be most of the work. */
  let single = new Uint32Array(1 << 10)
  const lists: (readonly number[])[] = []
  return {
    lists,
    id(evidence) {
      if (evidence.length === 0) return 0
      if (evidence.length === 1) {
        const only = evidence[0]!
        if (only >= single.length) single = grown(single, Math.max(only + 1, single.length * 2))
        return (single[only] ||= lists.push([only]))
      }
      const key = evidence.join()
      const known = ids.get(key)
      if (known !== undefined) return known
      lists.push([...evidence])
      ids.set(key, lists.length)
      return lists.length
    },
  }
}

interface Ranged<N extends number | bigint> {
  readonly first: N
  readonly last: N
  readonly evidence: number
}

function numbers(observation: Observation): Ranged<number> {
  return {
    first: Number(observation.first),
    last: Number(observation.last),
    evidence: observation.evidence,
  }
}

function sweep<N extends number | bigint>(
  family: Family,
  observations: readonly Ranged<N>[],
  unit: { readonly zero: N; readonly one: N },
  lists: ListInterner,
): Layer {
  const starts = [...observations].sort((a, b) => order(a.first, b.first))
  const ends = [...observations].sort((a, b) => order(a.last, b.last))
  const pieces = newLayerPieces(family)
  const words = new Uint32Array(4)
  const add = (at: N, list: number): void => {
    bigintToWords(family, BigInt(at), words)
    pieces.add(words, list)
  }
  const active: number[] = []
  if (starts[0]?.first !== unit.zero) add(unit.zero, 0)
  let nextStart = 0
  let nextEnd = 0
  const limit = maxAddress(family)
  while (nextEnd < ends.length) {
    const end = ends[nextEnd]!.last
    const start = starts[nextStart]?.first
    let at: N
    if (start !== undefined && start <= end) {
      at = start
    } else {
      if (BigInt(end) === limit) break
      at = ((end as number) + (unit.one as number)) as N
      while (nextEnd < ends.length && ends[nextEnd]!.last === end) {
        remove(active, ends[nextEnd++]!.evidence)
      }
    }
    while (nextStart < starts.length && starts[nextStart]!.first === at) {
      insert(active, starts[nextStart++]!.evidence)
    }
    add(at, lists.id(distinct(active)))
  }
  return pieces.layer()
}

function order<N extends number | bigint>(a: N, b: N): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Keeps `active` ascending; the same evidence may be active several times. */
function insert(active: number[], evidence: number): void {
  let at = active.length
  while (at > 0 && active[at - 1]! > evidence) at--
  active.splice(at, 0, evidence)
}

function remove(active: number[], evidence: number): void {
  active.splice(active.indexOf(evidence), 1)
}

function distinct(active: readonly number[]): readonly number[] {
  if (active.length < 2) return active
  return active.filter((evidence, at) => at === 0 || active[at - 1] !== evidence)
}
