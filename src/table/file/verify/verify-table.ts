// Verifies a whole table file: every checksum, every id, every invariant of lookups. Slow by
// design; run by builds, servers and `iprisk table verify`.

import { isUtf8 } from 'node:buffer'
import { tableTextBytesMax } from '../../../base/limits.ts'
import { mapFile } from '../../../base/system/memory-map.ts'
import { accuracies } from '../../../model/kind.ts'
import * as layout from '../../../schema/table-layout.ts'
import type { SectionName, SectionViews } from '../../../schema/table-sections.ts'
import { sectionNames } from '../../../schema/table-sections.ts'
import { type Fail, tableCorrupt } from '../table-corrupt.ts'
import { readTableView, type TableView, compareChecksums } from '../table-view.ts'
import { verifyIpv6Index } from './verify-ipv6-index.ts'
import { verifyRuns } from './verify-runs.ts'
import { verifyValues } from './verify-values.ts'

/** Five texts before a place's city, and their members' names. */
export const tableRunBytesMax = 5 * tableTextBytesMax + 256

type WordSection = {
  [Name in SectionName]: SectionViews[Name] extends Uint32Array ? Name : never
}[SectionName]

/**
 * `runs` takes as long as everything else. It relies on what `sections` verifies, so its findings
 * count only if that has none.
 */
type TablePart = 'sections' | 'runs'

/**
 * Throws as `openTable` does, and `table_corrupt` for the first fault. `mapped` is the copy of the
 * file that errors name.
 */
export function verifyTable(
  path: string,
  part?: TablePart,
  mapped = path,
): { readonly id: string; readonly bytes: number } {
  const map = mapFile(mapped)
  try {
    const file = readTableView(map.bytes, path)
    const fail: Fail = (section, element, why) => {
      const view = file.views[section]
      const offset = view.byteOffset - map.bytes.byteOffset + element * view.BYTES_PER_ELEMENT
      throw tableCorrupt(path, section, offset, why)
    }
    if (part !== 'runs') verifySections(map.bytes, file, path, fail)
    if (part !== 'sections') verifyRuns(file.views, fail)
    return { id: file.id, bytes: map.bytes.length }
  } finally {
    map.unmap()
  }
}

function verifySections(bytes: Uint8Array, file: TableView, path: string, fail: Fail): void {
  for (const _ of compareChecksums(bytes, file, path));
  checkPadding(bytes, file, path)
  checkIpv4(file, fail)
  checkIpv6(file, fail)
  verifyIpv6Index(file.views, fail)
  checkTails(file, fail)
  checkIds(file, fail)
  checkLists(file, fail)
  checkTexts(file, fail)
  verifyValues(file, fail)
  verifyBounds(file, path, fail)
}

/** Only each vector's length word and zeros lie between sections. */
function checkPadding(bytes: Uint8Array, file: TableView, path: string): void {
  let end = file.headerBytes
  const expectZeros = (to: number, name: string): void => {
    for (let offset = end; offset < to; offset++) {
      if (bytes[offset] !== 0) throw tableCorrupt(path, name, offset, 'the padding is not zero')
    }
  }
  const startOf = (name: SectionName): number => file.views[name].byteOffset - bytes.byteOffset
  for (const name of sectionNames.toSorted((a, b) => startOf(a) - startOf(b))) {
    const from = startOf(name)
    if (from < end) throw tableCorrupt(path, name, from, 'it overlaps the section before it')
    expectZeros(from - 4, name)
    end = from + file.views[name].byteLength
  }
  expectZeros(bytes.length - layout.trailerBytes, 'trailer')
}

function checkIpv4({ views }: TableView, fail: Fail): void {
  const { ipv4_starts: starts, ipv4_index: index } = views
  checkIndex(index, starts.length, 'ipv4_index', fail)
  if (index[1] === 0 || starts[0] !== 0) fail('ipv4_starts', 0, 'it does not begin with 0.0.0.0')
  const size = 2 ** layout.ipv4IndexShift(index.length)
  checkAscent(starts, index, (piece) => fail('ipv4_starts', piece, 'the starts do not ascend'))
  for (let piece = 0; piece < starts.length; piece++) {
    if (starts[piece]! >= size) fail('ipv4_starts', piece, 'it lies past its bucket')
  }
}

function checkIpv6({ views }: TableView, fail: Fail): void {
  const { ipv6_keys: keys, ipv6_index: index } = views
  checkIndex(index, keys.length, 'ipv6_index', fail)
  if (index[1] === 0 || keys[0] !== 0) fail('ipv6_keys', 0, 'it does not begin with 2000::')
  checkAscent(keys, index, (piece) => fail('ipv6_keys', piece, 'the keys do not ascend'))
}

