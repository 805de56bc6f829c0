// The name under which a decision is counted (observe/label-counts.ts), and what is in it.

export interface DecisionLabel {
  readonly policy: string
  /** Empty where no rule matched. */
  readonly rule: string
  readonly action: string
}

/** Names of policies, rules and actions hold no tab. */
export function decisionLabel({ policy, rule, action }: DecisionLabel): string {
  return [policy, rule, action].join('\t')
}

/** Of the label that stands for all that have no place of their own, `policy` is that one. */
export function readDecisionLabel(label: string): DecisionLabel {
  const [policy = '', rule = '', action = ''] = label.split('\t')
  return { policy, rule, action }
}
