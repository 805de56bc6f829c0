// Which checks are answered with insights (contract 3.15 and 5.2): by the plan, and by what the
// query asks for. What insights say is in test/table/explain/insights.test.ts.

import { expect, it } from 'vitest'
import { insightsModeOf } from '../../../src/http/endpoint/insights-endpoint.ts'
import { insightsModes } from '../../../src/http/exchange/exchange.ts'

const { none, given, absent } = insightsModes

it.each([
  ['', none, none, given],
  ['a=b', none, none, given],
  ['include', none, none, given],
  ['include=', none, none, given],
  ['include=,', none, none, given],
  ['include=insights', absent, given, given],
  ['a=b&include=insights', absent, given, given],
  ['include=insights,insights&include=', absent, given, given],
  ['include=%69nsights', absent, given, given],
  ['include=insight', undefined, undefined, undefined],
  ['include=INSIGHTS', undefined, undefined, undefined],
  ['include=insights,other', undefined, undefined, undefined],
  ['include=insights&include=other', undefined, undefined, undefined],
  ['include=insights%20', undefined, undefined, undefined],
  ['include=%', undefined, undefined, undefined],
])('of "%s" plans make: never %s, on request %s, always %s', (query, never, onRequest, always) => {
  expect(insightsModeOf({ insights: 'never' }, query)).toBe(never)
  expect(insightsModeOf({ insights: 'on_request' }, query)).toBe(onRequest)
  expect(insightsModeOf({ insights: 'always' }, query)).toBe(always)
})
