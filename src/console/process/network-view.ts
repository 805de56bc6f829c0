// A prefix or an AS for a person: how many of its addresses have which class, and which entries of own
// lists lie in it or around it.

import type { NetworkView } from '../../api/admin-answers.ts'
import { addTo } from '../../base/counts.ts'
import { type RunSink, walkRuns } from '../../export/value-runs.ts'
import type { Family } from '../../ip/address.ts'
import { asnOfKey, formatEntryKey, parseEntryKey, rangeOfKey } from '../../lists/list-entry.ts'
import { classifications } from '../../model/kind.ts'
import { networkWords, recordWords } from '../../schema/table-layout.ts'
import { within } from '../../sets/list-database.ts'
import { readClassification } from '../../table/file/verdict-record.ts'
import { entriesWithKeys } from '../../table/explain/matching-entries.ts'
import type { OpenTable } from '../../table/open-table.ts'
import { type AnsweringParts, invalid } from './open-answering-parts.ts'

const entriesShownMax = 100

/** Throws `invalid_input` for what is neither. `before`: the previous table, to compare with. */
export async function networkView(
  world: AnsweringParts,
  text: string,
  before: OpenTable | undefined,
): Promise<NetworkView> {
  const key = parseEntryKey(text.trim())
  if (typeof key !== 'string') throw invalid(`${JSON.stringify(text.slice(0, 80))}: ${key.fault}.`)
  const asn = asnOfKey(key)
  const { own, counts } = classCounts(world.table, key)
  const earlier = before && classCounts(before, key).counts
  const store = await (await world.stores()).openLists()
  const asked =
    asn === undefined ? { addresses: [key], system: '' } : { addresses: [], system: key }
  const sums = (family: Family) =>
    classifications.flatMap((classification) => {
      const addresses = counts[family].get(classification) ?? 0
      const past = earlier && { before: earlier[family].get(classification) ?? 0 }
      return addresses + (past?.before ?? 0) > 0 ? [{ classification, addresses, ...past }] : []
    })
  return {
    of: formatEntryKey(key),
    name: own === 0 ? '' : world.table.reader.parts.network(own).organization,
    against: before?.id ?? null,
    ipv4: sums(4),
    ipv6: sums(6),
    lists: (await entriesWithKeys(store, undefined, asked)).slice(0, entriesShownMax),
  }
}

/** Of a prefix or an AS by family and class; `own`: the AS's network record, or 0. */
function classCounts({ reader }: OpenTable, key: string) {
  const { records, networks, verdicts } = reader.views
  const asn = asnOfKey(key)
  const counts = { 4: new Map<string, number>(), 6: new Map<string, number>() }
  let own = 0
  const count: RunSink['run'] = (first, last, value, family) => {
    const size =
      family === 4 ? last[3]! - first[3]! : (last[0]! - first[0]!) * 2 ** 32 + last[1]! - first[1]!
    addTo(counts[family], classifications[value]!, size + 1)
  }
  walkRuns(
    reader.views,
    (is) => {
      if (is < 0) return -1
      const network = records[is * recordWords]!
      const isOther = network === 0 || networks[(network - 1) * networkWords] !== asn
      if (asn !== undefined && isOther) return -1
      if (asn !== undefined) own = network
      return classifications.indexOf(readClassification(verdicts, records[is * recordWords + 2]!))
    },
    { run: asn === undefined ? within(prefixRecord(key), count) : count },
  )
  return { own, counts }
}

/** As of a published set (src/sets/set-records.ts). */
function prefixRecord(key: string): Uint32Array {
  const { first, last } = rangeOfKey(key)
  const bits = (last - first + 1n).toString(2).length - 1
  if (last - first + 1n !== 1n << BigInt(bits))
    throw invalid(
      'Only prefixes and AS numbers have a page; a range that is not a prefix has none.',
    )
  const words = [96n, 64n, 32n, 0n].map((shift) => Number((first >> shift) & 0xffff_ffffn))
  return Uint32Array.of(...words, (128 - bits) << 16)
}
