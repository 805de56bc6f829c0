// The snapshots on disk: `<folder>/<feed-id>/<file>` beside `<feed-id>/snapshots.json`, which says
// of each file its hash, size, day and origin. The files of a feed change together, as one set.
//
// A set is put in place in steps, each a rename: `snapshots.next.json` names the new files under
// their temporary names; the files take their own names; snapshots.json follows; the next.json
// goes. A reader at any point, or after a kill at any point, finds the old set or the new one
// whole: once next.json is there, each of its files has the right content under one of two names.
//
//     fetched ──▶ next.json ──▶ files renamed ──▶ snapshots.json ──▶ next.json removed
//     (old)       (new from here on)
//
// A file whose content is not what its record says is not trusted: reported, else as if absent.
// Writing needs the folder's lock (src/base/system/file-lock.ts); reading needs nothing.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  flushFolder,
  removeTemporaryFiles,
  replaceFile,
} from '../../src/base/system/atomic-file.ts'
import {
  formatSnapshotSet,
  parseSnapshotSet,
  type SnapshotRecord,
  type SnapshotSet,
} from './snapshot-record.ts'

const RECORDS_NAME = 'snapshots.json'
const NEXT_NAME = 'snapshots.next.json'

/** A stored file whose content is as recorded. */
export interface StoredSnapshot extends SnapshotRecord {
  readonly feedId: string
  readonly file: string
  /** Where it is; in a folder that a killed run left, this can be a temporary name. */
  readonly path: string
}

/** The trusted files of a feed's stored set; what is not trusted is told to `onProblem`. */
export async function readStoredSnapshots(
  folder: string,
  feedId: string,
  onProblem: (message: string) => void = () => undefined,
): Promise<StoredSnapshot[]> {
  const home = join(folder, feedId)
  for (let again = 0; ; again++) {
    const { snapshots, problems } = await readOnce(home, feedId)
    // A run that is just putting a set in place looks damaged for a moment; look again.
    if (problems.length > 0 && again < 3) {
      await sleep(50)
      continue
    }
    for (const problem of problems) onProblem(problem)
    return snapshots
  }
}

async function readOnce(home: string, feedId: string) {
  const next = await readSet(home, NEXT_NAME)
  const pending = typeof next === 'object' ? await locate(home, feedId, next) : undefined
  if (pending !== undefined) return { snapshots: pending, problems: [] }
  const set = await readSet(home, RECORDS_NAME)
  if (set === 'absent') return { snapshots: [], problems: [] }
  if (set === 'damaged') {
    const path = join(home, RECORDS_NAME)
    return { snapshots: [], problems: [`${path} is damaged; its files are not used`] }
  }
  const snapshots: StoredSnapshot[] = []
  const problems: string[] = []
  for (const [file, record] of Object.entries(set)) {
    const path = join(home, file)
    if (await fileHasContent(path, record)) snapshots.push({ ...record, feedId, file, path })
    else problems.push(`${path} is not what ${RECORDS_NAME} says of it; it is not used`)
  }
  return { snapshots, problems }
}

/** The files of a set in the making; `undefined` unless all are there. */
async function locate(home: string, feedId: string, set: SnapshotSet) {
  const snapshots: StoredSnapshot[] = []
  for (const [file, { temporary = file, ...record }] of Object.entries(set)) {
    const isPlaced = await fileHasContent(join(home, file), record)
    const path = join(home, isPlaced ? file : temporary)
    if (!isPlaced && !(await fileHasContent(path, record))) return undefined
    snapshots.push({ ...record, feedId, file, path })
  }
  return snapshots
}

async function readSet(home: string, name: string): Promise<SnapshotSet | 'absent' | 'damaged'> {
  try {
    return parseSnapshotSet(await readFile(join(home, name), 'utf8')) ?? 'damaged'
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent'
    throw thrown
  }
}

/**
 * Puts a feed's new set in place of its old one. Its files with a temporary name are new, already
 * flushed in the feed's folder; the others stay as they are. Files of the old set that the new one
 * does not have are removed.
 */
export async function commitSnapshotSet(folder: string, feedId: string, set: SnapshotSet) {
  const home = join(folder, feedId)
  await replaceFile(join(home, NEXT_NAME), formatSnapshotSet(set))
  await finishSet(home, set)
}

async function finishSet(home: string, set: SnapshotSet): Promise<void> {
  const old = await readSet(home, RECORDS_NAME)
  const placed: Record<string, SnapshotRecord> = {}
  for (const [name, { temporary, ...record }] of Object.entries(set)) {
    placed[name] = record
    if (temporary === undefined) continue
    // Of a set that a killed run began, some have been renamed before.
    await rename(join(home, temporary), join(home, name)).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== 'ENOENT') throw thrown
    })
  }
  await flushFolder(home)
  await replaceFile(join(home, RECORDS_NAME), formatSnapshotSet(placed))
  await rm(join(home, NEXT_NAME), { force: true })
  for (const name of typeof old === 'object' ? Object.keys(old) : []) {
    if (placed[name] === undefined) await rm(join(home, name), { force: true })
  }
  await flushFolder(home)
}

/** Ends what a killed run began in a feed's folder, and removes what it left. Needs the lock. */
export async function recoverSnapshots(folder: string, feedId: string): Promise<void> {
  const home = join(folder, feedId)
  const next = await readSet(home, NEXT_NAME)
  if (typeof next === 'object' && (await locate(home, feedId, next)) !== undefined) {
    await finishSet(home, next)
  } else if (next !== 'absent') {
    await rm(join(home, NEXT_NAME), { force: true })
  }
  await removeTemporaryFiles(home)
}

/** Whether the file is there with just this content. The size is asked first, as it is cheap. */
export async function fileHasContent(
  path: string,
  content: { readonly sha256: string; readonly bytes: number },
): Promise<boolean> {
  try {
    const found = await stat(path)
    if (!found.isFile() || found.size !== content.bytes) return false
    return (await hashOfFile(path)) === content.sha256
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw thrown
  }
}

export async function hashOfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array)
  return hash.digest('hex')
}
