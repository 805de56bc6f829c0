// Entries to add, one a line, with how long they count and why.

import { useState } from 'preact/hooks'
import { type Refusal, ask } from '../ask/ask.ts'
import { Problem } from '../parts/problem.tsx'
import type { Acted } from './list-answers.ts'

const spans = ['', '1h', '12h', '1d', '7d', '30d', '90d', '365d'] as const

const entriesIn = (text: string): readonly string[] =>
  text
    .split(/[\n,]/)
    .map((one) => one.trim())
    .filter(Boolean)

export function AddEntries(props: {
  readonly path: string
  readonly first: string
  readonly onAdded: (acted: Acted) => void
}) {
  const { path, first, onAdded } = props
  const [text, setText] = useState(first)
  const [span, setSpan] = useState('')
  const [note, setNote] = useState('')
  const [isForced, setForced] = useState(false)
  const [refusal, setRefusal] = useState<Refusal | undefined>(undefined)
  const add = async (): Promise<void> => {
    const entries = entriesIn(text)
    const answer = await ask<Acted>('POST', `${path}/entries`, {
      entries,
      ...(span === '' ? {} : { for: span }),
      ...(note === '' ? {} : { note }),
      ...(isForced ? { force: true } : {}),
    })
    if (answer.kind === 'refused') return setRefusal(answer)
    setRefusal(undefined)
    setText('')
    setNote('')
    onAdded(answer.value)
  }
  return (
    <form
      class="add-entries"
      onSubmit={(event) => {
        event.preventDefault()
        void add()
      }}
    >
      <label class="field grow">
        <span>Entries: addresses, prefixes, ranges, AS numbers</span>
        <textarea
          class="mono"
          rows={2}
          required
          spellcheck={false}
          placeholder="192.0.2.0/24"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <SpanChoice span={span} choose={setSpan} />
      <label class="field grow">
        <span>Note</span>
        <input
          maxLength={200}
          value={note}
          onInput={({ currentTarget }) => setNote(currentTarget.value)}
        />
      </label>
      <label class="tick">
        <input
          type="checkbox"
          checked={isForced}
          onChange={({ currentTarget }) => setForced(currentTarget.checked)}
        />
        also very wide ones
      </label>
      <button type="submit" class="primary">
        Add
      </button>
      {refusal !== undefined && <Problem refusal={refusal} />}
    </form>
  )
}

function SpanChoice(props: { readonly span: string; readonly choose: (span: string) => void }) {
  const { span, choose } = props
  return (
    <label class="field">
      <span>For</span>
      <select value={span} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {spans.map((one) => (
          <option key={one} value={one}>
            {one === '' ? 'always' : one}
          </option>
        ))}
      </select>
    </label>
  )
}
