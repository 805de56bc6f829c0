// Own lists, policies, published sets, and the audit log.

import { type Route, routeTo } from '../route.ts'
import { AuditLog } from './audit-log.tsx'
import { ListsPart } from './lists-part.tsx'
import { PoliciesPart } from './policies-part.tsx'
import { SetsPart } from './sets-part.tsx'

const parts = [
  ['lists', 'Lists'],
  ['policies', 'Policies'],
  ['sets', 'Published sets'],
  ['audit', 'Audit'],
] as const

export function RulesPage({ route }: { readonly route: Route }) {
  const [part = 'lists', name = ''] = route.rest.split('/')
  const here = parts.find(([one]) => one === part)?.[0] ?? 'lists'
  return (
    <>
      <div class="page-head">
        <h1>Rules</h1>
        <nav class="tabs" aria-label="Rules">
          {parts.map(([one, title]) => (
            <a
              key={one}
              href={routeTo('rules', one)}
              aria-current={one === here ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      </div>
      {here === 'policies' && <PoliciesPart />}
      {here === 'sets' && <SetsPart />}
      {here === 'audit' && <AuditLog />}
      {here === 'lists' && <ListsPart name={name} add={route.query.get('add') ?? ''} />}
    </>
  )
}
