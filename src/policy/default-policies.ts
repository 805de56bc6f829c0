// The policies that `iprisk policy init` writes. A list with the effect `allow` needs no rule: it
// makes the score 0.

import policy from './default-policy.json' with { type: 'json' }

/** With `observe` its rules decide nothing yet. */
export function defaultPoliciesText({ observe }: { readonly observe: boolean }): string {
  const rules = observe ? policy.rules.map((rule) => ({ ...rule, observe })) : policy.rules
  return `${JSON.stringify({ policies: { default: { ...policy, rules } } }, undefined, 2)}\n`
}
