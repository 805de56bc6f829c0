// Hot within the build: which id a data record has, by its offset in the file, so that each record
// is decoded once. An open-addressed hash in two typed arrays: a JS Map ends at 2^24 entries, and
// an array over all offsets would cost four bytes for every byte of data.
//
// Invariants: the capacity is a power of two, at most 5/8 of it is filled; keys hold offset + 1, so
// that 0 is an empty slot; offsets stay below 2^32 - 1.

/** `idOf` is called once for each distinct offset, in order of first use. */
export function newIdsByOffset(idOf: (offset: number) => number) {
  let capacity = 1 << 12
  let keys = new Uint32Array(capacity)
  let ids = new Uint32Array(capacity)
  let count = 0
  let lastOffset = -1
  let lastId = 0

  const slotOf = (key: number): number => {
    // Multiplicative hashing by 2^32 / golden ratio; the upper bits are the good ones.
    const mask = capacity - 1
    let slot = (Math.imul(key, 0x9e3779b1) >>> 7) & mask
    while (keys[slot] !== 0 && keys[slot] !== key) slot = (slot + 1) & mask
    return slot
  }

  const grow = (): void => {
    const oldKeys = keys
    const oldIds = ids
    capacity *= 2
    keys = new Uint32Array(capacity)
    ids = new Uint32Array(capacity)
    for (let i = 0; i < oldKeys.length; i++) {
      const key = oldKeys[i]!
      if (key === 0) continue
      const slot = slotOf(key)
      keys[slot] = key
      ids[slot] = oldIds[i]!
    }
  }

  /** The id of `offset`; asks `idOf` the first time. */
  const get = (offset: number): number => {
    if (offset === lastOffset) return lastId
    const key = offset + 1
    let slot = slotOf(key)
    if (keys[slot] === 0) {
      const id = idOf(offset)
      if (++count * 8 > capacity * 5) {
        grow()
        slot = slotOf(key)
      }
      keys[slot] = key
      ids[slot] = id
    }
    lastOffset = offset
    lastId = ids[slot]!
    return lastId
  }

  return { get, /** Distinct offsets so far. */ count: (): number => count }
}
