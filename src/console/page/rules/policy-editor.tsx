// A policy's rules in order, with mistakes below their fields.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { PolicyText, RuleText } from '../parts/policy-choice.tsx'
import { Field, TextField, Tick } from '../parts/fields.tsx'
import { Lines } from '../parts/problem.tsx'
import { ActionTag } from '../parts/tag.tsx'
import type { PlacedMistake } from '../text/policy-mistakes.ts'
import { counted } from '../text/figures.ts'
import { actionTone } from '../text/tone.ts'
import { ConditionArea } from './condition-area.tsx'

interface EditorProps {
  readonly policy: PolicyText
  readonly mistakes: readonly PlacedMistake[]
  readonly isFixed: boolean
  readonly onChange: (policy: PolicyText) => void
}

export function PolicyEditor(props: EditorProps) {
  const { policy, mistakes, isFixed, onChange } = props
  const { rules, otherwise } = policy
  const setRules = (next: RuleText[]): void => onChange({ ...policy, rules: next })
  const [list, moved] = useMoved()
  const raise = (at: number): void => {
    setRules(raised(rules, at))
    moved(at - 1)
  }
  const own = mistakes.filter(({ rule }) => rule === undefined)
  return (
    <>
      <Steps policy={policy} isFixed={isFixed} onChange={onChange} />
      <p class="quiet">The first rule that matches decides.</p>
      <ol class="rules" ref={list}>
        {rules.map((rule, at) => (
          <RuleEditor
            key={at}
            rule={rule}
            place={at}
            isFixed={isFixed}
            mistakes={mistakes.filter((mistake) => mistake.rule === at)}
            onChange={(next) => setRules(rules.toSpliced(at, 1, next))}
            onRemove={() => setRules(rules.toSpliced(at, 1))}
            onRaise={at === 0 ? undefined : () => raise(at)}
          />
        ))}
      </ol>
      {!isFixed && (
        <button type="button" onClick={() => setRules([...rules, newRule(rules.length)])}>
          Add a rule
        </button>
      )}
      <div class="otherwise">
        <TextField
          label="Otherwise"
          value={otherwise}
          readOnly={isFixed}
          set={(next) => onChange({ ...policy, otherwise: next })}
        />
        <ActionTag action={otherwise} />
      </div>
      <Lines of={messagesOf(own)} tone="warn" />
    </>
  )
}

/** How rules go live. */
function Steps({ policy, isFixed, onChange }: Omit<EditorProps, 'mistakes'>) {
  const { rules } = policy
  const observed = rules.filter(({ observe }) => observe).length
  const enforce = (): void =>
    onChange({ ...policy, rules: rules.map(({ observe: _observe, ...rule }) => rule) })
  return (
    <ol class="steps">
      <li aria-current={observed > 0 ? 'step' : undefined}>
        Observe: {observed} of {counted(rules.length, 'rule')}
      </li>
      <li>Rehearse: below, on the sample or a log</li>
      <li aria-current={observed === 0 ? 'step' : undefined}>
        Enforce: {rules.length - observed} of {rules.length}
        {!isFixed && observed > 0 && <button onClick={enforce}>Enforce all</button>}
      </li>
    </ol>
  )
}

/** The focus follows a moved rule, so that it can be moved again. */
function useMoved() {
  const list = useRef<HTMLOListElement>(null)
  const [moved, setMoved] = useState({ place: -1 })
  useEffect(() => {
    const rule = list.current?.children[moved.place] as HTMLElement | undefined
    const up = rule?.querySelector<HTMLElement>('.is-up:enabled')
    ;(up ?? rule)?.focus()
  }, [moved])
  return [list, (place: number) => setMoved({ place })] as const
}

const newRule = (number: number): RuleText => ({
  name: `rule-${number + 1}`,
  condition: 'risk_score >= 75',
  action: 'challenge',
  observe: true,
})

function raised(rules: readonly RuleText[], at: number): RuleText[] {
  const rule = rules[at]!
  return rules.toSpliced(at, 1).toSpliced(at - 1, 0, rule)
}

function RuleEditor(props: {
  readonly rule: RuleText
  readonly place: number
  readonly isFixed: boolean
  readonly mistakes: readonly PlacedMistake[]
  readonly onChange: (rule: RuleText) => void
  readonly onRemove: () => void
  readonly onRaise: (() => void) | undefined
}) {
  const { rule, place, isFixed, mistakes, onChange, onRemove, onRaise } = props
  const { name, action, observe = false, description } = rule
  const known = ['name', 'condition', 'action']
  const others = mistakes.filter(({ member }) => !known.includes(member ?? ''))
  const field = (member: 'name' | 'condition' | 'action') => ({
    text: rule[member],
    mistakes: mistakes.filter((mistake) => mistake.member === member),
    isFixed,
    set: (text: string) => onChange({ ...rule, [member]: text }),
  })
  return (
    <li class="rule" tabIndex={-1}>
      <div class="rule-head">
        <span class={`dot ${actionTone(action)}`} aria-hidden="true" />
        <RuleField label="Name" {...field('name')} />
        <RuleField label="Action" {...field('action')} />
        <Tick
          label="only observe"
          isOn={observe}
          disabled={isFixed}
          set={(next) => onChange({ ...rule, observe: next })}
        />
        {!isFixed && (
          <div class="actions">
            <button type="button" aria-label={`Remove ${name}`} onClick={onRemove}>
              Remove
            </button>
            <button
              type="button"
              class="is-up"
              aria-label={`Move ${name} up`}
              disabled={onRaise === undefined}
              onClick={onRaise}
            >
              Up
            </button>
          </div>
        )}
      </div>
      <RuleField label={`Condition of rule ${place + 1}`} isCode {...field('condition')} />
      {description !== undefined && <p class="quiet">{description}</p>}
      <Lines of={messagesOf(others)} tone="warn" />
    </li>
  )
}

const messagesOf = (mistakes: readonly Pick<PlacedMistake, 'message'>[]) =>
  mistakes.map(({ message }) => message)

export function RuleField(props: {
  readonly label: string
  readonly text: string
  readonly isCode?: boolean
  readonly isFixed: boolean
  readonly mistakes: Parameters<typeof messagesOf>[0]
  readonly set: (text: string) => void
}) {
  const { label, text, isCode = false, isFixed, mistakes, set } = props
  const id = useId()
  const isWrong = mistakes.length > 0
  const shared = {
    value: text,
    'aria-label': label,
    readOnly: isFixed,
    spellcheck: false,
    'aria-invalid': isWrong,
    'aria-describedby': isWrong ? id : undefined,
  }
  return (
    <Field label={label} place={isCode ? 'grow' : undefined}>
      {isCode ? (
        <ConditionArea {...shared} rows={Math.max(1, text.split('\n').length)} set={set} />
      ) : (
        <input {...shared} onInput={({ currentTarget }) => set(currentTarget.value)} />
      )}
      {isWrong && (
        <span id={id} class="warn">
          {messagesOf(mistakes).join(' ')}
        </span>
      )}
    </Field>
  )
}
