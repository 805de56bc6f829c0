// Which checks are answered with insights (contract 3.15): by the plan, and by what the request asks
// for. What insights say is in test/table/explain/insights.test.ts.

import { expect, it } from 'vitest'
import { wantsInsights } from '../../../src/http/endpoint/insights-endpoint.ts'

const wants = (insights: 'never' | 'on_request' | 'always', query: string): boolean =>
  wantsInsights({ insights }, { getQuery: () => query })

it.each([
  ['never', 'include=insights', false],
  ['on_request', '', false],
  ['on_request', 'include=other', false],
  ['on_request', 'include=insights', true],
  ['on_request', 'a=b&include=other,insights', true],
  ['always', '', true],
  ['always', 'include=other', true],
] as const)('a plan that says %s gives them for "%s": %s', (mode, query, expected) => {
  expect(wants(mode, query)).toBe(expected)
})
