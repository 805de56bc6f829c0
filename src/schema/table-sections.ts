// The sections of a table file as one list: name, how the reader takes its zero-copy view, how the
// writer adds it. FORMAT.md says what each holds. The order is the order of the checksums.

import type { Builder, Offset } from 'flatbuffers'
import { TableHeader } from './generated/iprisk/table-header.ts'

/** The views that sections are made of. All are little-endian, aligned to 64 bytes in the file. */
export type SectionView = Uint32Array | Uint16Array | Float64Array | Uint8Array

interface Section<V extends SectionView> {
  /** Bytes of one element. */
  readonly elementBytes: 1 | 2 | 4 | 8
  readonly read: (header: TableHeader) => V | null
  readonly add: (builder: Builder, vector: Offset) => void
}

function uint32s(
  read: (header: TableHeader) => Uint32Array | null,
  add: (builder: Builder, vector: Offset) => void,
): Section<Uint32Array> {
  return { elementBytes: 4, read, add }
}

export const sections = {
  ipv4_index: uint32s(
    (h) => h.ipv4IndexArray(),
    (b, v) => TableHeader.addIpv4Index(b, v),
  ),
  ipv4_starts: {
    elementBytes: 2,
    read: (h: TableHeader) => h.ipv4StartsArray(),
    add: (b: Builder, v: Offset) => TableHeader.addIpv4Starts(b, v),
  } satisfies Section<Uint16Array>,
  ipv4_records: uint32s(
    (h) => h.ipv4RecordsArray(),
    (b, v) => TableHeader.addIpv4Records(b, v),
  ),
  ipv6_index: uint32s(
    (h) => h.ipv6IndexArray(),
    (b, v) => TableHeader.addIpv6Index(b, v),
  ),
  ipv6_keys: uint32s(
    (h) => h.ipv6KeysArray(),
    (b, v) => TableHeader.addIpv6Keys(b, v),
  ),
  ipv6_records: uint32s(
    (h) => h.ipv6RecordsArray(),
    (b, v) => TableHeader.addIpv6Records(b, v),
  ),
  ipv6_tail_groups: uint32s(
    (h) => h.ipv6TailGroupsArray(),
    (b, v) => TableHeader.addIpv6TailGroups(b, v),
  ),
  ipv6_tails: uint32s(
    (h) => h.ipv6TailsArray(),
    (b, v) => TableHeader.addIpv6Tails(b, v),
  ),
  ipv6_tail_records: uint32s(
    (h) => h.ipv6TailRecordsArray(),
    (b, v) => TableHeader.addIpv6TailRecords(b, v),
  ),
  ipv6_second: uint32s(
    (h) => h.ipv6SecondArray(),
    (b, v) => TableHeader.addIpv6Second(b, v),
  ),
  ipv6_third: uint32s(
    (h) => h.ipv6ThirdArray(),
    (b, v) => TableHeader.addIpv6Third(b, v),
  ),
  records: uint32s(
    (h) => h.recordsArray(),
    (b, v) => TableHeader.addRecords(b, v),
  ),
  networks: uint32s(
    (h) => h.networksArray(),
    (b, v) => TableHeader.addNetworks(b, v),
  ),
  countries: uint32s(
    (h) => h.countriesArray(),
    (b, v) => TableHeader.addCountries(b, v),
  ),
  regions: uint32s(
    (h) => h.regionsArray(),
    (b, v) => TableHeader.addRegions(b, v),
  ),
  verdicts: uint32s(
    (h) => h.verdictsArray(),
    (b, v) => TableHeader.addVerdicts(b, v),
  ),
  reason_lists: uint32s(
    (h) => h.reasonListsArray(),
    (b, v) => TableHeader.addReasonLists(b, v),
  ),
  reasons: uint32s(
    (h) => h.reasonsArray(),
    (b, v) => TableHeader.addReasons(b, v),
  ),
  evidence_lists: uint32s(
    (h) => h.evidenceListsArray(),
    (b, v) => TableHeader.addEvidenceLists(b, v),
  ),
  evidence_ids: uint32s(
    (h) => h.evidenceIdsArray(),
    (b, v) => TableHeader.addEvidenceIds(b, v),
  ),
  evidence: uint32s(
    (h) => h.evidenceArray(),
    (b, v) => TableHeader.addEvidence(b, v),
  ),
  evidence_ranges: uint32s(
    (h) => h.evidenceRangesArray(),
    (b, v) => TableHeader.addEvidenceRanges(b, v),
  ),
  string_offsets: uint32s(
    (h) => h.stringOffsetsArray(),
    (b, v) => TableHeader.addStringOffsets(b, v),
  ),
  string_bytes: {
    elementBytes: 1,
    read: (h: TableHeader) => h.stringBytesArray(),
    add: (b: Builder, v: Offset) => TableHeader.addStringBytes(b, v),
  } satisfies Section<Uint8Array>,
  density_lists: uint32s(
    (h) => h.densityListsArray(),
    (b, v) => TableHeader.addDensityLists(b, v),
  ),
  density_slots: {
    elementBytes: 1,
    read: (h: TableHeader) => h.densitySlotsArray(),
    add: (b: Builder, v: Offset) => TableHeader.addDensitySlots(b, v),
  } satisfies Section<Uint8Array>,
  densities: {
    elementBytes: 8,
    read: (h: TableHeader) => h.densitiesArray(),
    add: (b: Builder, v: Offset) => TableHeader.addDensities(b, v),
  } satisfies Section<Float64Array>,
  network_runs: uint32s(
    (h) => h.networkRunsArray(),
    (b, v) => TableHeader.addNetworkRuns(b, v),
  ),
  location_runs: uint32s(
    (h) => h.locationRunsArray(),
    (b, v) => TableHeader.addLocationRuns(b, v),
  ),
  runs: uint32s(
    (h) => h.runsArray(),
    (b, v) => TableHeader.addRuns(b, v),
  ),
} as const

export type SectionName = keyof typeof sections
export const sectionNames = Object.keys(sections) as readonly SectionName[]

/** One view per section, by name. */
export type SectionViews = {
  readonly [Name in SectionName]: NonNullable<ReturnType<(typeof sections)[Name]['read']>>
}
