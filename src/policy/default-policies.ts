// The policies that `iprisk policy init` writes. A list with the effect `allow` needs no rule: it
// makes the score 0.

const rules = [
  {
    name: 'own-block-list',
    description: 'One of your own lists with the effect block contains the address.',
    condition: '"list_blocked" in reasons',
    action: 'block',
  },
  {
    name: 'verified-bot',
    description: 'A crawler whose operator publishes its addresses.',
    condition: 'classification == "known_bot" && bot.confidence == "high"',
    action: 'allow',
  },
  {
    name: 'spoofed-crawler',
    description: 'The User-Agent names a crawler whose operator does not list the address.',
    condition: 'agent.status == "spoofed"',
    action: 'challenge',
  },
  { name: 'critical-score', condition: 'risk_score >= 90', action: 'block' },
  { name: 'high-score', condition: 'risk_score >= 50', action: 'challenge' },
  {
    name: 'reported-here',
    description: 'Logins from the address turned out abusive here (--feedback-lists).',
    condition: '"reported" in lists && !("list_allowed" in reasons)',
    action: 'challenge',
  },
] as const

/** With `observe` its rules decide nothing yet. */
export function defaultPoliciesText({ observe }: { readonly observe: boolean }): string {
  const policies = {
    default: {
      description:
        'The first matching rule decides. A rule with "observe": true is counted and named in ' +
        'answers, but decides nothing; remove that member to enforce it.',
      rules: observe ? rules.map((rule) => ({ ...rule, observe })) : rules,
      otherwise: 'allow',
    },
  }
  return `${JSON.stringify({ policies }, undefined, 2)}\n`
}
