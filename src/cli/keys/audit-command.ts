// `iprisk keys audit`: the last administrative acts, oldest first.

import { type AuditEntry, auditLogPath, readAuditLog } from '../../account/keys/audit-log.ts'
import { alignColumns } from '../../base/align-columns.ts'
import type { Settings } from '../../config/settings.ts'
import type { CommandIo } from './key-session.ts'

/** Ids beyond these are counted. */
const idsShownMax = 3

function keysText({ keys, changes }: AuditEntry): string {
  const ids = keys.length > 0 ? keys : changes.map(({ key }) => key)
  const shown = ids.slice(0, idsShownMax).join(' ')
  if (ids.length === 0) return '-'
  return ids.length > idsShownMax ? `${shown} and ${ids.length - idsShownMax} more` : shown
}

/** The members that an act has changed, with what they are now. */
function changeText({ changes }: AuditEntry): string {
  const [change] = changes
  if (change === undefined || changes.length > 1) return ''
  const { before, after } = change
  if (before === undefined) return `plan ${after.plan}`
  const names = Object.keys(after) as (keyof typeof after)[]
  return names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => (name === 'secrets' ? 'a new secret' : `${name} ${JSON.stringify(after[name])}`))
    .join(', ')
}

/** `keys audit`: a table, or with `--json` one JSON object an act and line. */
export async function keysAudit(settings: Settings, io: CommandIo): Promise<void> {
  const { state, invocation } = settings
  const { entries, broken } = await readAuditLog(state, invocation.last)
  if (invocation.json) {
    for (const entry of entries) io.out(JSON.stringify(entry))
    return
  }
  if (entries.length === 0) {
    io.out(`No act is recorded in ${auditLogPath(state)}.`)
    return
  }
  const rows = entries.map((entry) => [
    entry.at,
    entry.sudo_user === undefined ? entry.user : `${entry.user} (${entry.sudo_user})`,
    entry.act,
    entry.code === undefined ? entry.result : `${entry.result}: ${entry.code}`,
    keysText(entry),
    changeText(entry),
  ])
  const head = ['AT', 'USER', 'ACT', 'RESULT', 'KEYS', 'CHANGE']
  for (const line of alignColumns([head, ...rows], head.length)) io.out(line)
  if (broken > 0) io.out(`Lines that killed processes left broken off: ${broken}.`)
}
