// The sections of a table file in the order of their checksums, and flatc's accessors for them.
// FORMAT.md says what each holds.

import type { Builder, Offset } from 'flatbuffers'
import { TableHeader } from './generated/iprisk/table-header.ts'

/** The views that sections are made of. All are little-endian, aligned to 64 bytes in the file. */
export type SectionView = Uint32Array | Uint16Array | Float64Array | Uint8Array

export const sectionNames = [
  'ipv4_index',
  'ipv4_starts',
  'ipv4_records',
  'ipv6_index',
  'ipv6_keys',
  'ipv6_records',
  'ipv6_tail_groups',
  'ipv6_tails',
  'ipv6_tail_records',
  'ipv6_second',
  'ipv6_third',
  'records',
  'networks',
  'countries',
  'regions',
  'verdicts',
  'reason_lists',
  'reasons',
  'evidence_lists',
  'evidence_ids',
  'evidence',
  'evidence_ranges',
  'string_offsets',
  'string_bytes',
  'density_lists',
  'density_slots',
  'densities',
  'network_runs',
  'location_runs',
  'runs',
] as const
export type SectionName = (typeof sectionNames)[number]

/** flatc reads `ipv4_index` by `ipv4IndexArray`, and adds it by `addIpv4Index`. */
type Pascal<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Capitalize<Head>}${Pascal<Tail>}`
  : Capitalize<S>
type Reader<Name extends SectionName> = `${Uncapitalize<Pascal<Name>>}Array`

/** One view per section, by name. */
export type SectionViews = {
  readonly [Name in SectionName]: NonNullable<ReturnType<TableHeader[Reader<Name>]>>
}

export function readSection(header: TableHeader, name: SectionName): SectionView | null {
  const pascal = pascalOf(name)
  return header[`${pascal[0]!.toLowerCase()}${pascal.slice(1)}Array` as Reader<SectionName>]()
}

/** Adds to the header that is being built a section whose bytes are `vector`. */
export function addSection(builder: Builder, name: SectionName, vector: Offset): void {
  TableHeader[`add${pascalOf(name)}`](builder, vector)
}

function pascalOf(name: SectionName): Pascal<SectionName> {
  return name.replaceAll(/(?:^|_)(.)/g, (_, letter: string) =>
    letter.toUpperCase(),
  ) as Pascal<SectionName>
}
