// Checked policies in the form of their file (policy-file.ts): plain data for other processes.
// Decisions: policy.ts.

export interface PolicyRule {
  readonly name: string
  readonly condition: string
  /** `allow`, `challenge`, `block`, or the operator's own word. */
  readonly action: string
  /** The rule is reported in `observed` if it matches, and decides nothing. */
  readonly observe: boolean
}

export interface PolicyRules {
  readonly rules: readonly PolicyRule[]
  /** The action if no rule decides. */
  readonly otherwise: string
}

export interface Policies {
  /** A hash of the policies: machines with the same revision decide alike. */
  readonly revision: string
  readonly policies: Readonly<Record<string, PolicyRules>>
}

/** A single policy, for bulk work. */
export interface ChosenPolicy {
  readonly revision: string
  readonly name: string
  readonly rules: PolicyRules
}

/** The policy of keys that name none. */
export const defaultPolicyName = 'default'

/** Blocks nothing, if there is no file of policies. */
export const noPolicies: Policies = {
  revision: '',
  policies: { [defaultPolicyName]: { rules: [], otherwise: 'allow' } },
}

/**
 * The parts of the label that counts a decision (observe/label-counts.ts). `rule` is empty if none
 * matched.
 */
type DecisionLabel = Readonly<Record<'policy' | 'rule' | 'action', string>>

/** Names of policies, rules and actions contain no tab. */
export const decisionLabel = ({ policy, rule, action }: DecisionLabel): string =>
  [policy, rule, action].join('\t')

/** The label for all others has its name in `policy`. */
export function readDecisionLabel(label: string): DecisionLabel {
  const [policy = '', rule = '', action = ''] = label.split('\t')
  return { policy, rule, action }
}
