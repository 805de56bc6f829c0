// The routes of a refresh, by the same program that `--refresh-every` runs.

import { type AuditedAct, withAuditedChanges } from '../../audit/audit-log.ts'
import { objectOrNull, shape, text, textOrNull, truth } from '../../api/json-schema.ts'
import { environmentError, inputError } from '../../base/coded-error.ts'
import type { Refresh } from '../../supervisor/tables/refresh.ts'
import { type AdminRoute, viewing } from '../admin-api.ts'
import { viaOf } from '../admin-caller.ts'

export interface RefreshApiParts {
  readonly state: string
  /** `undefined` during the start, `null` if the server builds no tables. */
  readonly refresh: () => Pick<Refresh, 'view' | 'start'> | undefined | null
  readonly onUnwritten: AuditedAct['onUnwritten']
}

const view = shape({
  running: truth,
  stage: { ...textOrNull, description: "The last line of the build's output." },
  last: {
    ...objectOrNull,
    properties: { at: text, outcome: { enum: ['done', 'failed'] }, message: text },
  },
})

export function refreshRoutes(parts: RefreshApiParts): readonly AdminRoute[] {
  const path = '/admin/refresh'
  return [
    {
      ...viewing,
      path,
      summary: 'The state of a running refresh and the result of the last one',
      answer: view,
      run: async () => parts.refresh()?.view() ?? { running: false, stage: null, last: null },
    },
    {
      method: 'POST',
      path,
      role: 'admin',
      summary: 'Fetch the feeds and build a table now; it is accepted and loaded as usual',
      status: 202,
      answer: view,
      run: async ({ caller }) => {
        const { state, onUnwritten } = parts
        const refresh = parts.refresh()
        if (refresh === undefined) {
          const message = 'The server is starting; try again in a moment.'
          throw environmentError('starting', message, { retryable: true })
        }
        if (refresh === null) {
          throw inputError(
            'refresh_elsewhere',
            'This server pulls its tables from a publisher (--table-url); refresh them there.',
          )
        }
        return withAuditedChanges(
          {
            state,
            act: 'table refresh',
            keys: [],
            via: viaOf(caller),
            member: 'server_changes',
            onUnwritten,
          },
          async () => {
            if (refresh.start()) return refresh.view()
            throw inputError(
              'refresh_running',
              'A refresh is already running; GET /admin/refresh shows its progress.',
            )
          },
        )
      },
    },
  ]
}