/** The index ascends from no piece to all of them. */
function checkIndex(
  index: Uint32Array,
  count: number,
  section: 'ipv4_index' | 'ipv6_index',
  fail: Fail,
): void {
  if (index[0] !== 0) fail(section, 0, 'it does not begin with 0')
  for (let b = 1; b < index.length; b++) {
    if (index[b]! < index[b - 1]!) fail(section, b, 'it does not ascend')
  }
  const end = index.length - 1
  if (index[end] !== count) fail(section, end, 'it does not end at the end')
}

/** Values ascend inside each bucket. */
function checkAscent(
  below: Uint16Array | Uint32Array,
  index: Uint32Array,
  failAt: (piece: number) => never,
): void {
  for (let bucket = 0; bucket + 1 < index.length; bucket++) {
    const end = index[bucket + 1]!
    for (let piece = index[bucket]! + 1; piece < end; piece++) {
      if (below[piece]! <= below[piece - 1]!) failAt(piece)
    }
  }
}

function checkTails({ views }: TableView, fail: Fail): void {
  const { ipv6_tail_groups: groups, ipv6_tails: tails, ipv6_tail_records: records } = views
  if (groups[0] !== 0) fail('ipv6_tail_groups', 0, 'it does not begin with 0')
  if (groups.at(-1) !== records.length) {
    fail('ipv6_tail_groups', groups.length - 1, 'it does not end at the end')
  }
  for (let group = 0; group + 1 < groups.length; group++) {
    const from = groups[group]!
    const to = groups[group + 1]!
    if (to <= from) fail('ipv6_tail_groups', group + 1, 'a group is empty')
    const at = from * layout.tailWords
    if (tails[at] !== 0 || tails[at + 1] !== 0 || tails[at + 2] !== 0) {
      fail('ipv6_tails', at, 'a group does not begin with tail 0')
    }
    for (let i = from + 1; i < to; i++) {
      if (!ascends(tails, i)) fail('ipv6_tails', i * layout.tailWords, 'the tails do not ascend')
    }
  }
}

function ascends(tails: Uint32Array, i: number): boolean {
  for (let word = 0; word < layout.tailWords; word++) {
    const before = tails[(i - 1) * layout.tailWords + word]!
    const here = tails[i * layout.tailWords + word]!
    if (here !== before) return here > before
  }
  return false
}

function checkIds({ views, sources }: TableView, fail: Fail): void {
  const count = {
    records: views.records.length / layout.recordWords,
    networks: views.networks.length / layout.networkWords,
    countries: views.countries.length / layout.countryWords,
    locations: views.location_runs.length,
    runs: views.runs.length / layout.runElementWords,
    ranges: views.evidence_ranges.length / layout.evidenceRangeWords,
    verdicts: views.verdicts.length / layout.verdictWords,
    evidence: views.evidence.length / layout.evidenceWords,
    strings: views.string_offsets.length - 1,
    reasonLists: views.reason_lists.length - 1,
    evidenceLists: views.evidence_lists.length - 1,
    tailGroups: views.ipv6_tail_groups.length - 1,
  }
  const below = (section: WordSection, limit: number, from = 0, step = 1): void => {
    const view = views[section]
    const at = firstNotBelow(view, limit, from, step)
    if (at >= 0) fail(section, at, `id ${view[at]} is not below ${limit}`)
  }
  below('ipv4_records', count.records)
  below('ipv6_tail_records', count.records)
  const records = views.ipv6_records
  const groupLimit = count.tailGroups + layout.tailGroupFlag
  for (let i = 0; i < records.length; i++) {
    const limit = records[i]! >= layout.tailGroupFlag ? groupLimit : count.records
    if (records[i]! >= limit) fail('ipv6_records', i, `id ${records[i]} is not below ${limit}`)
  }
  below('records', count.networks + 1, 0, layout.recordWords)
  below('records', count.locations + 1, 1, layout.recordWords)
  below('records', count.verdicts, 2, layout.recordWords)
  below('records', count.evidenceLists, 3, layout.recordWords)
  below('networks', count.strings, 1, layout.networkWords)
  below('networks', count.evidenceLists, 3, layout.networkWords)
  below('countries', count.strings)
  below('regions', count.countries + 1, 0, layout.regionWords)
  for (const word of [1, 2]) below('regions', count.strings, word, layout.regionWords)
  below('regions', accuracies.length, 3, layout.regionWords)
  for (const word of [4, 5]) below('regions', count.runs, word, layout.regionWords)
  below('network_runs', count.runs)
  below('location_runs', count.runs)
  for (const word of [1, 4]) below('verdicts', count.strings, word, layout.verdictWords)
  below('verdicts', count.reasonLists, 5, layout.verdictWords)
  below('evidence_ids', count.evidence)
  below('evidence', count.strings, 1, layout.evidenceWords)
  for (let i = 0; i < views.evidence.length; i += layout.evidenceWords) {
    const source = sources[views.evidence[i]! & 0xffff]
    if (source === undefined) fail('evidence', i, 'unknown source')
    if (source?.voice === undefined) fail('evidence', i, 'its source has no weight')
    const isIpv6 = (views.evidence[i]! & (1 << 24)) !== 0
    if (isIpv6 && views.evidence[i + 4]! >= count.ranges) fail('evidence', i + 4, 'unknown range')
  }
  views.reasons.forEach((word, i) => {
    if (word >>> 8 >= count.strings) fail('reasons', i, 'unknown string')
  })
}

