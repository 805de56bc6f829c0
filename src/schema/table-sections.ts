// The sections of a table file in the order of their checksums, and flatc's accessors. FORMAT.md
// describes their content.

import type { Builder, Offset } from 'flatbuffers'
import { TableHeader } from './generated/iprisk/table-header.ts'
import * as layout from './table-layout.ts'

/** The types of sections. All are little-endian and aligned to 64 bytes in the file. */
export type SectionView = Uint32Array | Uint16Array | Float64Array | Uint8Array

/** Elements of a row. */
export const sectionWords = {
  ipv4_index: 1,
  ipv4_starts: 1,
  ipv4_records: 1,
  ipv6_index: 1,
  ipv6_keys: 1,
  ipv6_records: 1,
  ipv6_tail_groups: 1,
  ipv6_tails: layout.tailWords,
  ipv6_tail_records: 1,
  ipv6_second: 1,
  ipv6_third: 1,
  records: layout.recordWords,
  networks: layout.networkWords,
  countries: layout.countryWords,
  regions: layout.regionWords,
  verdicts: layout.verdictWords,
  reason_lists: 1,
  reasons: 1,
  evidence_lists: 1,
  evidence_ids: 1,
  evidence: layout.evidenceWords,
  evidence_ranges: layout.evidenceRangeWords,
  string_offsets: 1,
  string_bytes: 1,
  density_lists: 1,
  density_slots: 1,
  densities: 1,
  network_runs: 1,
  location_runs: 1,
  runs: 1,
} as const
export type SectionName = keyof typeof sectionWords
export const sectionNames = Object.keys(sectionWords) as readonly SectionName[]

/** flatc reads `ipv4_index` with `ipv4IndexArray`, and adds it with `addIpv4Index`. */
type Pascal<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Capitalize<Head>}${Pascal<Tail>}`
  : Capitalize<S>
type Reader<Name extends SectionName> = `${Uncapitalize<Pascal<Name>>}Array`

export type SectionViews = {
  readonly [Name in SectionName]: NonNullable<ReturnType<TableHeader[Reader<Name>]>>
}

export function readSection(header: TableHeader, name: SectionName): SectionView | null {
  const pascal = pascalOf(name)
  return header[`${pascal[0]!.toLowerCase()}${pascal.slice(1)}Array` as Reader<SectionName>]()
}

export function addSection(builder: Builder, name: SectionName, vector: Offset): void {
  TableHeader[`add${pascalOf(name)}`](builder, vector)
}

const pascalOf = (name: SectionName): Pascal<SectionName> =>
  name.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase()) as Pascal<SectionName>
