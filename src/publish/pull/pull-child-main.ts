// The process that fetches one published table, started by src/supervisor/tables/table-pull.ts:
// puts the table together (join-table-parts.ts), and answers what came, or why not. Whatever the
// network or a part does to it, it harms no process that answers; and its memory goes when it ends.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { answerParent } from '../../base/system/child-task.ts'
import { type PullRefusal, pullRefusalOf } from '../fetch/pull-refusal.ts'
import { openReleaseSource } from '../fetch/release-source.ts'
import {
  type AdoptedTable,
  adoptTable,
  isFileNamed,
  joinTableParts,
  type PulledBytes,
} from './join-table-parts.ts'
import type { Release } from '../form/manifest.ts'

export interface PullJob {
  readonly url: string
  readonly release: Release
  readonly near: readonly string[]
  readonly parts: string
  readonly folder: string
  readonly name: string
  readonly adopt: AdoptedTable | undefined
}

export type PullResult =
  ({ readonly kind: 'pulled' } & PulledBytes) | ({ readonly kind: 'refused' } & PullRefusal)

/** A table that was kept, and is taken again after a rollback. */
function isThere({ folder, name, release }: PullJob): boolean {
  const path = join(folder, name)
  if (!existsSync(path)) return false
  return isFileNamed(path, release.sha256)
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
