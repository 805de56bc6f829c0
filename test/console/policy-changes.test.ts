// What a draft of policies changes, as the lines that are asked about before it is saved.

import { expect, it } from 'vitest'
import { policyChanges } from '../../src/console/page/text/policy-changes.ts'

const tor = { name: 'tor', condition: 'signals.tor', action: 'block' }
const high = { name: 'high', condition: 'risk_score >= 75', action: 'challenge', observe: true }
const before = { default: { rules: [tor, high], otherwise: 'allow' } }

it.each([
  [before, []],
  [{ default: { ...before.default, description: 'ours' } }, []],
  [
    { default: { rules: [tor, { ...high, observe: false }], otherwise: 'challenge' } },
    [
      'default:',
      '− high: risk_score >= 75 → challenge, only observed',
      '− otherwise → allow',
      '+ high: risk_score >= 75 → challenge',
      '+ otherwise → challenge',
    ],
  ],
  [{ default: { rules: [high, tor], otherwise: 'allow' } }, ['default:', 'the order of the rules']],
  [{ ...before, login: { rules: [], otherwise: 'allow' } }, ['login:', '+ otherwise → allow']],
  [
    {},
    [
      'default:',
      '− tor: signals.tor → block',
      '− high: risk_score >= 75 → challenge, only observed',
      '− otherwise → allow',
    ],
  ],
])('of %j', (draft, lines) => {
  expect(policyChanges(before, draft)).toEqual(lines)
})
