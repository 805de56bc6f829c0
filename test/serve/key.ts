// A key as a keyring gives it, for tests of what comes behind one.

import { newAllowance } from '../../src/account/limits/allowance.ts'
import type { Authenticated } from '../../src/account/keyring.ts'

/** Without limits. */
export function keyOf(keyId: string): Authenticated {
  return {
    kind: 'authenticated',
    keyId,
    plan: 'internal',
    apis: ['ip-risk'],
    insights: 'never',
    isTest: false,
    limits: {},
    allowance: newAllowance(keyId, {}),
  }
}
