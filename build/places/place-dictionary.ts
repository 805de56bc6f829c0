// Numbers distinct Locations from 1, by first appearance, in a hash table over their own members:
// half a million key strings in a Map would cost more memory than the locations. `locations[id -
// 1]` has that id; `slots` is at most half full.

import type { Location } from '../../src/api/check-answer.ts'

export function newPlaceDictionary() {
  const locations: Location[] = []
  let slots = new Uint32Array(1 << 10)

  /** The slot of an equal location, or a free one. */
  const slotOf = (location: Location): number => {
    const mask = slots.length - 1
    let slot = hashOf(location) & mask
    for (;;) {
      const id = slots[slot]!
      if (id === 0 || isEqual(locations[id - 1]!, location)) return slot
      slot = (slot + 1) & mask
    }
  }

  const grow = (): void => {
    slots = new Uint32Array(slots.length * 2)
    for (const [index, location] of locations.entries()) slots[slotOf(location)] = index + 1
  }

  const id = (location: Location): number => {
    const slot = slotOf(location)
    const known = slots[slot]!
    if (known !== 0) return known
    const fresh = locations.push(location)
    slots[slot] = fresh
    if (locations.length * 2 > slots.length) grow()
    return fresh
  }

  return { id, locations }
}

/** Other members follow from the country (place.ts). */
const isEqual = (a: Location, b: Location): boolean =>
  a.latitude === b.latitude &&
  a.longitude === b.longitude &&
  a.city === b.city &&
  a.zip === b.zip &&
  a.state === b.state &&
  a.country_code === b.country_code &&
  a.timezone === b.timezone &&
  a.accuracy === b.accuracy

/** FNV-1a over what distinguishes places. */
function hashOf(location: Location): number {
  let hash = Math.imul(0x811c9dc5 ^ Math.round(location.latitude * 1e4), 0x01000193)
  hash = Math.imul(hash ^ Math.round(location.longitude * 1e4), 0x01000193)
  for (const text of [location.zip, location.city, location.state]) {
    for (let i = 0; i < text.length; i++) {
      hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    }
  }
  // The low bits choose the slot; FNV mixes upwards.
  return (hash ^ (hash >>> 15)) >>> 0
}
