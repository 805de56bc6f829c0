// Which policy of a draft is shown, and, for whoever may save, a new one beside it or one fewer.

import { useState } from 'preact/hooks'

export function PolicyTabs(props: {
  readonly names: readonly string[]
  readonly name: string
  readonly isFixed: boolean
  readonly choose: (name: string) => void
  readonly onAdd: (name: string) => void
  readonly onRemove: (name: string) => void
}) {
  const { names, name, isFixed, choose, onAdd, onRemove } = props
  return (
    <div class="policy-names">
      <div class="tabs" role="group" aria-label="Which policy">
        {names.map((one) => (
          <button key={one} type="button" aria-pressed={one === name} onClick={() => choose(one)}>
            {one}
          </button>
        ))}
      </div>
      {!isFixed && names.includes(name) && name !== 'default' && (
        <button type="button" onClick={() => onRemove(name)}>
          Remove {name}
        </button>
      )}
      {!isFixed && <NewPolicy key={String(names.length === 0)} names={names} onAdd={onAdd} />}
    </div>
  )
}

/** The first one decides for all keys that name none, so it has that name. */
function NewPolicy(props: {
  readonly names: readonly string[]
  readonly onAdd: (name: string) => void
}) {
  const { names, onAdd } = props
  const isFirst = names.length === 0
  const [text, setText] = useState(isFirst ? 'default' : '')
  const name = text.trim()
  const isTaken = names.includes(name)
  const add = (event: Event): void => {
    event.preventDefault()
    if (name === '' || isTaken) return
    setText('')
    onAdd(name)
  }
  return (
    <form class="policy-names" onSubmit={add}>
      <label class="field">
        <span>New policy</span>
        <input
          value={text}
          aria-invalid={isTaken}
          spellcheck={false}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={name === '' || isTaken}>
        Add
      </button>
    </form>
  )
}
