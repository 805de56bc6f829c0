// Writes the table file: a FlatBuffers buffer with room for the sections, checksums, id, trailer.
// It is written under a temporary name, flushed, verified and renamed: the live name never holds
// half a table, and a mapped file is never rewritten.

import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { Builder, type Offset } from 'flatbuffers'
import { IpriskError, messageOf, inputError, environmentError } from '../../src/base/coded-error.ts'
import { type Day, formatDay } from '../../src/base/day.ts'
import { beginReplacing, namesIn, type Replacement } from '../../src/base/system/atomic-file.ts'
import { isProcessAlive } from '../../src/base/system/process.ts'
import type { TableCoverage } from '../../src/model/coverage.ts'
import { KindEntry } from '../../src/schema/generated/iprisk/kind-entry.ts'
import { SectionEntry } from '../../src/schema/generated/iprisk/section-entry.ts'
import { SourceEntry } from '../../src/schema/generated/iprisk/source-entry.ts'
import { TableHeader } from '../../src/schema/generated/iprisk/table-header.ts'
import {
  fileBytesMax,
  formatMajor,
  formatMinor,
  headerBytesMax,
  sectionAlignment,
  trailerBytes,
} from '../../src/schema/table-layout.ts'
import {
  addSection,
  sectionNames,
  type SectionView,
  type SectionViews,
} from '../../src/schema/table-sections.ts'
import type { Source } from '../../src/table/file/table-source.ts'
import { writeTrailer } from '../../src/table/file/trailer.ts'
import { rebuildHint } from '../../src/table/file/table-corrupt.ts'
import { verifyTable } from '../../src/table/file/verify/verify-table.ts'

export interface TableContent {
  readonly asOf: Day
  readonly sources: readonly Source[]
  readonly coverage: TableCoverage
  readonly views: SectionViews
}

export type WrittenTable = ReturnType<typeof writeTable>

/**
 * In parts, because joining would copy. Equal content gives equal bytes. Throws `table_too_large`.
 */
export function encodeTable(content: TableContent) {
  const dataBytes = sectionNames.reduce(
    (sum, name) =>
      sum + (Math.ceil(content.views[name].byteLength / sectionAlignment) + 1) * sectionAlignment,
    headerBytesMax,
  )
  if (dataBytes > fileBytesMax) {
    const size = `The table would have ${dataBytes} bytes; a table file ends at ${fileBytesMax}. `
    throw inputError('table_too_large', `${size}Disable feeds or use coarser location data.`)
  }
  const checksums = sectionNames.map((name) => crc32(bytesOf(content.views[name])))
  const id = tableId(content, checksums)
  const builder = new Builder(dataBytes)
  // The builder fills its buffer from the end: what is added first is last in the file.
  const vectors = sectionNames.map((name) => makeRoom(builder, content.views[name]))
  builder.finish(addHeader(builder, content, { id, checksums, vectors }), 'IPRK')
  const table = builder.asUint8Array()
  const places = sectionNames.map((name, index) => ({
    at: table.length - vectors[index]! + lengthBytes,
    bytes: bytesOf(content.views[name]),
  }))
  places.sort((a, b) => a.at - b.at)
  // The builder left room for the sections' bytes, which stay in their own memory.
  let end = 0
  const parts = places.flatMap(({ at, bytes }) => {
    const between = table.subarray(end, at)
    end = at + bytes.length
    return [between, bytes]
  })
  const headerBytes = places[0]!.at - lengthBytes
  const trailer = writeTrailer({
    fileBytes: table.length + trailerBytes,
    headerBytes,
    headerCrc: crc32(table.subarray(0, headerBytes)),
    major: formatMajor,
  })
  return { id, parts: [...parts, table.subarray(end), trailer] }
}

/**
 * Atomic. Throws the errors of `encodeTable`, `table_refused` if the result does not verify, and
 * `table_unwritable` for disk errors; the old file then stays.
 */
export function writeTable(path: string, content: TableContent) {
  const { id, parts } = encodeTable(content)
  let file: Replacement | undefined
  try {
    mkdirSync(dirname(path), { recursive: true })
    file = beginReplacing(path, 0o644)
    const descriptor = openSync(file.temporary, 'wx', 0o644)
    try {
      for (const bytes of parts) writeFileSync(descriptor, bytes)
    } finally {
      closeSync(descriptor)
    }
    verifyWritten(file.temporary)
    file.commitSync()
  } catch (cause) {
    file?.discard()
    if (cause instanceof IpriskError) throw cause
    const message = `The table could not be written to ${path}: ${messageOf(cause)}`
    throw environmentError('table_unwritable', message, { cause })
  }
  return { id, bytes: parts.reduce((sum, { length }) => sum + length, 0) }
}

/**
 * A table refused here was just made, so the same inputs would fail again: the advice differs from
 * that for a damaged file.
 */
