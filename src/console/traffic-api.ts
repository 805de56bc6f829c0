// The route of the traffic by minute.

import { inputError } from '../base/coded-error.ts'
import { type AdminRoute, viewing } from '../admin/admin-api.ts'
import { listOf, objectOrNull, shape, text, whole } from '../api/json-schema.ts'
import type { TrafficRing } from './traffic-ring.ts'

const number = { type: 'number' } as const
const counts = { type: 'object', additionalProperties: whole } as const
const top = listOf(shape({ name: text, checks: whole, error: whole }))

const tops = { networks: top, countries: top, providers: top, blocked: top, keys: top }
const minute = shape(
  {
    at: text,
    checks: whole,
    classes: counts,
    sources: counts,
    keys: { ...counts, description: 'By key id, the largest 8; estimated as `top` is.' },
    scores: listOf(whole),
    decisions: counts,
    statuses: counts,
    limited: counts,
    latency: { ...objectOrNull, properties: { p50: number, p90: number, p99: number } },
  },
  [],
)

export function trafficRoutes(ring: TrafficRing): readonly AdminRoute[] {
  return [
    {
      ...viewing,
      path: '/admin/traffic',
      summary:
        'The last day by minute, totals of the day before, and the most requested of the last hour',
      query: { since: 'Only minutes from this time on, the `at` of the last one received.' },
      answer: shape({ minutes: listOf(minute), before: objectOrNull, top: shape(tops, []) }),
      run: async ({ query }) => {
        const since = query.get('since')
        const sinceMs = since === null ? -Infinity : Date.parse(since)
        if (Number.isNaN(sinceMs)) {
          throw inputError('invalid_input', 'since must be a time in the form of `at`.')
        }
        return ring.view(sinceMs)
      },
    },
  ]
}
