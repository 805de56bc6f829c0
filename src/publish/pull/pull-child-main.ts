// The process that fetches a published table for src/supervisor/tables/table-pull.ts, separate so
// that the network and its content cannot harm a serving process.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { answerParent } from '../../base/system/child-task.ts'
import { type PullRefusal, pullRefusalOf } from '../fetch/pull-refusal.ts'
import { openReleaseSource } from '../fetch/release-source.ts'
import type { AdoptedTable, JoinJob, PulledBytes } from './join-table-parts.ts'
import { adoptTable, isFileNamed, joinTableParts } from './join-table-parts.ts'

export interface PullJob extends Omit<JoinJob, 'source'> {
  readonly url: string
  readonly adopt: AdoptedTable | undefined
}

export type PullResult =
  ({ readonly kind: 'pulled' } & PulledBytes) | ({ readonly kind: 'refused' } & PullRefusal)

/** Kept, and used again after a rollback. */
function isThere({ folder, name, release }: PullJob): boolean {
  const path = join(folder, name)
  return existsSync(path) && isFileNamed(path, release.sha256)
}

async function pull(job: PullJob): Promise<PullResult> {
  try {
    if (job.adopt !== undefined) adoptTable(job.adopt)
    if (isThere(job)) return { kind: 'pulled', parts: 0, bytes: 0, reusedBytes: job.release.bytes }
    const moved = await joinTableParts({ ...job, source: openReleaseSource(job.url) })
    return { kind: 'pulled', ...moved }
  } catch (error) {
    return { kind: 'refused', ...pullRefusalOf(error) }
  }
}

answerParent(pull)
