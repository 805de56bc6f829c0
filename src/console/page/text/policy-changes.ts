// What a draft changes in the policies, as lines of a diff.

import type { PolicyText } from '../../../policy/policy-schema.ts'

type Policies = Readonly<Record<string, PolicyText>>

/** Descriptions do not decide, and are left out. */
export function policyChanges(before: Policies, draft: Policies): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(draft)])]
  return names.flatMap((name) => {
    const [old, next] = [linesOf(before[name]), linesOf(draft[name])]
    const gone = old.filter((line) => !next.includes(line)).map((line) => `− ${line}`)
    const come = next.filter((line) => !old.includes(line)).map((line) => `+ ${line}`)
    const isMoved = gone.length + come.length === 0 && old.join() !== next.join()
    const changes = isMoved ? ['the order of the rules'] : [...gone, ...come]
    return changes.length === 0 ? [] : [`${name}:`, ...changes]
  })
}

function linesOf(policy: PolicyText | undefined): readonly string[] {
  if (policy === undefined) return []
  const rules = policy.rules.map(
    ({ name, condition, action, observe = false }) =>
      `${name}: ${condition} → ${action}${observe ? ', only observed' : ''}`,
  )
  return [...rules, `otherwise → ${policy.otherwise}`]
}
