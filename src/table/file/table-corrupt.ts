// Errors for a damaged table file. Verified tables never cause them; in an unverified one, a list
// may claim all memory and must be refused.

import { type IpriskError, inputError } from '../../base/coded-error.ts'
import { formatMajor } from '../../schema/table-layout.ts'
import type { SectionName, SectionView } from '../../schema/table-sections.ts'

export function checksumMismatch(crc: Readonly<Record<'expected' | 'found', number>>): string {
  const hex = (value: number): string => value.toString(16).padStart(8, '0')
  return `its checksum is ${hex(crc.found)}, not ${hex(crc.expected)}: bytes were changed`
}

export const rebuildHint = 'Build the table again (iprisk build) or take another copy.'

/** Names the section and the byte offset. */
export function tableCorrupt(
  path: string,
  section: string,
  offset: number,
  why: string,
): IpriskError {
  return inputError(
    'table_corrupt',
    `${path} is damaged in section ${section} at offset ${offset}: ${why}. ` + rebuildHint,
  )
}

export type Fail = (section: SectionName, element: number, why: string) => never

export function otherVersion(path: string, has: string, section: string): IpriskError {
  return inputError(
    'table_version',
    `${path} has ${has}; this program reads version ${formatMajor} (section ${section}). ` +
      'Build the table again with this version (iprisk build).',
  )
}

export interface ListPlace {
  readonly from: number
  readonly to: number
}

/**
 * Empty if the list does not exist. Throws `table_corrupt` if it has more than `max` elements or
 * ends after element `length`.
 */
export function listPlace(
  offsets: Uint32Array,
  list: number,
  of: { readonly section: string; readonly length: number; readonly max: number },
): ListPlace {
  const from = offsets[list] ?? 0
  const to = offsets[list + 1] ?? from
  if (to > of.length || to - from > of.max) {
    throw damaged(offsets, of.section, list + 1, `a list ends at ${to}`)
  }
  return { from, to }
}

/** For an element of a mapped view; the file begins where its map does. */
export function damaged(view: SectionView, section: string, element: number, why: string): Error {
  const offset = view.byteOffset + element * view.BYTES_PER_ELEMENT
  return tableCorrupt('The table', section, offset, `${why} (it was not verified)`)
}
