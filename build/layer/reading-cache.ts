// Caches parsed data sets on disk: they change daily or monthly, tables are built hourly, and
// reading them is a third of a first build. A file is named by the hash of all its inputs (files,
// code, tables), so it is correct or absent, and may be deleted at any time.
//
//   <cache>/<kind>-<hash>.bin     hash of the rest (SHA-256, 32 bytes), what v8.serialize made

import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { msPerDay } from '../../src/base/day.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { openRegularFile } from '../../src/base/system/bounded-file.ts'
import { newFileBuffer } from '../../src/base/system/copy-large-file.ts'
import { inLargePages } from '../../src/base/system/memory-map.ts'

export interface Reading {
  readonly kind: 'places' | 'networks'
  /** Cached content must not contain their paths. */
  readonly files: readonly string[]
  /** Folders of the code, relative to this one. */
  readonly code: readonly string[]
  /** Relative to the package's root. */
  readonly tables: readonly string[]
}

const hashBytes = 32
const chunkBytes = 2 ** 20
/** Disk space left free for the table and the day's feeds. */
const spareBytes = 2 ** 30
/** The current edition and the previous one, for a rollback. */
const keptFiles = 2

/**
 * The result of `read`, cached; v8.serialize must support it. Throws the errors of `read`; failures
 * of the cache only cost time.
 */
export async function keptReading<T>(
  reading: Reading,
  cache: string,
  read: () => Promise<T>,
): Promise<T> {
  const key = keyOf(reading)
  if (key === undefined) return read()
  const name = `${reading.kind}-${key}.bin`
  const known = load(join(cache, name))
  if (known !== undefined) return known.content as T
  const content = await read()
  save(cache, name, content)
  return content
}

function load(path: string): { readonly content: unknown } | undefined {
  try {
    const bytes = readLargeFile(path)
    const content = bytes.subarray(hashBytes)
    if (!hashOf([content]).equals(bytes.subarray(0, hashBytes))) return undefined
    return { content: deserialize(content) }
  } catch {
    // Missing or truncated: read again and replace.
    return undefined
  }
}

/** Large pages: for 200 MB, half of the time is memory allocation. */
function readLargeFile(path: string): Buffer {
  const descriptor = openRegularFile(path)
  try {
    const bytes = inLargePages(newFileBuffer(fs.fstatSync(descriptor).size))
    let end = 0
    for (let read = -1; read !== 0 && end < bytes.length; end += read) {
      read = fs.readSync(descriptor, bytes, end, bytes.length - end, null)
    }
    return bytes.subarray(0, end)
  } finally {
    fs.closeSync(descriptor)
  }
}

function save(cache: string, name: string, what: unknown): void {
  const content = serialize(what)
  const draft = join(cache, `${name}.${process.pid}.tmp`)
  // A full or read-only disk; if it matters, writing the table reports it.
  try {
    fs.mkdirSync(cache, { recursive: true })
    const { bavail, bsize } = fs.statfsSync(cache)
    if (bavail * bsize < content.length + spareBytes) return
    fs.writeFileSync(draft, hashOf([content]))
    fs.appendFileSync(draft, content)
    fs.renameSync(draft, join(cache, name))
  } catch {
    if (fs.existsSync(draft)) fs.rmSync(draft)
    return
  }
  try {
    removeOld(cache, name)
  } catch {
    // Another build is cleaning up.
  }
}

/** Keeps the newest of the others, and drops drafts of builds killed a day ago. */
function removeOld(cache: string, name: string): void {
  const kind = name.slice(0, name.indexOf('-') + 1)
  const others = fs
    .readdirSync(cache)
    .filter((other) => other.startsWith(kind) && other !== name)
    .map((other) => ({ path: join(cache, other), ms: fs.statSync(join(cache, other)).mtimeMs }))
    .toSorted((a, b) => b.ms - a.ms)
  const whole = others.filter(({ path }) => path.endsWith('.bin')).slice(keptFiles - 1)
  const drafts = others.filter(
    ({ path, ms }) => path.endsWith('.tmp') && ms < Date.now() - msPerDay,
  )
  for (const { path } of [...whole, ...drafts]) fs.rmSync(path, { force: true })
}

/** `undefined` if a file cannot be read: `read` reports why. */
function keyOf({ files, code, tables }: Reading): string | undefined {
  const own = code.flatMap((folder) => codeOf(join(import.meta.dirname, folder)))
  // package.json has the exact versions of that code's imports.
  const beside = [...tables, 'package.json'].map((name) => join(packageRoot, name))
  try {
    const chunk = newFileBuffer(chunkBytes)
    const hashes = [...own, ...beside, ...files].map((path) => hashOfFile(path, chunk))
    return hashOf(hashes).toString('hex').slice(0, 32)
  } catch {
    return undefined
  }
}

function codeOf(folder: string): readonly string[] {
  return fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.d)\.[jt]s$/.test(name))
    .toSorted()
    .map((name) => join(folder, name))
}

/** In chunks: files of places have a hundred megabytes. */
function hashOfFile(path: string, chunk: Buffer): Buffer {
  const descriptor = openRegularFile(path)
  try {
    const hash = createHash('sha256')
    for (let read = -1; read !== 0;) {
      read = fs.readSync(descriptor, chunk)
      hash.update(chunk.subarray(0, read))
    }
    return hash.digest()
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Length-prefixed, so that different lists never hash alike. */
function hashOf(parts: Iterable<Uint8Array>): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}\n`).update(part)
  return hash.digest()
}
