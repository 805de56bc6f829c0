// The nodes of a compiled file in the making (list-file.ts). Nodes with the same content and parent
// are one: a million addresses of one list without expiry are one.

import type { ListSections } from './list-file.ts'

/**
 * Sizes as numbers, because big integers would take most of the time: for 2^n addresses, n; for an
 * AS, which is less specific than any range, this; otherwise a number of the table.
 */
export const systemSize = 129

export type NodeTable = ReturnType<typeof newNodeTable>

export function newNodeTable() {
  const sizes = newNumbering<bigint>()
  for (let bits = 0; bits <= systemSize; bits++) sizes.number(1n << BigInt(bits))
  const tags = newTuples(3)
  const nodes = newTuples(2)
  // Node 0 is none.
  nodes.number(0xffff_ffff, 0xffff_ffff, 0)
  return {
    /** As `node` takes it. */
    tag: (owner: number, expires: number, size: number) => tags.number(owner, expires, size),
    /** Not a power of two. */
    oddSize: (addresses: bigint) => sizes.number(addresses),
    node: (tag: number, parent: number) => nodes.number(tag, parent, 0),
    sections: (): Pick<ListSections, 'parents' | 'owners' | 'expiries' | 'ranks'> => {
      const ranks = ranksOf(sizes.values())
      const count = nodes.count()
      const column = (of: (node: number) => number): Uint32Array => {
        const words = new Uint32Array(count)
        for (let node = 1; node < count; node++) words[node] = of(node)
        return words
      }
      const tagOf = (node: number): number => nodes.part(node, 0)
      return {
        parents: column((node) => nodes.part(node, 1)),
        owners: column((node) => tags.part(tagOf(node), 0)),
        expiries: column((node) => tags.part(tagOf(node), 1)),
        ranks: column((node) => ranks[tags.part(tagOf(node), 2)]!),
      }
    },
  }
}

function ranksOf(sizes: readonly bigint[]): Uint32Array {
  const order = sizes.map((size, number) => ({ size, number }))
  order.sort((a, b) => (a.size < b.size ? -1 : 1))
  const ranks = new Uint32Array(sizes.length)
  order.forEach(({ number }, rank) => (ranks[number] = rank))
  return ranks
}

function newNumbering<Value>() {
  const numbers = new Map<Value, number>()
  const values: Value[] = []
  return {
    number: (value: Value) => {
      const known = numbers.get(value)
      if (known !== undefined) return known
      numbers.set(value, values.length)
      return values.push(value) - 1
    },
    values: (): readonly Value[] => values,
  }
}

/** Numbers for tuples of words: an open hash, because a Map of texts takes a second. */
function newTuples(width: 2 | 3) {
  let parts = new Uint32Array(1024 * width)
  let slots = new Uint32Array(4096)
  let count = 0
  const slotOf = (a: number, b: number, c: number): number => {
    let hash = Math.imul(a ^ Math.imul(b, 0x9e37_79b1) ^ Math.imul(c, 0x85eb_ca77), 0xc2b2_ae3d)
    hash ^= hash >>> 15
    const mask = slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      // Slots hold the number and 1.
      const found = slots[slot]!
      if (found === 0) return slot
      const at = (found - 1) * width
      if (parts[at] === a && parts[at + 1] === b && (width === 2 || parts[at + 2] === c))
        return slot
    }
  }
  const grow = (): void => {
    const larger = new Uint32Array(parts.length * 2)
    larger.set(parts)
    parts = larger
    slots = new Uint32Array(slots.length * 2)
    for (let number = 0; number < count; number++) {
      const at = number * width
      slots[slotOf(parts[at]!, parts[at + 1]!, width === 2 ? 0 : parts[at + 2]!)] = number + 1
    }
  }
  return {
    number: (a: number, b: number, c: number) => {
      if ((count + 1) * width > parts.length) grow()
      const slot = slotOf(a, b, c)
      if (slots[slot] !== 0) return slots[slot]! - 1
      parts[count * width] = a
      parts[count * width + 1] = b
      if (width === 3) parts[count * width + 2] = c
      slots[slot] = count + 1
      return count++
    },
    part: (number: number, part: number) => parts[number * width + part]!,
    count: () => count,
  }
}
