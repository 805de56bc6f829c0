// The content of a policies file as a zod schema; messages as in src/config/setting-checks.ts.
// Nothing that serves loads this: workers get checked policies.

import { z } from 'zod'
import { conditionCharsMax, policiesMax } from '../base/limits.ts'
import { policyNameAllowed, policyNameForm, textOf } from '../config/setting-checks.ts'
import { defaultPolicyName } from '../model/policy-form.ts'

/** `policyStepsMax` bounds their work. */
const rulesMax = 100

const policyDescriptionCharsMax = 500

const actionForm = /^[a-z][a-z0-9_-]{0,31}$/

const action = textOf(
  'allow, challenge, block, or a word of your own of a–z, 0–9, _ and -',
  (value) => actionForm.test(value),
)

/** Not part of the revision. */
const description = textOf(
  `text of at most ${policyDescriptionCharsMax} characters`,
  (value) => value.length <= policyDescriptionCharsMax,
)

const rule = z.strictObject(
  {
    name: textOf(policyNameAllowed, (value) => policyNameForm.test(value)),
    description: description.exactOptional(),
    condition: textOf(
      `a condition in CEL of at most ${conditionCharsMax} characters`,
      (value) => value !== '' && value.length <= conditionCharsMax,
    ),
    action,
    observe: z.boolean('true or false').default(false),
  },
  'an object of name, condition, action, and observe if it is only counted',
)

const policy = z.strictObject(
  {
    description: description.exactOptional(),
    rules: z.array(rule, 'a list of rules').max(rulesMax, `at most ${rulesMax} rules`),
    otherwise: action,
  },
  'an object of rules and otherwise',
)

export const policiesSchema = z.strictObject(
  {
    policies: z
      .record(
        z.string().regex(policyNameForm, policyNameAllowed),
        policy,
        'an object of policies by name',
      )
      .refine(
        (named) => Object.keys(named).length <= policiesMax,
        `at most ${policiesMax} policies`,
      )
      .refine(
        (named) => Object.hasOwn(named, defaultPolicyName),
        `an object that has the policy ${defaultPolicyName}, for keys without one`,
      ),
  },
  'a JSON object with the member policies',
)

export type PolicyText = z.input<typeof policy>
/** In the file's order, with descriptions. */
export type WrittenPolicies = z.output<typeof policiesSchema>['policies']
export type PolicyIssue = z.core.$ZodIssue

/** The members that an object at that place may have. */
export const membersByDepth: readonly (readonly string[])[] = [
  Object.keys(policiesSchema.shape),
  [],
  Object.keys(policy.shape),
  [],
  Object.keys(rule.shape),
]