function verifyWritten(temporary: string): void {
  try {
    verifyTable(temporary)
  } catch (cause) {
    if (!(cause instanceof IpriskError) || cause.code !== 'table_corrupt') throw cause
    const why = cause.message.replace(`${temporary} is damaged`, 'it does not hold')
    throw inputError(
      'table_refused',
      'The compiled table does not pass its own verification and is not used; the live one stays: ' +
        `${why.replace(` ${rebuildHint}`, '')} The inputs contain something that the compiler does ` +
        'not expect. Remove what was added or changed last (build.feeds, --networks, ' +
        '--locations) to find the cause, and report it.',
      { cause },
    )
  }
}

const bytesOf = (view: SectionView): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength)

/** Day and content hash. */
function tableId(content: TableContent, checksums: readonly number[]): string {
  const { asOf, sources, coverage } = content
  const facts = { asOf, sources, coverage, checksums, major: formatMajor }
  const hash = createHash('sha256').update(JSON.stringify(facts))
  for (const name of sectionNames) hash.update(bytesOf(content.views[name]))
  return `${formatDay(asOf).replaceAll('-', '')}-${hash.digest('hex').slice(0, 12)}`
}

const lengthBytes = 4

/**
 * An empty vector aligned to 64 bytes, like `createByteVector` without its copy. `prep` pads for
 * all bytes; the length word counts elements.
 */
function makeRoom(builder: Builder, view: SectionView): Offset {
  builder.prep(sectionAlignment, view.byteLength)
  builder.startVector(1, view.byteLength, 1)
  // The builder has no method for this.
  ;(builder as unknown as { space: number }).space -= view.byteLength
  const vector = builder.endVector()
  builder.dataBuffer().writeInt32(builder.dataBuffer().capacity() - vector, view.length)
  return vector
}

function addHeader(
  builder: Builder,
  content: TableContent,
  facts: {
    readonly id: string
    readonly checksums: readonly number[]
    readonly vectors: readonly Offset[]
  },
): Offset {
  const sourceEntries = content.sources.map((source) => addSource(builder, source))
  const sources = TableHeader.createSourcesVector(builder, sourceEntries)
  const sections = sectionNames.map((name, index) => {
    const crc = facts.checksums[index] ?? 0
    return SectionEntry.createSectionEntry(builder, builder.createString(name), crc)
  })
  const checksums = TableHeader.createChecksumsVector(builder, sections)
  const kinds = addKinds(builder, content.coverage)
  const id = builder.createString(facts.id)
  TableHeader.startTableHeader(builder)
  TableHeader.addMajor(builder, formatMajor)
  // Even if it is FlatBuffers' default, 0: a file must contain its version.
  builder.forceDefaults(true)
  TableHeader.addMinor(builder, formatMinor)
  builder.forceDefaults(false)
  TableHeader.addId(builder, id)
  TableHeader.addAsOf(builder, content.asOf)
  TableHeader.addSources(builder, sources)
  TableHeader.addChecksums(builder, checksums)
  TableHeader.addKinds(builder, kinds)
  sectionNames.forEach((name, index) => addSection(builder, name, facts.vectors[index] ?? 0))
  return TableHeader.endTableHeader(builder)
}

function addKinds(builder: Builder, coverage: TableCoverage): Offset {
  const entries = coverage.map(({ kind, state, newest = -1, addresses }) => {
    const name = builder.createString(kind)
    return KindEntry.createKindEntry(builder, name, builder.createString(state), newest, addresses)
  })
  return TableHeader.createKindsVector(builder, entries)
}

function addSource(builder: Builder, source: Source): Offset {
  const { voice } = source
  const text = (of: string): Offset => builder.createString(of)
  const [id, kind, provider] = [text(source.id), text(source.kind), text(source.provider)]
  const [licence, homepage] = [text(source.licence), text(source.homepage)]
  const [group, assurance] = [text(voice?.group ?? ''), text(voice?.assurance ?? '')]
  const asns = SourceEntry.createAsnsVector(builder, Uint32Array.from(voice?.asns ?? []))
  return SourceEntry.createSourceEntry(
    builder,
    id,
    kind,
    provider,
    licence,
    homepage,
    source.day,
    source.entries,
    source.quarantined === true,
    group,
    voice?.weight ?? 0,
    voice?.weightLow ?? 0,
    voice?.weightHigh ?? 0,
    assurance,
    voice?.rolling === true,
    asns,
    voice?.halfLives?.lines ?? 0,
    voice?.halfLives?.shared ?? 0,
    voice?.halfLives?.elsewhere ?? 0,
    voice?.consumer === true,
  )
}

/**
 * Removes temporary files of killed builds, each up to the size of a table, unless their process is
 * alive on this machine. A build in another container may lose its file, and fails loudly.
 */
export function removeStaleTempFiles(path: string): void {
  const folder = dirname(path)
  for (const name of namesIn(folder)) {
    if (!name.startsWith(`.${basename(path)}.`)) continue
    const pid = /^(\d+)\.[0-9a-f-]+\.tmp$/.exec(name.slice(basename(path).length + 2))?.[1]
    if (pid === undefined) continue
    if (Number(pid) !== process.pid && isProcessAlive(Number(pid))) continue
    rmSync(join(folder, name), { force: true })
  }
}
