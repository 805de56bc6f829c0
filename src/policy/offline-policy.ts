// The policy of an offline command, chosen as by the server. Its code is loaded on demand.

import { usageError } from '../base/coded-error.ts'
import type { OpenTable } from '../table/open-table.ts'
import type { Decide } from './decide-by.ts'
import { type ChosenPolicy, defaultPolicyName } from '../model/policy-form.ts'
import { hasPolicies, policyPlace } from './policy-place.ts'

/** `setting` is `--policies`, `named` is `--policy`. `warn` gets the file's warnings. */
export async function offlinePolicy(
  setting: string | undefined,
  named: string | undefined,
  warn: (line: string) => void,
): Promise<ChosenPolicy | undefined> {
  const place = policyPlace(setting)
  if (!hasPolicies(place)) return undefined
  const { readPolicyFile, warningLines } = await import('./policy-file.ts')
  const file = readPolicyFile(place)
  if (file === undefined) return undefined
  for (const line of warningLines(file)) warn(line)
  const { revision, policies } = file.policies
  const name = named ?? defaultPolicyName
  const rules = Object.hasOwn(policies, name) ? policies[name] : undefined
  if (rules !== undefined) return { revision, name, rules }
  throw usageError(
    `${file.path} has no policy ${name}; its policies are ${Object.keys(policies).join(', ')}.`,
  )
}

export async function offlineDecide(
  table: OpenTable,
  policy: ChosenPolicy | undefined,
): Promise<Decide | undefined> {
  if (policy === undefined) return undefined
  return (await import('./decide-by.ts')).decideBy(table, policy)
}
