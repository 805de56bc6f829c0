// Layers and dictionaries to the table's content: a verdict for each distinct (evidence, network),
// a record for each distinct (network, place, verdict, evidence), and the sections that hold them.

import type { TableCoverage } from '../src/model/coverage.ts'
import type { Reason, Verdict } from '../src/model/verdict.ts'
import { networkWords, verdictWords } from '../src/schema/table-layout.ts'
import { packTraits } from '../src/table/file/network-record.ts'
import { packReason, packVerdict } from '../src/table/file/verdict-record.ts'
import { densitySections } from './evidence/listing-density.ts'
import { cleanSource } from './evidence/source-list.ts'
import { newVerdictBook, type VerdictInputs } from './judge-evidence.ts'
import { newInterner, newTupleInterner } from './layer/intern.ts'
import type { Layers } from './layer/layer.ts'
import { type PairedLayers, joinEvidence } from './layer/overlay.ts'
import { orderRecords } from './layer/size-order.ts'
import { ipv4Sections, ipv6Sections } from './write/address-sections.ts'
import type { TableContent } from './write/write-table.ts'
import { type Locations, newCountryPlaces } from './places/place.ts'
import type { PlaceRuns } from './places/place-runs.ts'
import { newStringCollector, runSections, type StringCollector } from './write/text-sections.ts'

export interface TableParts extends VerdictInputs {
  readonly coverage: TableCoverage
  /** Id n is at n - 1. */
  readonly locations: Locations
  readonly placeRuns: PlaceRuns
  readonly pairs: PairedLayers
  readonly evidenceLayers: Layers
}

export function assembleTable(parts: TableParts) {
  const strings = newStringCollector()
  const judging = newVerdictBook(parts)
  const records = newTupleInterner()
  const countries = newCountryPlaces(parts.locations)
  const recordOf = (family: 4 | 6, network: number, place: number, list: number): number => {
    const verdict = judging.verdictOf(family, network, list)
    const isAnycast = judging.isAnycast(verdict)
    return records.id(network, isAnycast ? countries.of(place) : place, verdict, list)
  }
  const pieces = joinEvidence(parts.pairs, parts.evidenceLayers, recordOf)
  const recordViews = orderRecords(records.words(), [pieces[4], pieces[6]])
  // What changes daily comes last, so that it moves no other text.
  const places = { read: parts.locations, runs: parts.placeRuns, added: countries.added }
  const runs = runSections(parts.networks, places, strings)
  const networks = packNetworks(parts, judging.asLists, strings)
  const verdictSections = packVerdicts(judging.verdicts, strings)
  const evidenceSections = parts.book.sections(strings.id)
  const densities = densitySections({
    pieces,
    records: recordViews,
    networks: parts.networks,
    lists: parts.lists.lists,
    book: parts.book,
  })
  return {
    boundaries: { 4: pieces[4].count, 6: pieces[6].count },
    verdicts: judging.verdicts,
    content: {
      asOf: parts.asOf,
      sources: parts.sources.map(cleanSource),
      coverage: parts.coverage,
      views: {
        ...ipv4Sections(pieces[4]),
        ...ipv6Sections(pieces[6]),
        records: recordViews,
        networks,
        ...strings.sections(),
        ...verdictSections,
        ...packLists(parts.lists.lists),
        ...evidenceSections,
        ...densities,
        ...runs,
      },
    } as TableContent,
  }
}

function packVerdicts(verdicts: readonly Verdict[], strings: StringCollector) {
  const out = new Uint32Array(verdicts.length * verdictWords)
  const lists = newInterner<readonly Reason[]>((reasons) => JSON.stringify(reasons), 0)
  const reasonList = (reasons: readonly Reason[]): number => lists.id(reasons)
  verdicts.forEach((verdict, index) => {
    packVerdict(verdict, { out, at: index * verdictWords, stringId: strings.id, reasonList })
  })
  const { offsets, items } = concatLists(
    lists.values.map((reasons) => reasons.flatMap((reason) => packReason(reason, strings.id))),
  )
  return { verdicts: out, reason_lists: offsets, reasons: items }
}

function packNetworks(parts: TableParts, asLists: readonly number[], strings: StringCollector) {
  const out = new Uint32Array(parts.networks.length * networkWords)
  parts.networks.forEach((network, index) => {
    const { asn, organization } = network
    out.set(
      [asn, strings.id(organization), packTraits(network), asLists[index] ?? 0],
      index * networkWords,
    )
  })
  return out
}

/** List 0 is empty; the book numbers statements from 1, the table from 0. */
function packLists(lists: readonly (readonly number[])[]) {
  const { offsets, items } = concatLists([[], ...lists])
  return { evidence_lists: offsets, evidence_ids: items.map((id) => id - 1) }
}

/** Concatenates lists; `offsets` separates them. */
function concatLists(lists: readonly (readonly number[])[]) {
  const offsets = new Uint32Array(lists.length + 1)
  lists.forEach((list, index) => {
    offsets[index + 1] = offsets[index]! + list.length
  })
  const items = new Uint32Array(offsets[lists.length] ?? 0)
  lists.forEach((list, index) => items.set(list, offsets[index]))
  return { offsets, items }
}
