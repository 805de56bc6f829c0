// The operator's policies in the process (contract 5.4: decision): the file is watched, and a valid
// one replaces the previous one. All of its policies may be chosen, because there are no keys here.
// A file with warnings is used; each load reports them as a misconfiguration.

import type { CheckAnswer } from '../api/check-answer.ts'
import { messageOf } from '../base/coded-error.ts'
import { say, tell } from '../client/core/failure-log.ts'
import type { ClientFailure } from '../client/core/outcome-report.ts'
import { withDecision } from '../policy/decided-answer.ts'
import { factsOf } from '../policy/condition/condition-members.ts'
import { type PolicyFile, readPolicyFile, readPolicyFileInTurns } from '../policy/policy-file.ts'
import { type PolicySet, compilePolicies } from '../policy/policy.ts'
import { fileIdentity, watchFile } from '../base/system/file-watch.ts'

export type EmbeddedPolicies = ReturnType<typeof watchPolicies>

/** Never throws: an invalid file is reported, and the next one awaited. */
export function watchPolicies(options: {
  readonly path: string
  readonly everyMs: number
  readonly onRefused: ((failure: ClientFailure) => unknown) | undefined
  /** Receives the file's warnings; default: the console. */
  readonly onMisconfigured: ((failure: ClientFailure) => unknown) | undefined
}) {
  const { path, everyMs, onRefused, onMisconfigured = sayFailure } = options
  let set: PolicySet | undefined
  let failure: ClientFailure | undefined
  const take = (file: PolicyFile | undefined): void => {
    if (file === undefined) return
    set = compilePolicies(file.policies)
    failure = undefined
    if (file.warnings.length > 0) {
      const message = `The policies in ${path} have warnings: ${file.warnings.join('; ')}`
      tell(onMisconfigured, { reason: 'misconfigured', message })
    }
  }
  const refuse = (cause: unknown): void => {
    const refused = { reason: 'misconfigured', message: messageOf(cause), cause } as const
    if (set === undefined) failure = refused
    tell(onRefused, refused)
  }
  const place = { path, named: true }
  const known = fileIdentity(path)
  try {
    take(readPolicyFile(place))
  } catch (cause) {
    refuse(cause)
  }
  // In order, so that the newest state of the file wins.
  let loading = Promise.resolve()
  const changed = (): void => {
    loading = loading.then(() => readPolicyFileInTurns(place)).then(take, refuse)
  }
  const watch = watchFile({ path, known, everyMs, changed, mayEnd: true })

  return {
    /** Why nothing decides; `undefined` while policies are in use. */
    failure: () => failure,
    /** The answer with its decision; `undefined` if there is no such policy. */
    decided: (answer: CheckAnswer, named: string | undefined): CheckAnswer | undefined => {
      const index =
        set === undefined ? -1 : named === undefined ? set.defaultIndex : set.indexOf(named)
      const policy = set?.policies[index]
      if (policy === undefined) return undefined
      const number = policy.outcomeOf(factsOf(answer, answer.lists ?? []))
      return withDecision(answer, policy.outcomes[number]!)
    },
    close: watch.stop,
  }
}

function sayFailure({ message }: ClientFailure): void {
  say(`is misconfigured: ${JSON.stringify(message)}`)
}
