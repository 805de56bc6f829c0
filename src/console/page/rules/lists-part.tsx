// Own lists: which there are, and the entries of one.

import { useState } from 'preact/hooks'
import { ask } from '../ask/ask.ts'
import { tell } from '../ask/notices.ts'
import { useMay } from '../ask/session.ts'
import { useLoad } from '../ask/use-load.ts'
import { Panel } from '../parts/panel.tsx'
import { Waiting } from '../parts/problem.tsx'
import { ActionTag } from '../parts/tag.tsx'
import { routeTo } from '../route.ts'
import { count } from '../text/figures.ts'
import type { ListHead } from './list-answers.ts'
import { OneList } from './one-list.tsx'

export function ListsPart({ name, add }: { readonly name: string; readonly add: string }) {
  const loaded = useLoad<{ readonly lists: readonly ListHead[] }>('/admin/lists')
  const mayChange = useMay('analyst')
  const lists = loaded.value?.lists ?? []
  const shown = lists.find((list) => list.name === name) ?? (name === '' ? lists[0] : undefined)
  return (
    <div class="grid sides">
      <Panel title="Lists" meaning="lists">
        <Waiting loaded={loaded} />
        {loaded.value !== undefined && lists.length === 0 && (
          <p class="quiet">There is no list yet.</p>
        )}
        <ul class="menu">
          {lists.map((list) => (
            <li key={list.name}>
              <a
                href={routeTo('rules', `lists/${list.name}`, { add })}
                aria-current={list.name === shown?.name ? 'true' : undefined}
              >
                <span>{list.name}</span>
                <span class="quiet">{count(list.entries)}</span>
                {list.effect === 'none' ? (
                  <span class="quiet">names</span>
                ) : (
                  <ActionTag action={list.effect} />
                )}
              </a>
            </li>
          ))}
        </ul>
        {mayChange && <NewList onMade={loaded.again} />}
      </Panel>
      {shown === undefined ? (
        name !== '' && loaded.value !== undefined && <p class="problem">There is no list {name}.</p>
      ) : (
        <OneList key={shown.name} head={shown} add={add} onChanged={loaded.again} />
      )}
    </div>
  )
}

const effects = [
  ['none', 'only names'],
  ['allow', 'allow'],
  ['block', 'block'],
] as const

function NewList({ onMade }: { readonly onMade: () => void }) {
  const [name, setName] = useState('')
  const [effect, setEffect] = useState<string>('none')
  const make = async (): Promise<void> => {
    const answer = await ask('POST', '/admin/lists', { name, effect })
    if (answer.kind === 'refused') return tell(answer.message, true)
    tell(`The list ${name} is there.`)
    setName('')
    onMade()
    location.hash = routeTo('rules', `lists/${name}`)
  }
  return (
    <form
      class="stack new-list"
      onSubmit={(event) => {
        event.preventDefault()
        void make()
      }}
    >
      <h3>New list</h3>
      <label class="field">
        <span>Name</span>
        <input
          required
          pattern="[a-z][a-z0-9\-]{0,31}"
          title="Lower-case letters, digits and hyphens, from a letter on, at most 32"
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>Effect</span>
        <select value={effect} onChange={({ currentTarget }) => setEffect(currentTarget.value)}>
          {effects.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Make the list</button>
    </form>
  )
}
