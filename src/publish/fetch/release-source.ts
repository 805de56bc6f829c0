// Where a server fetches published tables: a web server, a bucket, or a folder. Only limits sizes;
// callers verify.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readBoundedFile } from '../../base/system/bounded-file.ts'
import { type BoundedAnswer, boundedRequest } from './bounded-request.ts'
import { openObjectStore } from './object-store.ts'
import { pullError } from './pull-refusal.ts'

export interface SourceAnswer {
  /** `undefined`: unchanged since the etag. */
  readonly bytes: Buffer | undefined
  readonly etag: string | undefined
}

export interface ReleaseSource {
  /** Throws `pull_…`. */
  readonly get: (
    name: string,
    how: { readonly bytesMax: number; readonly etag?: string | undefined },
  ) => Promise<SourceAnswer>
}

export function openReleaseSource(text: string): ReleaseSource {
  if (text.startsWith('s3://')) return objectSource(text)
  const base = new URL(text.endsWith('/') ? text : `${text}/`)
  return base.protocol === 'file:' ? folderSource(fileURLToPath(base)) : webSource(base)
}

const webSource = (base: URL): ReleaseSource => ({
  get: async (name, { bytesMax, etag }) => {
    const headers = etag === undefined ? {} : { 'if-none-match': etag }
    const url = new URL(name, base)
    return answerOf(await boundedRequest({ url, headers, bytesMax }), `${base.href}${name}`)
  },
})

function objectSource(text: string): ReleaseSource {
  const store = openObjectStore(text)
  return { get: async (name, how) => answerOf(await store.get(name, how), `${text}/${name}`) }
}

function answerOf({ status, body, etag }: BoundedAnswer, shown: string): SourceAnswer {
  if (status === 200) return { bytes: body, etag }
  if (status === 304) return { bytes: undefined, etag }
  throw pullError('status', `${shown}: status ${status}`)
}

const folderSource = (folder: string): ReleaseSource => ({
  get: async (name, { bytesMax, etag }) => {
    const path = join(folder, name)
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (stat === undefined) throw pullError('status', `${path}: no such file`)
    const now = `${stat.ino}:${stat.size}:${stat.mtimeNs}`
    if (now === etag) return { bytes: undefined, etag }
    if (stat.size > bytesMax) throw pullError('size', `${path}: more than ${bytesMax} bytes`)
    try {
      return { bytes: readBoundedFile(path, { bytesMax }).bytes, etag: now }
    } catch (error) {
      throw pullError('unreachable', `${path}: ${(error as Error).message}`, error)
    }
  },
})
