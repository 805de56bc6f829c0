// Reads the policies at the start and again when their file changes or SIGHUP comes, and gives them
// to the workers.
//
// Invariants: a file with a mistake changes nothing, and the log and the status name every mistake;
// at the start it is an error, as in the configuration. One that is removed changes nothing either,
// and they say so: the next start would be without policies. One that comes later is loaded. One
// with warnings is used; the log, the status and a metric report them.

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

/** Reads those that the option names, or those of the working directory; throws `policies_invalid`. */
export function readWatchedPolicies(setting: string | undefined, log: Log) {
  const place = policyPlace(setting)
  const { path } = place
  const known = identityOrEmpty(path)
  let file = reported(readPolicyFile(place), log)
  let failure: PoliciesStatus['last_failure'] = null
  const reload = async (use: (policies: Policies) => void): Promise<void> => {
    if (file !== undefined && !existsSync(path)) {
      failure = { at: formatTime(Date.now()), reason: 'The file is gone, those before stay.' }
      log.error({ path }, 'The file of the policies is gone, those before stay.')
      return
    }
    let next: PolicyFile | undefined
    try {
      next = reported(await readPolicyFileInTurns(place), log)
    } catch (error) {
      const lines = error instanceof IpriskError ? error.lines : [messageOf(error)]
      const reason = lines.map((line) => line.trim()).join(' ')
      failure = { at: formatTime(Date.now()), reason }
      log.error({ path }, `The policies are not used, those before stay: ${reason}`)
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
    /** The same as their file has them, with what it says for people. */
    written: (): WrittenPolicies | undefined => file?.written,
    fileTag: () => file?.tag,
    place,
    /** Checks the file now: a change by this process is in use when this resolves. */
    look: () => look(),
    status: (): PoliciesStatus | undefined => {
      if (file === undefined && failure === null) return undefined
      const { revision = '', policies: named = {} } = file?.policies ?? {}
      const warnings = file?.warnings ?? []
      return { path, revision, names: Object.keys(named), warnings, last_failure: failure }
    },
    /** Looks at the file from now on, also for what has changed since it was read. */
    watch: (use: (policies: Policies) => void) => {
      let isStopped = false
      const whileWatched = (policies: Policies): void => {
        if (!isStopped) use(policies)
      }
      // In order, so that the newest state of the file wins.
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
    log.warn({ path }, `The policies are obeyed because they were named, but ${distrust}.`)
  }
  for (const warning of warnings) {
    log.warn({ path }, `The policies have a warning: ${warning}`)
  }
  return file
}
