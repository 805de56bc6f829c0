// The routes of a refresh: fetching the feeds and building a table, by the same program that
// `--refresh-every` runs.

import { withAuditedChanges } from '../../audit/audit-log.ts'
import { IpriskError } from '../../base/coded-error.ts'
import type { Refresh } from '../../supervisor/tables/refresh.ts'
import type { AdminRoute } from '../admin-api.ts'
import { viaOf } from '../admin-caller.ts'

export interface RefreshApiParts {
  readonly state: string
  /** `undefined` while the server starts, `null` where it builds no tables. */
  readonly refresh: () => Pick<Refresh, 'view' | 'start'> | undefined | null
  readonly onUnwritten: (message: string) => void
}

const text = { type: 'string' } as const
const view = {
  type: 'object',
  required: ['running', 'stage', 'last'],
  properties: {
    running: { type: 'boolean' },
    stage: { type: ['string', 'null'], description: 'What the build has said last.' },
    last: {
      type: ['object', 'null'],
      properties: { at: text, outcome: { enum: ['done', 'failed'] }, message: text },
    },
  },
} as const

const idle = { running: false, stage: null, last: null } as const

export function refreshRoutes(parts: RefreshApiParts): readonly AdminRoute[] {
  const path = '/admin/refresh'
  return [
    {
      method: 'GET',
      path,
      role: 'viewer',
      summary: 'Whether a refresh runs, how far it is, and how the last one ended',
      status: 200,
      answer: view,
      run: async () => parts.refresh()?.view() ?? idle,
    },
    {
      method: 'POST',
      path,
      role: 'admin',
      summary: 'Fetch the feeds and build a table now; it goes live as any other',
      status: 202,
      answer: view,
      run: async ({ caller }) => {
        const { state, onUnwritten } = parts
        const refresh = parts.refresh()
        if (refresh === undefined) throw notYet()
        if (refresh === null) throw notHere()
        return withAuditedChanges(
          {
            state,
            act: 'table refresh',
            keys: [],
            via: viaOf(caller),
            member: 'server_changes',
            onUnwritten: ({ message }) => onUnwritten(message),
          },
          async () => {
            if (!refresh.start()) throw running()
            return refresh.view()
          },
        )
      },
    },
  ]
}

function running(): IpriskError {
  const message = 'A refresh runs already; GET /admin/refresh says how far it is.'
  return new IpriskError({ code: 'refresh_running', message, fault: 'input' })
}

function notHere(): IpriskError {
  const message =
    'This server takes its tables from a publisher (--table-url) and builds none: refresh there.'
  return new IpriskError({ code: 'refresh_elsewhere', message, fault: 'input' })
}

function notYet(): IpriskError {
  const message = 'The server is starting; try again in a moment.'
  return new IpriskError({ code: 'starting', message, fault: 'environment', retryable: true })
}