/**
 * The first element of every `step` that is not below `limit`, or -1. With two kinds of arrays the
 * loop is several times slower.
 */
function firstNotBelow(words: Uint32Array, limit: number, from: number, step: number): number {
  for (let i = from; i < words.length; i += step) {
    if (words[i]! >= limit) return i
  }
  return -1
}

/** List offsets ascend from 0 to the section's end. */
function checkLists({ views }: TableView, fail: Fail): void {
  const cuts: readonly (readonly [SectionName, number])[] = [
    ['reason_lists', views.reasons.length],
    ['evidence_lists', views.evidence_ids.length],
    ['string_offsets', views.string_bytes.length],
    ['density_lists', views.densities.length],
  ]
  for (const [section, end] of cuts) {
    const offsets = views[section]
    if (offsets[0] !== 0) fail(section, 0, 'it does not begin with 0')
    for (let i = 1; i < offsets.length; i++) {
      if (offsets[i]! < offsets[i - 1]!) fail(section, i, 'the offsets fall')
    }
    if (offsets.at(-1) !== end) fail(section, offsets.length - 1, 'it does not end at the end')
  }
}

/** Each text is UTF-8 by itself. */
function checkTexts({ views }: TableView, fail: Fail): void {
  const { string_offsets: offsets, string_bytes: bytes } = views
  if (!isUtf8(bytes)) fail('string_bytes', 0, 'it is not UTF-8')
  for (let id = 0; id < offsets.length; id++) {
    if ((bytes[offsets[id]!] ?? 0) >>> 6 === 2) fail('string_offsets', id, 'it cuts a character')
  }
}

/**
 * Bounds the texts of an answer, and a network's or place's JSON: a batch has ten thousand of each,
 * so long answers would fill the memory (builds make none: src/base/text/clean-text.ts).
 */
function verifyBounds({ views, sources }: TableView, path: string, fail: Fail): void {
  const { string_offsets: texts } = views
  for (let id = 1; id < texts.length; id++) {
    const bytes = texts[id]! - texts[id - 1]!
    if (bytes > tableTextBytesMax) fail('string_offsets', id, tooLong('a text', bytes))
  }
  views.reasons.forEach((word, at) => {
    const text = word >>> 8
    const bytes = (texts[text + 1] ?? 0) - texts[text]!
    if (bytes > layout.reasonCodeBytesMax) fail('reasons', at, tooLong('its code', bytes))
  })
  const { runs, regions } = views
  for (const section of ['network_runs', 'location_runs'] as const) {
    views[section].forEach((run, id) => {
      const bytes = runs[run * layout.runElementWords] ?? 0
      if (bytes > tableRunBytesMax) fail(section, id, tooLong('its run', bytes))
    })
  }
  for (let at = 0; at < regions.length; at += layout.regionWords) {
    for (const run of [regions[at + 4]!, regions[at + 5]!]) {
      const bytes = runs[run * layout.runElementWords] ?? 0
      if (bytes > tableRunBytesMax) fail('regions', at, tooLong('a run of it', bytes))
    }
  }
  for (const source of sources) {
    for (const text of [source.id, source.kind, source.provider, source.licence, source.homepage]) {
      const bytes = Buffer.byteLength(text)
      if (bytes <= tableTextBytesMax) continue
      throw tableCorrupt(path, 'header', 0, tooLong('a text of a source', bytes))
    }
  }
}

const tooLong = (what: string, bytes: number): string =>
  `${what} has ${bytes} bytes, more than any answer has`
