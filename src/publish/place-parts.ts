// Uploads a table's parts and their index to a place, and reads which are there.

import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'
import { contentName, isNamed, type Release, partIndexBytesMax } from './form/manifest.ts'
import { mapInParallel } from '../base/concurrency.ts'
import type { IndexSegment, PartEntry, PartIndex } from './form/part-index.ts'
import { parsePartIndex, partIndexTextBytesMax } from './form/part-index.ts'
import { cutTable, type Segment } from './form/segments.ts'
import type { PublishPlace } from './places/publish-place.ts'

const parallelPuts = 8
const compress = promisify(brotliCompress)
const decompress = promisify(brotliDecompress)

/** The parts present with their length, by hash of the content. */
export async function knownParts(
  place: PublishPlace,
  release: Release,
): Promise<Map<string, PartEntry>> {
  const index = await readIndex(place, release)
  const there = new Map((await place.list('parts')).map(({ name, bytes }) => [name, bytes]))
  const parts = index?.segments.flatMap((segment) => segment.parts) ?? []
  return new Map(
    parts.filter((part) => there.get(partName(part[2])) === part[3]).map((part) => [part[0], part]),
  )
}

/** `undefined` if it does not match the manifest: all parts are uploaded again. */
export async function readIndex(
  place: PublishPlace,
  { index }: Pick<Release, 'index'>,
): Promise<PartIndex | undefined> {
  const bytes = await place.read(partName(index.sha256), partIndexBytesMax)
  if (bytes === undefined || !isNamed(bytes, index.sha256)) return undefined
  const text = await decompress(bytes, { maxOutputLength: partIndexTextBytesMax })
  const parsed = parsePartIndex(text.toString('utf8'))
  return typeof parsed === 'string' ? undefined : parsed
}

export const partName = (sha256: string): string => `parts/${sha256}`

export async function putIndex(place: PublishPlace, index: PartIndex): Promise<Release['index']> {
  const stored = await compressed(Buffer.from(JSON.stringify(index), 'utf8'))
  const sha256 = contentName(stored)
  await place.keep(partName(sha256), stored)
  return { sha256, bytes: stored.length }
}

export async function putParts(
  file: Uint8Array,
  of: {
    readonly segments: readonly Segment[]
    readonly place: PublishPlace
    readonly known: ReadonlyMap<string, PartEntry>
  },
) {
  const { place, known } = of
  const done = { storedBytes: 0, putParts: 0, putBytes: 0 }
  const segments: IndexSegment[] = []
  // Equal parts are uploaded once.
  const coming = new Map<string, Promise<PartEntry>>()
  const entryOf = (part: Uint8Array): PartEntry | Promise<PartEntry> => {
    const sha256 = contentName(part)
    const there = known.get(sha256) ?? coming.get(sha256)
    if (there !== undefined) return there
    const entry = put(part, sha256)
    coming.set(sha256, entry)
    return entry
  }
  const put = async (part: Uint8Array, sha256: string): Promise<PartEntry> => {
    const stored = await compressed(part)
    const entry: PartEntry = [sha256, part.length, contentName(stored), stored.length]
    await place.keep(partName(entry[2]), stored)
    done.putParts += 1
    done.putBytes += stored.length
    return entry
  }
  for (const { segment, parts } of cutTable(file, of.segments)) {
    const entries = await mapInParallel(parts, parallelPuts, entryOf)
    done.storedBytes += entries.reduce((sum, [, , , bytes]) => sum + bytes, 0)
    segments.push({ ...segment, parts: entries })
  }
  return { segments, ...done }
}

function compressed(bytes: Uint8Array): Promise<Buffer> {
  return compress(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 6,
      [constants.BROTLI_PARAM_LGWIN]: 20,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
}
