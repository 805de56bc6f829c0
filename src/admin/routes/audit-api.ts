// The audit log's route. It reads only the end of the file, so that a log of years does not block
// the primary; `iprisk keys audit` reads all of it.

import { inputError } from '../../base/coded-error.ts'
import { type AuditEntry, auditActor, readAuditLog } from '../../audit/audit-log.ts'
import { joinFew } from '../../base/text/shortened-list.ts'
import type { AuditView } from '../../api/admin-answers.ts'
import { listOf, shape, text } from '../../api/json-schema.ts'
import { type AdminRoute, viewing, wholeParameter } from '../admin-api.ts'

const auditRowsMax = 1000
const auditTailBytesMax = 8_388_608

const rowsDefault = 100

export function auditRoutes({ state }: { readonly state: string }): readonly AdminRoute[] {
  return [
    {
      ...viewing,
      path: '/admin/audit',
      summary: 'The audit log, newest first: who did what, and when',
      query: {
        limit: `How many; ${rowsDefault} by default, at most ${auditRowsMax}.`,
        before: 'Only entries before this time, the `at` of the last one received.',
      },
      answer: shape({
        rows: listOf(shape({ at: text, who: text, via: text, act: text, what: text })),
      }),
      run: async ({ query }) => {
        const before = query.get('before') ?? undefined
        if (before !== undefined && Number.isNaN(Date.parse(before))) {
          throw inputError('invalid_input', 'before must be a time in the form of `at`.')
        }
        const limit = wholeParameter(query, 'limit', {
          usual: rowsDefault,
          min: 1,
          max: auditRowsMax,
        })
        const how = { before, tailBytes: auditTailBytesMax }
        const { entries } = await readAuditLog(state, limit, how)
        return { rows: entries.toReversed().map(rowOf) }
      },
    },
  ]
}

function rowOf(entry: AuditEntry): AuditView['rows'][number] {
  const { at, act } = entry
  const failed = entry.result === 'done' ? '' : `${entry.result}: ${entry.code ?? 'unfinished'}`
  return { at, ...auditActor(entry), act, what: [whatOf(entry), failed].filter(Boolean).join('; ') }
}

const shownMax = 3

function whatOf({
  keys,
  changes,
  list,
  entries = [],
  entry_count: total = entries.length,
  server_changes: own = [],
}: AuditEntry): string {
  const [change] = own
  if (change !== undefined) return `${change.before ?? 'none'} → ${change.after ?? 'none'}`
  if (list !== undefined)
    return [list, joinFew(entries, shownMax, { total })].filter(Boolean).join(': ')
  return joinFew(keys.length > 0 ? keys : changes.map(({ key }) => key), shownMax)
}
