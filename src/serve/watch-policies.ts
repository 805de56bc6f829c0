// Reads the policies at the start, when their file changes and on SIGHUP, for the workers.
//
// Invariants: an invalid file changes nothing, and log and status name every mistake; at the start
// it is an error. Removing the file changes nothing and is reported, because the next start would
// have no policies. A new file is loaded. Warnings are reported by log, status and a metric.

import { existsSync } from 'node:fs'
import process from 'node:process'
import { IpriskError, messageOf } from '../base/coded-error.ts'
import { createQueue } from '../base/concurrency.ts'
import { configPollMs } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import { formatTime } from '../base/text/number-format.ts'
import { type PolicyFile, readPolicyFile, readPolicyFileInTurns } from '../policy/policy-file.ts'
import type { WrittenPolicies } from '../policy/policy-schema.ts'
import { policyPlace } from '../policy/policy-place.ts'
import type { Policies } from '../model/policy-form.ts'
import { identityOrEmpty, watchFile } from '../base/system/file-watch.ts'
import type { PoliciesStatus } from '../api/admin-answers.ts'

export type WatchedPolicies = ReturnType<typeof readWatchedPolicies>

/** Reads the named policies, or those of the working directory; throws `policies_invalid`. */
export function readWatchedPolicies(setting: string | undefined, log: Log) {
  const place = policyPlace(setting)
  const { path } = place
  const known = identityOrEmpty(path)
  let file = reported(readPolicyFile(place), log)
  let failure: PoliciesStatus['last_failure'] = null
  const reload = async (use: (policies: Policies) => void): Promise<void> => {
    if (file !== undefined && !existsSync(path)) {
      failure = {
        at: formatTime(Date.now()),
        reason: 'The file is gone; the previous policies stay in use.',
      }
      log.error({ path }, 'The policies file is gone; the previous policies stay in use.')
      return
    }
    let next: PolicyFile | undefined
    try {
      next = reported(await readPolicyFileInTurns(place), log)
    } catch (error) {
      const lines = error instanceof IpriskError ? error.lines : [messageOf(error)]
      const reason = lines.map((line) => line.trim()).join(' ')
      failure = { at: formatTime(Date.now()), reason }
      log.error({ path }, `The policies are not used; the previous ones stay in use: ${reason}`)
      return
    }
    failure = null
    if (next === undefined) return
    const before = file?.policies.revision
    file = next
    const { revision, policies: named } = next.policies
    if (revision === before) return
    use(next.policies)
    log.info({ path, revision, policies: Object.keys(named) }, 'Changed policies are in use.')
  }
  const enqueue = createQueue()
  let look = async (): Promise<void> => undefined
  return {
    policies: () => file?.policies,
    /** As in their file, with its comments for people. */
    written: (): WrittenPolicies | undefined => file?.written,
    fileTag: () => file?.tag,
    place,
    /** Checks the file now: a change is in use once this resolves. */
    look: () => look(),
    status: (): PoliciesStatus | undefined => {
      if (file === undefined && failure === null) return undefined
      const { revision = '', policies: named = {} } = file?.policies ?? {}
      const warnings = file?.warnings ?? []
      return { path, revision, names: Object.keys(named), warnings, last_failure: failure }
    },
    /** Polls the file, including for changes since it was read. */
    watch: (use: (policies: Policies) => void) => {
      let isStopped = false
      const whileWatched = (policies: Policies): void => {
        if (!isStopped) use(policies)
      }
      // Queued, so that the newest state wins.
      look = () => enqueue(() => reload(whileWatched))
      const changed = (): void => void look()
      const { stop } = watchFile({ path, known, everyMs: configPollMs, changed, gone: changed })
      process.on('SIGHUP', changed)
      return {
        stop: (): void => {
          isStopped = true
          stop()
          process.off('SIGHUP', changed)
        },
      }
    },
  }
}

function reported(file: PolicyFile | undefined, log: Log): PolicyFile | undefined {
  if (file === undefined) return undefined
  const { path, distrust, warnings } = file
  if (distrust !== undefined) {
    log.warn({ path }, `The policies are used because they were named, but ${distrust}.`)
  }
  for (const warning of warnings) {
    log.warn({ path }, `The policies have a warning: ${warning}`)
  }
  return file
}
