// `iprisk keys audit`: the last administrative acts, oldest first.

import {
  type AuditEntry,
  type ListAuditChange,
  auditActor,
  auditLogPath,
  readAuditLog,
} from '../../audit/audit-log.ts'
import { joinFew } from '../../base/text/shortened-list.ts'
import type { Settings } from '../../config/settings.ts'
import { printTable } from '../terminal/io.ts'
import type { CommandIo } from './key-session.ts'

const idsShownMax = 3

function keysText({ keys, list, changes }: AuditEntry): string {
  if (list !== undefined) return list
  const ids = keys.length > 0 ? keys : changes.map(({ key }) => key)
  return joinFew(ids, idsShownMax, { between: ' ' }) || '-'
}

function whoText(entry: AuditEntry): string {
  const { who, via } = auditActor(entry)
  return via === 'command line' ? who : `${who} via ${via}`
}

function changeText(entry: AuditEntry): string {
  const { changes, list_changes: listChanges = [], server_changes: [own] = [] } = entry
  if (own !== undefined) return `${own.before ?? 'none'} → ${own.after ?? 'none'}`
  const [listChange] = listChanges
  if (listChange !== undefined) return listChangeText(listChange)
  const [change] = changes
  if (change === undefined || changes.length > 1) return ''
  const { before, after } = change
  if (before === undefined) return `plan ${after.plan}`
  const names = Object.keys(after) as (keyof typeof after)[]
  return names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => (name === 'secrets' ? 'new secret' : `${name} ${JSON.stringify(after[name])}`))
    .join(', ')
}

function listChangeText({ added, changed, removed, after }: ListAuditChange): string {
  const counts = [
    [added, 'added'],
    [changed, 'changed'],
    [removed, 'removed'],
  ] as const
  const done = counts.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : []))
  const whole = after === null ? 'list deleted' : `${after.entries} entries, ${after.effect}`
  return [...done, whole].join(', ')
}

export async function keysAudit(settings: Settings, io: CommandIo): Promise<void> {
  const { state, invocation } = settings
  const { entries, broken } = await readAuditLog(state, invocation.last)
  if (invocation.json) {
    for (const entry of entries) io.out(JSON.stringify(entry))
    return
  }
  if (entries.length === 0) {
    io.out(`The audit log ${auditLogPath(state)} has no entries.`)
    return
  }
  const rows = entries.map((entry) => [
    entry.at,
    whoText(entry),
    entry.act,
    entry.code === undefined ? entry.result : `${entry.result}: ${entry.code}`,
    keysText(entry),
    changeText(entry),
  ])
  const head = ['AT', 'WHO', 'ACT', 'RESULT', 'KEYS OR LIST', 'CHANGE']
  printTable(io, head, rows)
  if (broken > 0) io.out(`Incomplete lines, left by killed processes: ${broken}.`)
}
