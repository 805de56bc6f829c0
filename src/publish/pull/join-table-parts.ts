// Assembles a published table from parts of this machine's tables and of the source, segment by
// segment to bound memory.
//
// Invariants: nothing is decompressed before its hash matches, nor to more than the index states;
// the file is renamed, flushed, once its hash is the signed one. `folder` keeps parts until then,
// so an interrupted fetch resumes.

import * as fs from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { messageOf } from '../../base/coded-error.ts'
import { mapInParallel } from '../../base/concurrency.ts'
import { removeTemporaryFiles, replaceWith } from '../../base/system/atomic-file.ts'
import { mapFile, type MappedFile } from '../../base/system/memory-map.ts'
import { readTableView } from '../../table/file/table-view.ts'
import { pullError } from '../fetch/pull-refusal.ts'
import type { ReleaseSource } from '../fetch/release-source.ts'
import { contentName, isNamed, type Release } from '../form/manifest.ts'
import {
  frameName,
  frameRanges,
  type IndexSegment,
  parsePartIndex,
  type PartEntry,
  type PartIndex,
  partIndexTextBytesMax,
} from '../form/part-index.ts'
import { fromPlanes } from '../form/columns.ts'
import { cutTable, tableSegments } from '../form/segments.ts'

const decompress = promisify(brotliDecompress)
const parallelGets = 8

export interface JoinJob {
  readonly source: ReleaseSource
  readonly release: Release
  /** Missing and damaged tables are skipped. */
  readonly near: readonly string[]
  /** Keeps parts until the table is complete. */
  readonly parts: string
  readonly folder: string
  readonly name: string
}

export type PulledBytes = Readonly<Record<'parts' | 'bytes' | 'reusedBytes', number>>
type Moved = { -readonly [Name in keyof PulledBytes]: number }

export async function joinTableParts(job: JoinJob): Promise<PulledBytes> {
  const { release, folder, name } = job
  await mkdir(folder, { recursive: true })
  await mkdir(job.parts, { recursive: true })
  // Left by killed processes, each as large as a table.
  await removeTemporaryFiles(folder)
  const moved = { parts: 0, bytes: 0, reusedBytes: 0 }
  const index = await fetchIndex(job, moved)
  await replaceWith(join(folder, name), 0o644, async (temporary) => {
    const descriptor = fs.openSync(temporary, 'wx', 0o644)
    try {
      fs.ftruncateSync(descriptor, index.bytes)
      for await (const [segment, planes] of segmentsOf(index, job, moved)) {
        writeSegment(descriptor, segment, planes, index)
      }
    } finally {
      fs.closeSync(descriptor)
    }
    if (!isFileNamed(temporary, release.sha256)) {
      throw pullError('table', `the parts of ${release.id} do not match the signed table`)
    }
  })
  await rm(job.parts, { recursive: true, force: true })
  return moved
}

async function fetchIndex({ source, release, parts }: JoinJob, moved: Moved): Promise<PartIndex> {
  const { sha256, bytes: bytesMax } = release.index
  const stored = await storedPart({ source, parts }, [sha256, bytesMax], moved)
  const text = await unpack(stored, partIndexTextBytesMax, release.id)
  const index = parsePartIndex(text.toString('utf8'))
  if (typeof index === 'string') throw pullError('part', `the index of ${release.id}: ${index}`)
  if (index.bytes !== release.bytes) {
    const why = `states ${index.bytes} bytes, not ${release.bytes}`
    throw pullError('part', `the index of ${release.id} ${why}`)
  }
  return index
}

async function* segmentsOf(
  index: PartIndex,
  job: JoinJob,
  moved: Moved,
): AsyncGenerator<readonly [IndexSegment, Uint8Array], void, undefined> {
  const near = openNear(job.near)
  try {
    for (const segment of index.segments) {
      const planes = new Uint8Array(segment.bytes)
      const missing = new Map<string, readonly [PartEntry, number[]]>()
      const here = near.partsOf(segment.name)
      let end = 0
      for (const entry of segment.parts) {
        const at = end
        end += entry[1]
        const own = here.get(entry[0])
        if (own === undefined) {
          const [, wanted] = missing.get(entry[2]) ?? [entry, []]
          missing.set(entry[2], [entry, [...wanted, at]])
        } else {
          planes.set(own, at)
          moved.reusedBytes += own.length
        }
      }
      await mapInParallel([...missing.values()], parallelGets, async ([entry, wanted]) => {
        const part = await fetchPart(job, entry, moved)
        for (const at of wanted) planes.set(part, at)
      })
      yield [segment, planes]
    }
  } finally {
    near.close()
  }
}

