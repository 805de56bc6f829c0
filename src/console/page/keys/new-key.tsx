// A new key: its plan, its name, when it ends, and limits of its own where the plan's are not
// meant.

import { useRef, useState } from 'preact/hooks'
import type { KeyIssued } from '../../../api/admin-answers.ts'
import { type Refusal, ask } from '../ask/ask.ts'
import { Panel } from '../parts/panel.tsx'
import { Problem } from '../parts/problem.tsx'

interface Draft {
  readonly name: string
  readonly plan: string
  readonly expires: string
  readonly rate: string
  readonly quota: string
  readonly policies: string
  readonly isTest: boolean
}

const empty: Draft = {
  name: '',
  plan: '',
  expires: '',
  rate: '',
  quota: '',
  policies: '',
  isTest: false,
}

/** What is left empty is the plan's. */
function bodyOf(draft: Draft, plan: string) {
  const { name, expires, rate, quota, policies, isTest } = draft
  const names = policies.split(',').map((one) => one.trim())
  return {
    plan,
    ...(name === '' ? {} : { name }),
    ...(isTest ? { test: true } : {}),
    ...(expires === '' ? {} : { expires }),
    ...(rate === '' ? {} : { rate: Number(rate) }),
    ...(quota === '' ? {} : { quota: Number(quota) }),
    ...(policies.trim() === '' ? {} : { policies: names.filter((one) => one !== '') }),
  }
}

const usualPlan = (plans: readonly string[]): string =>
  plans.includes('team') ? 'team' : (plans[0] ?? '')

/** A second click, while the answer is on its way, makes no second key. */
function useAskOnce() {
  const isAsking = useRef(false)
  return async (body: ReturnType<typeof bodyOf>) => {
    if (isAsking.current) return undefined
    isAsking.current = true
    const answer = await ask<KeyIssued>('POST', '/admin/keys', body)
    isAsking.current = false
    return answer
  }
}

export function NewKey(props: {
  readonly plans: readonly string[]
  readonly onMade: (key: KeyIssued) => void
}) {
  const { plans, onMade } = props
  const [draft, setDraft] = useState(empty)
  const [refusal, setRefusal] = useState<Refusal | undefined>(undefined)
  const plan = draft.plan === '' ? usualPlan(plans) : draft.plan
  const askOnce = useAskOnce()
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const answer = await askOnce(bodyOf(draft, plan))
    if (answer?.kind === 'refused') setRefusal(answer)
    if (answer?.kind !== 'ok') return
    setRefusal(undefined)
    setDraft(empty)
    onMade(answer.value)
  }
  const text = (member: Exclude<keyof Draft, 'isTest'>) => ({
    value: draft[member],
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
      setDraft({ ...draft, [member]: currentTarget.value }),
  })
  return (
    <Panel title="New key" meaning="keys">
      <form class="fields" onSubmit={(event) => void submit(event)}>
        <label class="field">
          <span>Name</span>
          <input placeholder="login service" {...text('name')} />
        </label>
        <PlanChoice
          plans={plans}
          plan={draft.plan}
          choose={(plan) => setDraft({ ...draft, plan })}
        />
        <label class="field">
          <span>Ends after days, or on a day (UTC)</span>
          <input
            class="mono"
            pattern="\d+d|\d{4}-\d\d-\d\d"
            title="90d, or 2027-01-31"
            placeholder="never"
            {...text('expires')}
          />
        </label>
        <label class="field">
          <span>Requests a second</span>
          <input type="number" min="1" placeholder="the plan’s" {...text('rate')} />
        </label>
        <label class="field">
          <span>Addresses a month</span>
          <input type="number" min="0" placeholder="the plan’s" {...text('quota')} />
        </label>
        <label class="field">
          <span>Policies, the first is its default</span>
          <input placeholder="default" {...text('policies')} />
        </label>
        <TestTick isTest={draft.isTest} choose={(isTest) => setDraft({ ...draft, isTest })} />
        <button type="submit" class="primary">
          Make the key
        </button>
      </form>
      {refusal !== undefined && <Problem refusal={refusal} />}
    </Panel>
  )
}

function PlanChoice(props: {
  readonly plans: readonly string[]
  readonly plan: string
  readonly choose: (plan: string) => void
}) {
  const { plans, plan, choose } = props
  return (
    <label class="field">
      <span>Plan</span>
      <select value={plan} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {plans.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  )
}

function TestTick(props: { readonly isTest: boolean; readonly choose: (isTest: boolean) => void }) {
  const { isTest, choose } = props
  return (
    <label class="tick">
      <input
        type="checkbox"
        checked={isTest}
        onChange={({ currentTarget }) => choose(currentTarget.checked)}
      />
      only for tests
    </label>
  )
}
