// Policies as their file writes them, once it has been checked (policy-file.ts): plain data, so
// that a process can hand them to another. What they decide: policy.ts.

export interface PolicyRule {
  readonly name: string
  /** CEL over the members of the answer, and `lists`. */
  readonly condition: string
  /** `allow`, `challenge`, `block`, or the operator's own word. */
  readonly action: string
  /** The rule is named in `observed` where it holds, and decides nothing. */
  readonly observe: boolean
}

export interface PolicyRules {
  readonly rules: readonly PolicyRule[]
  /** The action where no rule decides. */
  readonly otherwise: string
}

export interface Policies {
  /** A hash of all that follows: machines with the same revision decide alike. */
  readonly revision: string
  readonly policies: Readonly<Record<string, PolicyRules>>
}

/** One of them, for work that is decided by it. */
export interface ChosenPolicy {
  readonly revision: string
  readonly name: string
  readonly rules: PolicyRules
}

/** The policy of keys that name none. */
export const defaultPolicyName = 'default'

/** Without a file of policies nothing is blocked. */
export const noPolicies: Policies = {
  revision: '',
  policies: { [defaultPolicyName]: { rules: [], otherwise: 'allow' } },
}

/**
 * What is in the name under which a decision is counted (observe/label-counts.ts). The rule is
 * empty where none matched.
 */
type DecisionLabel = Readonly<Record<'policy' | 'rule' | 'action', string>>

/** Names of policies, rules and actions hold no tab. */
export function decisionLabel({ policy, rule, action }: DecisionLabel): string {
  return [policy, rule, action].join('\t')
}

/** Of the label that stands for all that have no place of their own, `policy` is that one. */
export function readDecisionLabel(label: string): DecisionLabel {
  const [policy = '', rule = '', action = ''] = label.split('\t')
  return { policy, rule, action }
}
