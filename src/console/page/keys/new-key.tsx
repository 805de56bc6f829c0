// A new key. Name, plan and expiry have no default; limits may differ from the plan's.

import { useRef, useState } from 'preact/hooks'
import type { KeyIssued } from '../../../api/admin-answers.ts'
import { useAsk } from '../ask/use-load.ts'
import { Choice, Form, TextField, Tick } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { Problem } from '../parts/problem.tsx'

const empty = {
  name: '',
  plan: '',
  expires: '',
  isEndless: false,
  rate: '',
  quota: '',
  policies: '',
  isTest: false,
}

type Draft = Readonly<typeof empty>

/** Empty limits are the plan's. */
function bodyOf(draft: Draft) {
  const { name, plan, expires, isEndless, rate, quota, policies, isTest } = draft
  const names = policies.split(',').map((one) => one.trim())
  return {
    plan,
    name: name.trim(),
    test: isTest || undefined,
    expires: isEndless ? undefined : expires,
    rate: rate === '' ? undefined : Number(rate),
    quota: quota === '' ? undefined : Number(quota),
    policies: policies.trim() === '' ? undefined : names.filter((one) => one !== ''),
  }
}

function LimitField(props: {
  readonly label: string
  readonly min: number
  readonly value: string
  readonly set: (text: string) => void
}) {
  return <TextField type="number" placeholder="the plan’s" {...props} />
}

function EndFields(props: {
  readonly draft: Draft
  readonly change: (some: Partial<Draft>) => void
}) {
  const { draft, change } = props
  return (
    <>
      <TextField
        label="Ends after days, or on a day (UTC)"
        class="mono"
        pattern="\d+d|\d{4}-\d\d-\d\d"
        title="90d, or 2027-01-31"
        placeholder="90d"
        required={!draft.isEndless}
        disabled={draft.isEndless}
        value={draft.expires}
        set={(expires) => change({ expires })}
      />
      <Tick label="never ends" isOn={draft.isEndless} set={(isEndless) => change({ isEndless })} />
    </>
  )
}

export function NewKey(props: {
  readonly plans: readonly string[]
  readonly onMade: (key: KeyIssued) => void
}) {
  const { plans, onMade } = props
  const [draft, setDraft] = useState<Draft>(empty)
  const { send, refusal } = useAsk()
  const isAsking = useRef(false)
  const make = async (): Promise<void> => {
    // A second click must not create a second key.
    if (isAsking.current) return
    isAsking.current = true
    const key = await send<KeyIssued>('POST', '/admin/keys', bodyOf(draft))
    isAsking.current = false
    if (key === undefined) return
    setDraft(empty)
    onMade(key)
  }
  const text = (member: Exclude<keyof Draft, 'isTest' | 'isEndless' | 'expires'>) => ({
    value: draft[member],
    set: (next: string) => setDraft({ ...draft, [member]: next }),
  })
  return (
    <Panel title="New key" meaning="keys">
      <Form class="fields" send={make}>
        <TextField
          label="Name"
          placeholder="login service"
          required
          pattern=".*\S.*"
          title="what uses the key"
          {...text('name')}
        />
        <Choice
          label="Plan"
          value={draft.plan}
          isRequired
          options={[['', 'Choose a plan'], ...plans]}
          choose={(plan) => setDraft({ ...draft, plan })}
        />
        <EndFields draft={draft} change={(some) => setDraft({ ...draft, ...some })} />
        <LimitField label="Requests a second" min={1} {...text('rate')} />
        <LimitField label="Addresses a month" min={0} {...text('quota')} />
        <TextField
          label="Policies, the first is its default"
          placeholder="default"
          {...text('policies')}
        />
        <Tick
          label="only for tests"
          isOn={draft.isTest}
          set={(isTest) => setDraft({ ...draft, isTest })}
        />
        <button type="submit" class="primary">
          Make the key
        </button>
      </Form>
      <Problem refusal={refusal} />
    </Panel>
  )
}
