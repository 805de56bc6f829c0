// One rule: its name, condition, action, and whether it only observes.

import { useId } from 'preact/hooks'
import type { RuleText } from '../parts/policy-choice.tsx'
import { actionTone } from '../text/tone.ts'
import type { PlacedMistake } from '../text/policy-mistakes.ts'

export function RuleEditor(props: {
  readonly rule: RuleText
  readonly place: number
  readonly isFixed: boolean
  readonly mistakes: readonly PlacedMistake[]
  readonly onChange: (rule: RuleText) => void
  readonly onRemove: () => void
  readonly onRaise: (() => void) | undefined
}) {
  const { rule, place, isFixed, mistakes, onChange, onRemove, onRaise } = props
  const { name, condition, action, observe = false, description } = rule
  const of = (member: string) => mistakes.filter((mistake) => mistake.member === member)
  const known = ['name', 'condition', 'action']
  const others = mistakes.filter(({ member }) => !known.includes(member ?? ''))
  const set = (member: 'name' | 'condition' | 'action') => (text: string) =>
    onChange({ ...rule, [member]: text })
  return (
    <li class="rule" tabIndex={-1}>
      <div class="rule-head">
        <span class={`dot ${actionTone(action)}`} aria-hidden="true" />
        <Field label="Name" text={name} mistakes={of('name')} isFixed={isFixed} set={set('name')} />
        <Field
          label="Action"
          text={action}
          mistakes={of('action')}
          isFixed={isFixed}
          set={set('action')}
        />
        <label class="tick">
          <input
            type="checkbox"
            checked={observe}
            disabled={isFixed}
            onChange={({ currentTarget }) => onChange({ ...rule, observe: currentTarget.checked })}
          />
          only observe
        </label>
        {!isFixed && (
          <div class="actions">
            <button type="button" aria-label={`Remove ${name}`} onClick={onRemove}>
              Remove
            </button>
            <Up name={name} onRaise={onRaise} />
          </div>
        )}
      </div>
      <Field
        label={`Condition of rule ${place + 1}`}
        text={condition}
        isCode
        mistakes={of('condition')}
        isFixed={isFixed}
        set={set('condition')}
      />
      {description !== undefined && <p class="quiet">{description}</p>}
      {others.map(({ message }) => (
        <p key={message} class="warn">
          {message}
        </p>
      ))}
    </li>
  )
}

function Up(props: { readonly name: string; readonly onRaise: (() => void) | undefined }) {
  const { name, onRaise } = props
  return (
    <button
      type="button"
      class="is-up"
      aria-label={`Move ${name} up`}
      disabled={onRaise === undefined}
      onClick={onRaise}
    >
      Up
    </button>
  )
}

function Field(props: {
  readonly label: string
  readonly text: string
  readonly isCode?: boolean
  readonly isFixed: boolean
  readonly mistakes: readonly PlacedMistake[]
  readonly set: (text: string) => void
}) {
  const { label, text, isCode = false, isFixed, mistakes, set } = props
  const id = useId()
  const isWrong = mistakes.length > 0
  const shared = {
    value: text,
    readOnly: isFixed,
    spellcheck: false,
    'aria-invalid': isWrong,
    'aria-describedby': isWrong ? id : undefined,
  }
  return (
    <label class={isCode ? 'field grow' : 'field'}>
      <span>{label}</span>
      {isCode ? (
        <textarea
          {...shared}
          class="mono"
          rows={Math.max(1, text.split('\n').length)}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      ) : (
        <input {...shared} onInput={({ currentTarget }) => set(currentTarget.value)} />
      )}
      {isWrong && (
        <span id={id} class="warn">
          {mistakes.map(({ message }) => message).join(' ')}
        </span>
      )}
    </label>
  )
}
