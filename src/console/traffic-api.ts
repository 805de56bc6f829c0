// The route of what is going on: a point a minute, and the one that runs.

import { type AdminRoute, badRequest } from '../admin/admin-api.ts'
import type { TrafficRing } from './traffic-ring.ts'

const text = { type: 'string' } as const
const number = { type: 'number' } as const
const counts = { type: 'object', additionalProperties: { type: 'integer' } } as const
const top = {
  type: 'array',
  items: {
    type: 'object',
    required: ['name', 'checks', 'error'],
    properties: { name: text, checks: { type: 'integer' }, error: { type: 'integer' } },
  },
} as const

export function trafficRoutes(ring: TrafficRing): readonly AdminRoute[] {
  return [
    {
      method: 'GET',
      path: '/admin/traffic',
      role: 'viewer',
      summary: 'The last day by minutes, kept in memory, and what was asked about most in an hour',
      query: { since: 'Only minutes from this instant on, the `at` of the last one known.' },
      status: 200,
      answer: {
        type: 'object',
        required: ['minutes', 'top'],
        properties: {
          minutes: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                at: text,
                checks: { type: 'integer' },
                classes: counts,
                scores: { type: 'array', items: { type: 'integer' } },
                decisions: counts,
                statuses: counts,
                limited: counts,
                latency: {
                  type: ['object', 'null'],
                  properties: { p50: number, p90: number, p99: number },
                },
              },
            },
          },
          top: {
            type: 'object',
            properties: { networks: top, countries: top, providers: top },
          },
        },
      },
      run: async ({ query }) => {
        const since = query.get('since')
        const sinceMs = since === null ? -Infinity : Date.parse(since)
        if (Number.isNaN(sinceMs)) {
          throw badRequest('invalid_input', 'since must be an instant as `at` has it.')
        }
        return ring.view(sinceMs)
      },
    },
  ]
}