async function fetchPart(job: JoinJob, entry: PartEntry, moved: Moved): Promise<Buffer> {
  const [sha256, bytes, storedSha256, storedBytes] = entry
  const stored = await storedPart(job, [storedSha256, storedBytes], moved)
  const part = await unpack(stored, bytes, storedSha256)
  if (part.length !== bytes || !isNamed(part, sha256)) {
    throw pullError('part', `the part ${storedSha256} does not match its index`)
  }
  return part
}

/** From an earlier try, or fetched and kept. */
async function storedPart(
  { source, parts }: Pick<JoinJob, 'source' | 'parts'>,
  [sha256, bytes]: readonly [string, number],
  moved: Moved,
): Promise<Buffer> {
  const path = join(parts, sha256)
  const kept = await readFile(path).catch(() => undefined)
  if (kept !== undefined && isNamed(kept, sha256)) return kept
  const { bytes: stored } = await source.get(`parts/${sha256}`, { bytesMax: bytes })
  if (stored === undefined || stored.length !== bytes || !isNamed(stored, sha256)) {
    throw pullError('part', `the part ${sha256} does not match its hash`)
  }
  moved.parts += 1
  moved.bytes += stored.length
  await writeFile(path, stored)
  return stored
}

async function unpack(stored: Buffer, maxOutputLength: number, what: string): Promise<Buffer> {
  try {
    return await decompress(stored, { maxOutputLength })
  } catch (error) {
    throw pullError('part', `${what} cannot be decompressed: ${messageOf(error)}`, error)
  }
}

function writeSegment(
  descriptor: number,
  segment: IndexSegment,
  planes: Uint8Array,
  index: PartIndex,
): void {
  if (segment.name === frameName) {
    let at = 0
    for (const [from, to] of frameRanges(index.segments, index.bytes)) {
      writeAll(descriptor, planes.subarray(at, at + to - from), from)
      at += to - from
    }
    return
  }
  const rows = new Uint8Array(segment.bytes)
  fromPlanes(planes, rows, segment)
  writeAll(descriptor, rows, segment.from)
}

function writeAll(descriptor: number, bytes: Uint8Array, from: number): void {
  for (let at = 0; at < bytes.length;) {
    at += fs.writeSync(descriptor, bytes, at, bytes.length - at, from + at)
  }
}

function openNear(paths: readonly string[]) {
  const seen = new Set<string>()
  const open = paths.flatMap((path) => {
    let map: MappedFile | undefined
    try {
      // Two names of one file count once.
      const { dev, ino } = fs.statSync(path)
      if (seen.has(`${dev} ${ino}`)) return []
      seen.add(`${dev} ${ino}`)
      map = mapFile(path)
      return [{ map, segments: tableSegments(readTableView(map.bytes, path), map.bytes) }]
    } catch {
      map?.unmap()
      return []
    }
  })
  return {
    /** Valid until the next call. */
    partsOf: (name: string): ReadonlyMap<string, Uint8Array> => {
      const found = new Map<string, Uint8Array>()
      for (const { map, segments } of open) {
        const wanted = segments.filter((segment) => segment.name === name)
        for (const { parts } of cutTable(map.bytes, wanted, segments)) {
          for (const part of parts) found.set(contentName(part), part)
        }
      }
      return found
    },
    close: (): void => {
      for (const { map } of open) map.unmap()
    },
  }
}

export const isFileNamed = (path: string, name: string): boolean =>
  inMap(path, (bytes) => isNamed(bytes, name))

function inMap<T>(path: string, read: (bytes: Uint8Array) => T): T {
  const map = mapFile(path)
  try {
    return read(map.bytes)
  } finally {
    map.unmap()
  }
}

// Keeps the table in use, from an image or a build, before a fetched one replaces it.

export interface AdoptedTable {
  readonly id: string
  readonly from: string
  readonly path: string
}

/** Does nothing if the target exists. */
export function adoptTable({ id, from, path }: AdoptedTable): void {
  if (!fs.existsSync(from) || fs.existsSync(path)) return
  try {
    if (inMap(from, (bytes) => readTableView(bytes, from).id) === id) fs.linkSync(from, path)
  } catch {
    // Not a table, or another user's, which cannot be linked: one rollback target fewer.
  }
}
