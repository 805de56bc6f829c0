// The index of a table's parts. Segments cover the file; the last one, the frame, is the bytes
// between the others. Each lists its parts in order of its columns (columns.ts). A part has the
// SHA-256 of the stored bytes, its name, and of the content, by which servers find it in their
// tables. Invariant, checked here: segments are inside the file, in order and disjoint, and match
// the sizes of their parts.

import { z } from 'zod'
import { parseJson } from '../../base/json-object.ts'
import { hashText } from './manifest.ts'
import { fileBytesMax } from '../../schema/table-layout.ts'
import { partBytes } from './cut-points.ts'

/** Decompressed; `partIndexBytesMax` limits it as stored. */
export const partIndexTextBytesMax = 16_777_216
const segmentsMax = 256
const segmentPartsMax = 65_536

/** As stored; incompressible parts grow by a few bytes. */
const partBytesMax = 1_048_576

const partSchema = z.tuple([
  /** Content: SHA-256, bytes. */
  hashText,
  z.int().min(1).max(partBytes.max),
  /** As stored: SHA-256 (its name), bytes. */
  hashText,
  z.int().min(1).max(partBytesMax),
])

const place = z.int().min(0).max(fileBytesMax)

const segmentSchema = z.object({
  name: z.string().max(64),
  from: place,
  bytes: place,
  words: z.int().min(0).max(64),
  steps: z.boolean(),
  parts: z.array(partSchema).max(segmentPartsMax),
})

const indexSchema = z.object({
  bytes: place,
  segments: z.array(segmentSchema).min(1).max(segmentsMax),
})

export type PartEntry = z.output<typeof partSchema>
export type IndexSegment = z.output<typeof segmentSchema>
export type PartIndex = z.output<typeof indexSchema>

/** The frame's name; its `from` is 0. */
export const frameName = ''

/** Returns a reason if invalid. */
export function parsePartIndex(text: string): PartIndex | string {
  const json = parseJson(text)
  if (json === undefined) return 'it is not JSON'
  const parsed = indexSchema.safeParse(json)
  if (!parsed.success) return `its ${parsed.error.issues[0]?.path.join('.') ?? 'form'} is wrong`
  return whyUnfit(parsed.data) ?? parsed.data
}

function whyUnfit({ bytes, segments }: PartIndex): string | undefined {
  let end = 0
  for (const segment of segments.slice(0, -1)) {
    if (segment.name === frameName) return 'its frame is not the last segment'
    if (segment.from < end || segment.from % 4 !== 0)
      return `its segment ${segment.name} is out of place`
    if (segment.words > 0 && segment.bytes % (segment.words * 4) !== 0) {
      return `its segment ${segment.name} does not consist of whole rows`
    }
    end = segment.from + segment.bytes
  }
  if (end > bytes) return 'its segments reach past the file'
  const frame = segments.at(-1)
  const covered = segments.reduce((sum, segment) => sum + segment.bytes, 0)
  if (frame?.name !== frameName || frame.words !== 0 || covered !== bytes) return 'it has no frame'
  const short = segments.find(
    (segment) => segment.parts.reduce((sum, [, of]) => sum + of, 0) !== segment.bytes,
  )
  return short === undefined ? undefined : `the parts of ${short.name} do not add up to its bytes`
}

/** Bytes outside the segments. */
export function frameRanges(
  segments: readonly { readonly name: string; readonly from: number; readonly bytes: number }[],
  fileBytes: number,
): readonly (readonly [from: number, to: number])[] {
  const ranges: (readonly [number, number])[] = []
  let end = 0
  for (const { name, from, bytes } of segments) {
    if (name === frameName) continue
    if (from > end) ranges.push([end, from])
    end = from + bytes
  }
  if (fileBytes > end) ranges.push([end, fileBytes])
  return ranges
}
