// The one box: an address, or a line of a log in which one stands. Where a line names several, the
// client's is asked for and the others are offered.

import { useLayoutEffect, useState } from 'preact/hooks'
import { PolicyChoice } from '../parts/policy-choice.tsx'
import { addressesIn, clientAddress } from '../text/log-addresses.ts'

export function AddressBox(props: {
  readonly ip: string
  readonly policy: string
  readonly go: (ip: string, policy: string) => void
}) {
  const { ip, policy, go } = props
  const [text, setText] = useState(ip)
  useLayoutEffect(() => setText(ip), [ip])
  const others = text === ip ? [] : addressesIn(text)
  const submit = (): void => {
    // What names no address goes to the server as it is: it says why.
    const wanted = clientAddress(text) ?? text.trim()
    if (wanted !== '') go(wanted, policy)
  }
  return (
    <form
      class="ask"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <label class="field grow">
        <span>Address, or a line of a log</span>
        <input
          class="mono"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          value={text}
          placeholder="185.220.101.33"
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <PolicyChoice value={policy === '' ? 'default' : policy} onChoose={(next) => go(ip, next)} />
      <button type="submit" class="primary">
        Look up
      </button>
      {others.length > 1 && (
        <p class="ask-others">
          The line names{' '}
          {others.map((one) => (
            <button key={one} type="button" class="chip mono" onClick={() => go(one, policy)}>
              {one}
            </button>
          ))}
        </p>
      )}
    </form>
  )
}
