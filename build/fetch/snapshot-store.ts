// Snapshots on disk: `<folder>/<feed-id>/<file>` beside `<feed-id>/snapshots.json`, which has each
// file's hash, size, day and origin. A feed's files change together, in renames:
// `snapshots.next.json` names the new files under temporary names; they take their own names;
// snapshots.json follows; next.json is removed. After a kill at any point a reader finds the old or
// the new set complete.
//
//     fetched ──▶ next.json ──▶ files renamed ──▶ snapshots.json ──▶ next.json removed
//     (old)       (new from here on)
//
// A file that does not match its record is reported and not used. Writing needs the folder's lock.

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

export interface StoredSnapshot extends SnapshotRecord {
  readonly feedId: string
  readonly file: string
  /** May be a temporary name after a killed run. */
  readonly path: string
}

/** Files that do not match their records go to `onProblem`. */
export async function readStoredSnapshots(
  folder: string,
  feedId: string,
  onProblem: (message: string) => void = () => undefined,
): Promise<StoredSnapshot[]> {
  const home = join(folder, feedId)
  for (let again = 0; ; again++) {
    const { snapshots, problems } = await readOnce(home, feedId)
    // A set that is just being put in place looks damaged for a moment.
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
    else problems.push(`${path} does not match ${RECORDS_NAME} and is not used`)
  }
  return { snapshots, problems }
}

/** `undefined` unless all files of the set are there. */
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
 * Replaces a feed's set. Files with a temporary name are new and already flushed; files that the
 * new set does not have are removed.
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
    // A killed run has renamed some already.
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

/** Finishes or removes what a killed run left. Needs the lock. */
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

/** Compares the size first, because that is cheap. */
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
