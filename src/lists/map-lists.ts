// A compiled file, mapped, so that the pages of a million entries are shared by every process.

import { mapFile } from '../base/system/memory-map.ts'
import type { ListMatcher } from './list-matcher.ts'
import { openLists } from './open-lists.ts'

export interface MappedLists {
  readonly matcher: ListMatcher
  /** Any use of the matcher afterwards ends the process. */
  readonly unmap: () => void
}

/** Throws `file_unreadable` and `lists_corrupt`. */
export function mapLists(path: string, version: number): MappedLists {
  const map = mapFile(path)
  try {
    return { matcher: openLists(map.bytes, path, version), unmap: () => map.unmap() }
  } catch (error) {
    map.unmap()
    throw error
  }
}
