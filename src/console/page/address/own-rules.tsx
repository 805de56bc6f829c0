// Which of our own lists name the address, and what our rules make of it.

import type { AddressView } from '../../../api/admin-answers.ts'
import { useMay } from '../ask/session.ts'
import { Panel } from '../parts/panel.tsx'
import { ActionTag } from '../parts/tag.tsx'
import { routeTo } from '../route.ts'
import { utcTime } from '../text/figures.ts'

export function OwnRules({ ip, view }: { readonly ip: string; readonly view: AddressView }) {
  const { lists, decision, answer } = view
  const mayList = useMay('analyst')
  const { observed = [] } = answer
  return (
    <Panel
      title="Our lists and rules"
      meaning="decision"
      aside={mayList && <a href={routeTo('rules', 'lists', { add: ip })}>Add to a list</a>}
    >
      <OwnLists lists={lists} />
      {decision === null ? (
        <p class="quiet">This server has no policies.</p>
      ) : (
        <p>
          The policy <a href={routeTo('rules', 'policies')}>{decision.policy}</a> says{' '}
          <ActionTag action={decision.action} />
          {decision.rule === '' ? ' (no rule matched)' : ` by its rule ${decision.rule}`}.
        </p>
      )}
      {observed.length > 0 && <p>Matching rules in observation: {observed.join(', ')}.</p>}
    </Panel>
  )
}

/** Entries of own lists. */
export function OwnLists({ lists }: Pick<AddressView, 'lists'>) {
  if (lists.length === 0) return <p class="quiet">No list contains it.</p>
  return (
    <ul class="own-lists">
      {lists.map(({ list, effect, entry, since, until, note }) => (
        <li key={`${list} ${entry}`}>
          <a href={routeTo('rules', `lists/${list}`)}>{list}</a>{' '}
          {effect === 'none' ? 'tags it' : <ActionTag action={effect} />}, as <code>{entry}</code>
          <p class="quiet">
            {since !== '' && `since ${utcTime(since)}, `}
            {until === null ? 'always' : `until ${utcTime(until)}`}
            {note !== '' && ` · ${note}`}
          </p>
        </li>
      ))}
    </ul>
  )
}
