// The routes of the policies and tables that the server answers with.

import {
  type AuditedAct,
  type ServerAuditChange,
  withAuditedChanges,
} from '../../audit/audit-log.ts'
import { inputError } from '../../base/coded-error.ts'
import { checkInThread } from '../../policy/check-thread.ts'
import { checkWrittenInTurns } from '../../policy/policy-file.ts'
import type { WrittenPolicies } from '../../policy/policy-schema.ts'
import type { PolicyPlace } from '../../policy/policy-place.ts'
import { savePolicies } from '../../policy/save-policies.ts'
import type { SwapOutcome, TableManager } from '../../supervisor/tables/table-manager.ts'
import { type AdminRoute, viewing, withBody } from '../admin-api.ts'
import { viaOf } from '../admin-caller.ts'
import type { PoliciesStatus } from '../../api/admin-answers.ts'
import { policiesChange, policiesDraft, tableReload } from '../../api/admin-requests.ts'
import { anyObject, listOf, objectOrNull, shape, text, textOrNull } from '../../api/json-schema.ts'
import type { TableStatus } from '../status.ts'

export interface ServerApiParts {
  readonly state: string
  readonly onUnwritten: AuditedAct['onUnwritten']
  readonly policies: {
    readonly place: PolicyPlace
    readonly look: () => void
    readonly written: () => WrittenPolicies | undefined
    readonly fileTag: () => string | undefined
    readonly status: () => PoliciesStatus | undefined
  }
  readonly tables: Pick<TableManager, 'reload' | 'rollback' | 'status'>
  readonly table: () => TableStatus | null
}

const swapped = shape({ kind: { enum: ['swapped', 'unchanged'] }, table: text })

export function serverRoutes(parts: ServerApiParts): readonly AdminRoute[] {
  return [...policyRoutes(parts), ...tableRoutes(parts)]
}

/** `run` records the states before and after. */
function audited<T>(
  { state, onUnwritten }: ServerApiParts,
  of: { readonly act: 'policies save' | 'table reload' | 'table rollback'; readonly via: string },
  run: (note: (change: ServerAuditChange) => void) => Promise<T>,
): Promise<T> {
  const more = { keys: [], member: 'server_changes', onUnwritten } as const
  return withAuditedChanges({ state, ...of, ...more }, (changes) =>
    run((change) => void changes.push(change)),
  )
}

function policyRoutes(parts: ServerApiParts): readonly AdminRoute[] {
  const { policies } = parts
  return [
    {
      ...viewing,
      path: '/admin/policies',
      summary: 'The policies in use, and why a changed file is not',
      answer: shape(
        {
          status: objectOrNull,
          file_tag: { ...text, description: 'The tag of the file; absent without one.' },
          policies: anyObject,
        },
        [],
      ),
      run: async () => ({
        status: policies.status() ?? null,
        file_tag: policies.fileTag(),
        policies: policies.written() ?? {},
      }),
    },
    withBody(policiesDraft, {
      method: 'POST',
      path: '/admin/policies/check',
      role: 'viewer',
      summary: 'Validate a policies file, like `iprisk policy check`; changes nothing',
      status: 200,
      answer: shape({
        revision: textOrNull,
        names: listOf(text),
        mistakes: { ...listOf(text), description: 'Each with its place.' },
      }),
      run: (_request, _body, draft) => checkInThread(draft),
    }),
    savingRoute(parts),
  ]
}

const mistaken = {
  code: 'policies_invalid',
  message: 'Nothing was saved: the policies have mistakes.',
} as const

function savingRoute(parts: ServerApiParts): AdminRoute {
  const { policies } = parts
  return withBody(policiesChange, {
    method: 'POST',
    path: '/admin/policies',
    role: 'admin',
    summary: 'Save the policies file, if it still has the revision that was changed',
    status: 200,
    answer: shape({ revision: text, file_tag: text }, ['revision']),
    run: async ({ caller }, { revision, file_tag: tag }, written) => {
      const { revision: _, file_tag: _tag, ...content } = written
      const checked = await checkWrittenInTurns(content)
      if ('mistakes' in checked) {
        return { reply: { status: 400, body: { error: mistaken, mistakes: checked.mistakes } } }
      }
      const of = { act: 'policies save', via: viaOf(caller) } as const
      const saving = audited(parts, of, async (note) => {
        const outcome = savePolicies(policies.place, { revision, tag }, content)
        note({ before: outcome.before, after: outcome.revision })
        return outcome
      })
      // Editors that must reload get the file that conflicted.
      const saved = await saving.finally(() => policies.look())
      return { revision: saved.revision, file_tag: policies.fileTag() }
    },
  })
}

function tableRoutes(parts: ServerApiParts): readonly AdminRoute[] {
  const { table, tables } = parts
  const swap = (
    { via, act }: { readonly via: string; readonly act: 'table reload' | 'table rollback' },
    run: () => Promise<SwapOutcome>,
  ): Promise<object> =>
    audited(parts, { act, via }, async (note) => {
      const before = table()?.id ?? null
      const outcome = done(await run())
      note({ before, after: outcome.table })
      return outcome
    })
  const change = { method: 'POST', role: 'admin', status: 200, answer: swapped } as const
  return [
    {
      ...viewing,
      path: '/admin/table',
      summary: 'The table in use, and the results of others',
      answer: shape({ table: objectOrNull, tables: anyObject }, []),
      run: async () => ({ table: table(), tables: tables.status() }),
    },
    withBody(tableReload, {
      ...change,
      path: '/admin/table/reload',
      summary: 'Load the new table, like `iprisk reload`',
      run: ({ caller }, { force = false }) =>
        swap({ act: 'table reload', via: viaOf(caller) }, () => tables.reload({ force })),
    }),
    {
      ...change,
      path: '/admin/table/rollback',
      summary: 'Return to the previous table, like `iprisk rollback`',
      run: ({ caller }) =>
        swap({ act: 'table rollback', via: viaOf(caller) }, () => tables.rollback()),
    },
  ]
}

function done(outcome: SwapOutcome): { readonly table: string } {
  if (outcome.kind === 'swapped' || outcome.kind === 'unchanged') return outcome
  const message =
    outcome.kind === 'held'
      ? `Table ${outcome.table} was rolled back and will not be loaded again.`
      : outcome.kind === 'refused'
        ? outcome.reason
        : 'The server is shutting down.'
  throw inputError('table_refused', message)
}
