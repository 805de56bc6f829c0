// Which checks are answered with insights (contract 3.15 and 5.2): by the plan, and by what the
// query asks for. What insights say is in test/table/explain/insights.test.ts.

import { expect, it } from 'vitest'
import { nothingAsked } from '../../../src/context/asked-members.ts'
import { takeInclude } from '../../../src/http/endpoint/insights-endpoint.ts'
import { type Exchange, insightsModes } from '../../../src/http/exchange/exchange.ts'

const { none, given, absent } = insightsModes

function taken(insights: 'never' | 'on_request' | 'always', query: string) {
  const exchange = { insights: none, asked: nothingAsked } as Exchange
  return takeInclude(exchange, { insights }, query) ? exchange : undefined
}

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
  ['include=prefix', none, none, given],
  ['include=prefix,insights', absent, given, given],
  ['include=detections', none, none, given],
  ['include=prefix,detections&include=insights', absent, given, given],
  ['include=prefixes', undefined, undefined, undefined],
  ['include=insight', undefined, undefined, undefined],
  ['include=INSIGHTS', undefined, undefined, undefined],
  ['include=insights,other', undefined, undefined, undefined],
  ['include=insights&include=other', undefined, undefined, undefined],
  ['include=insights%20', undefined, undefined, undefined],
  ['include=%', undefined, undefined, undefined],
])('of "%s" plans make: never %s, on request %s, always %s', (query, never, onRequest, always) => {
  expect(taken('never', query)?.insights).toBe(never)
  expect(taken('on_request', query)?.insights).toBe(onRequest)
  expect(taken('always', query)?.insights).toBe(always)
})

it.each(['prefix', 'detections'] as const)(
  'adds %s where asked, alone or beside others',
  (name) => {
    for (const query of ['NAME', 'insights,NAME', 'insights&a=b&include=NAME', ',NAME']) {
      expect(taken('never', `include=${query.replace('NAME', name)}`)?.asked[name]).toBe(true)
    }
    for (const query of ['', 'include=', 'include=insights']) {
      expect(taken('always', query)?.asked).toEqual(nothingAsked)
    }
  },
)
