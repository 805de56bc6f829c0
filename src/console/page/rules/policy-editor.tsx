// The rules of a policy in their order, each member a field with its own mistakes below it.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { PolicyText, RuleText } from '../parts/policy-choice.tsx'
import { ActionTag } from '../parts/tag.tsx'
import type { PlacedMistake } from '../text/policy-mistakes.ts'
import { RuleEditor } from './rule-editor.tsx'

export function PolicyEditor(props: {
  readonly policy: PolicyText
  readonly mistakes: readonly PlacedMistake[]
  /** It is only shown. */
  readonly isFixed: boolean
  readonly onChange: (policy: PolicyText) => void
}) {
  const { policy, mistakes, isFixed, onChange } = props
  const { rules, otherwise } = policy
  const setRules = (next: readonly RuleText[]): void => onChange({ ...policy, rules: next })
  const [list, moved] = useMoved()
  const raise = (at: number): void => {
    setRules(raised(rules, at))
    moved(at - 1)
  }
  const own = mistakes.filter(({ rule }) => rule === undefined)
  return (
    <>
      <p class="quiet">The first rule that holds decides.</p>
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
        <label class="field">
          <span>Otherwise</span>
          <input
            value={otherwise}
            readOnly={isFixed}
            onInput={({ currentTarget }) => onChange({ ...policy, otherwise: currentTarget.value })}
          />
        </label>
        <ActionTag action={otherwise} />
      </div>
      {own.map(({ message }) => (
        <p key={message} class="warn">
          {message}
        </p>
      ))}
    </>
  )
}

/** The focus goes with a rule that moves: whoever presses again moves the same one. */
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

/** With the rule at that place one place earlier. */
function raised(rules: readonly RuleText[], at: number): readonly RuleText[] {
  const rule = rules[at]!
  return rules.toSpliced(at, 1).toSpliced(at - 1, 0, rule)
}
