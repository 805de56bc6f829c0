// Own lists: which there are, and the entries of one.

import { useState } from 'preact/hooks'
import { askOrNotify } from '../ask/ask.ts'
import { notify } from '../ask/notices.ts'
import { useMay } from '../ask/session.ts'
import { useLoad } from '../ask/use-load.ts'
import { Choice, Form, TextField } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { Waiting } from '../parts/problem.tsx'
import { ActionTag } from '../parts/tag.tsx'
import { routeTo } from '../route.ts'
import { count } from '../text/figures.ts'
import { type ListHead, OneList } from './one-list.tsx'

export function ListsPart({ name, add }: { readonly name: string; readonly add: string }) {
  const loaded = useLoad<{ readonly lists: readonly ListHead[] }>('/admin/lists')
  const mayChange = useMay('analyst')
  const lists = loaded.value?.lists ?? []
  const shown = lists.find((list) => list.name === name) ?? (name === '' ? lists[0] : undefined)
  return (
    <div class="grid sides">
      <Panel title="Lists" meaning="lists">
        <Waiting loaded={loaded} />
        {loaded.value !== undefined && lists.length === 0 && <p class="quiet">No lists yet.</p>}
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
                  <span class="quiet">tag</span>
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

const effects = [['none', 'tag only'], 'allow', 'block'] as const

function NewList({ onMade }: { readonly onMade: () => void }) {
  const [name, setName] = useState('')
  const [effect, setEffect] = useState<string>('none')
  const make = async (): Promise<void> => {
    if ((await askOrNotify('POST', '/admin/lists', { name, effect })) === undefined) return
    notify(`List ${name} created.`)
    setName('')
    onMade()
    location.hash = routeTo('rules', `lists/${name}`)
  }
  return (
    <Form class="stack new-list" send={make}>
      <h3>New list</h3>
      <TextField
        label="Name"
        required
        pattern="[a-z][a-z0-9\-]{0,31}"
        title="Lower-case letters, digits and hyphens, from a letter on, at most 32"
        value={name}
        set={setName}
      />
      <Choice label="Effect" value={effect} options={effects} choose={setEffect} />
      <button type="submit">Create list</button>
    </Form>
  )
}
