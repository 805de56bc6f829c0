// The entries of own lists that match an address or a network: the compiled file
// (src/lists/open-lists.ts) only knows the lists. Compares keys as texts, without parsing them.

import { newAddressWords } from '../../ip/address.ts'
import { parseAddress } from '../../ip/parse-address.ts'
import { networkWords } from '../../schema/table-layout.ts'
import type { SectionViews } from '../../schema/table-sections.ts'
import { parseCatalogue } from '../../lists/list-catalogue.ts'
import { decodeChunk } from '../../lists/list-chunk.ts'
import { entrySize, formatEntryKey, hex, keyOfAs } from '../../lists/list-entry.ts'
import type { ListStore } from '../../lists/list-store.ts'
import { formatExpiry } from '../../lists/list-text.ts'
import { locate, type Located, newLocated } from '../lookup/locate.ts'
import type { Table } from '../table.ts'
import type { InsightsTable } from './insights.ts'
import type { AddressView } from '../../api/admin-answers.ts'

/** Longer lists are named without their entry. */
const scannedMax = 200_000

export type ListedBy = AddressView['lists'][number]

/** For a list store, and for a file of exported lists. */
export type ReadableLists = Pick<ListStore, 'catalogue' | 'chunks'>

type AskedKeys = ReturnType<typeof askedKeys>

/** `addresses`: their keys as entries. `system`: `''` without an AS. */
function askedKeys(views: SectionViews, words: Uint32Array, located: Located) {
  const { version, ipv4, network } = located
  const asn = network === 0 ? 0 : views.networks[(network - 1) * networkWords]!
  const own = version === 6 ? [`6${Array.from(words, hex).join('').repeat(2)}`] : []
  const inside = ipv4 >= 0 ? [`4${hex(ipv4).repeat(2)}`] : []
  return { addresses: [...own, ...inside], system: asn === 0 ? '' : keyOfAs(asn) }
}

/** The entries that name an address, the most specific first. */
export async function matchingEntries(
  openLists: () => Promise<ReadableLists>,
  { check, reader }: Pick<InsightsTable, 'reader'> & Pick<Table, 'check'>,
  ip: string,
): Promise<readonly ListedBy[]> {
  const names = check(ip)?.lists ?? []
  if (names.length === 0) return []
  const words = newAddressWords()
  const located = newLocated()
  const family = parseAddress(ip, words)
  if (family !== 0) locate(reader.views, family, words, located)
  return entriesWithKeys(await openLists(), names, askedKeys(reader.views, words, located))
}

/** The most specific first; `names`: the matching lists, without them all lists are searched. */
export async function entriesWithKeys(
  store: ReadableLists,
  names: readonly string[] | undefined,
  asked: AskedKeys,
): Promise<readonly ListedBy[]> {
  const catalogue = parseCatalogue((await store.catalogue()).text)
  const nowSeconds = Date.now() / 1000
  const found: (ListedBy & { readonly size: bigint })[] = []
  for (const { name: list, effect, entries, chunks } of catalogue.lists) {
    if (names?.includes(list) === false) continue
    const known = found.length
    const read = entries > scannedMax ? [] : chunks.map(({ id }) => id)
    for (const text of await store.chunks(read)) {
      for (const { key, expires, added, note } of decodeChunk(text ?? '')) {
        if (!isMatch(key, asked) || (expires !== 0 && expires <= nowSeconds)) continue
        const until = expires === 0 ? null : formatExpiry(expires)
        const named = { entry: formatEntryKey(key), since: formatExpiry(added), until, note }
        found.push({ list, effect, ...named, size: entrySize(key) })
      }
    }
    if (found.length > known || names === undefined) continue
    found.push({ list, effect, entry: '', since: '', until: null, note: '', size: widest })
  }
  found.sort((a, b) => (a.size < b.size ? -1 : a.size > b.size ? 1 : 0))
  return found.map(({ size: _size, ...one }) => one)
}

const widest = 1n << 130n

/** Keys: the family's letter, first and last address, with equally many digits. */
function isMatch(key: string, { addresses, system }: AskedKeys): boolean {
  if (key.startsWith('a')) return key === system
  const half = (key.length + 1) / 2
  return addresses.some(
    (address) =>
      key.startsWith(address.charAt(0)) &&
      key.slice(1, half) <= address.slice(half) &&
      address.slice(1, half) <= key.slice(half),
  )
}
