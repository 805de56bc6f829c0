// A finished table read back as layers of records, for measures that walk over ranges and sums of
// sizes. The inverse of build/write/address-sections.ts; not for lookups of single addresses.
//
// Invariant: the record at any address is the one that a lookup finds (src/table/lookup/search.ts).

import type { Network } from '../../../src/model/network.ts'
import type { Verdict } from '../../../src/model/verdict.ts'
import { recordWords, tailGroupFlag, tailWords } from '../../../src/schema/table-layout.ts'
import type { SectionViews } from '../../../src/schema/table-sections.ts'
import { newIpv6Starts } from '../../../src/table/lookup/piece-start.ts'
import { ipv4StartList } from '../../../test/table/piece-lists.ts'
import type { AnswerReader } from '../../../src/table/answer/answer-reader.ts'
import { readNetwork } from '../../../src/table/file/network-record.ts'
import { readVerdict } from '../../../src/table/file/verdict-record.ts'
import { type Layer, type Layers, newLayerPieces } from '../../../build/layer/layer.ts'
import { pieceSize } from './address-count.ts'
import { type ScoredPiece, type AccessSpace, accessSpace } from './address-space.ts'

/** Of a table: layers whose values are records, and what a record says. */
export interface TableRecords {
  readonly layers: Layers
  readonly networkOf: (record: number) => Network | undefined
  readonly verdictOf: (record: number) => Verdict
}

export function readTableRecords(reader: Pick<AnswerReader, 'views' | 'strings'>): TableRecords {
  const { views, strings } = reader
  const networks = new Map<number, Network | undefined>()
  const verdicts = new Map<number, Verdict>()
  return {
    layers: { 4: ipv4Layer(views), 6: ipv6Layer(views) },
    networkOf(record) {
      const id = views.records[record * recordWords] ?? 0
      if (id === 0) return undefined
      const network = networks.get(id) ?? readNetwork(views.networks, id, strings)
      networks.set(id, network)
      return network
    },
    verdictOf(record) {
      const id = views.records[record * recordWords + 2] ?? 0
      const verdict = verdicts.get(id) ?? readVerdict(views, id, strings)
      verdicts.set(id, verdict)
      return verdict
    },
  }
}

/** False alarms of the whole table. */
export function tableAccessSpace(records: TableRecords): AccessSpace {
  return accessSpace(scored(records))
}

function* scored({ layers, networkOf, verdictOf }: TableRecords): Iterable<ScoredPiece> {
  for (const family of [4, 6] as const) {
    const layer = layers[family]
    for (let piece = 0; piece < layer.count; piece++) {
      const record = layer.values[piece]!
      const network = networkOf(record)
      if (network?.access !== true) continue
      yield { family, size: pieceSize(layer, piece), network, score: verdictOf(record).score }
    }
  }
}

function ipv4Layer(views: SectionViews): Layer {
  const { ipv4_records: values } = views
  return { family: 4, count: values.length, starts: ipv4StartList(views), values }
}

/** What lies outside 2000::/3 is bogon: the layer begins with the record of 2000:: all the same. */
function ipv6Layer(views: SectionViews): Layer {
  const { ipv6_records: records } = views
  const writeStart = newIpv6Starts(views)
  const pieces = newLayerPieces(6)
  const words = new Uint32Array(4)
  for (let at = 0; at < records.length; at++) {
    words.fill(0)
    if (at > 0) writeStart(at, words)
    const [high = 0, low = 0] = words
    const record = records[at]!
    if (record < tailGroupFlag) {
      pieces.add(words, record)
      continue
    }
    const group = record - tailGroupFlag
    const end = views.ipv6_tail_groups[group + 1]!
    for (let tail = views.ipv6_tail_groups[group]!; tail < end; tail++) {
      const [a = 0, b = 0, c = 0] = views.ipv6_tails.subarray(
        tail * tailWords,
        tail * tailWords + 3,
      )
      words.set([high, (low | a) >>> 0, b, c])
      pieces.add(words, views.ipv6_tail_records[tail]!)
    }
  }
  return pieces.layer()
}
