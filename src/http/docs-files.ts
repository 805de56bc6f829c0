// The files below /docs, written when the project was compiled: each worker reads them once when it
// starts, a fifth of a megabyte.

import { readFileSync } from 'node:fs'

export interface DocsRow {
  /** The path of the public port: `/docs/errors`. */
  readonly path: string
  /** The gzipped one is beside it, with `.gz` behind its name. */
  readonly file: string
  readonly type: string
  readonly tag: string
  /** Its path holds the tag, so that it never changes. */
  readonly isConstant: boolean
}

export interface DocsFile extends Pick<DocsRow, 'type' | 'tag' | 'isConstant'> {
  readonly bytes: Uint8Array
  readonly gzipped: Uint8Array
}

export type DocsFiles = ReadonlyMap<string, DocsFile>

export const docsFolder = new URL('../docs/', import.meta.url)

/** Throws where the project is not compiled. */
export function readDocsFiles(folder: URL = docsFolder): DocsFiles {
  const read = (name: string): Buffer => readFileSync(new URL(name, folder))
  const rows = JSON.parse(read('list.json').toString()) as readonly DocsRow[]
  return new Map(
    rows.map(({ path, file, type, tag, isConstant }) => [
      path,
      { type, tag, isConstant, bytes: read(file), gzipped: read(`${file}.gz`) },
    ]),
  )
}
