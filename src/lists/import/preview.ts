// What an import would do, before it does it: entries, the widest, and which lists they overlap.

import { formatCounted } from '../../base/text/number-format.ts'
import { parseCatalogue } from '../list-catalogue.ts'
import { entrySize, formatEntryKey, type ListEntry } from '../list-entry.ts'
import type { ListStore } from '../list-store.ts'
import { readEntries } from '../merge-entries.ts'
import type { ListFile } from './read-list-file.ts'

/**
 * `lines` are for people. A live list of more than `comparedMax` entries is reported as not
 * compared. Throws what reading lists throws.
 */
export async function previewImport(
  store: ListStore,
  { origin, form, lists }: ListFile,
  comparedMax = Infinity,
) {
  const all = [...lists.values()].flatMap(({ entries }) => entries.map(({ key }) => key))
  const keys = [...new Set(all)]
  let widest = keys[0] ?? ''
  for (const key of keys) {
    // Most are single addresses; sizes are big integers.
    const [first, last] = endsOf(key)
    if (first !== last && entrySize(key) > entrySize(widest)) widest = key
  }
  const [first, last] = widest === '' ? [] : endsOf(widest)
  const single = ['no address', 'a single address'][keys.length] ?? 'single addresses'
  const shown = first === last ? single : `the widest ${formatEntryKey(widest)}`
  const count = formatCounted(keys.length, 'entry', 'entries')
  const lines = [`${origin}, read as ${form}: ${count}, ${shown}`]
  for (const live of parseCatalogue((await store.catalogue()).text).lists) {
    const name = `${live.name} (effect ${live.effect})`
    if (live.entries > comparedMax) {
      lines.push(`not compared with ${name}, which is too long`)
      continue
    }
    const overlaps = overlapCount(keys, await readEntries(store, live.chunks))
    if (overlaps > 0) lines.push(`${formatCounted(overlaps, 'overlaps', 'overlap')} with ${name}`)
  }
  return { entries: keys.length, lines }
}

/**
 * Both begin with the letter of the family, so they sort by address, and no end of one family lies
 * between two of another. An AS overlaps only itself.
 */
function endsOf(key: string): readonly [first: string, last: string] {
  const half = (key.length + 1) / 2
  return key.startsWith('a') ? [key, `${key}.`] : [key.slice(0, half), key[0] + key.slice(half)]
}

/** How many of `keys` share an address with one of `live`, which are sorted. */
function overlapCount(keys: readonly string[], live: readonly ListEntry[]): number {
  const ends = live.map(({ key }) => endsOf(key))
  // The highest end so far: a wide entry may extend past the following ones.
  let highest = ''
  const lasts = ends.map(([, last]) => (highest = last > highest ? last : highest))
  return keys.filter((key) => {
    const [first, last] = endsOf(key)
    // The index of the first entry that begins after this one's end.
    let low = 0
    for (let high = ends.length; low < high;) {
      const middle = (low + high) >>> 1
      if (ends[middle]![0] <= last) low = middle + 1
      else high = middle
    }
    return low > 0 && lasts[low - 1]! >= first
  }).length
}
