// One address for a person: verdict, reasons, evidence, place, neighbours, what-ifs, own lists.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { AddressView } from '../../../api/admin-answers.ts'
import { useMay } from '../ask/session.ts'
import { useLoad, useModule } from '../ask/use-load.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Form, TextField } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { PolicyChoice } from '../parts/policy-choice.tsx'
import { Waiting } from '../parts/problem.tsx'
import { addressPath, curlCommand, type Route, routeTo } from '../route.ts'
import { counted, words } from '../text/figures.ts'
import { Evidence } from './evidence.tsx'
import { Neighbours } from './neighbours.tsx'
import { isNetwork, Network } from './network.tsx'
import { OwnRules } from './own-rules.tsx'
import { Place } from './place.tsx'
import { Score, Verdict } from './verdict.tsx'
import { WhatIf } from './what-if.tsx'

export function AddressPage({ route }: { readonly route: Route }) {
  const { rest: ip, query } = route
  const policy = query.get('policy') ?? ''
  const path = ip === '' || isNetwork(ip) ? null : addressPath(ip, { policy })
  const loaded = useLoad<AddressView>(path)
  const { value: view } = loaded
  const walkedTo = useRef('')
  const past = useModule(() => import('./past-day.tsx'), useMay('analyst'))
  return (
    <>
      <h1 class="hidden">Address</h1>
      <AddressBox
        ip={ip}
        policy={policy}
        go={(next, chosen) => {
          // Lists, policies or the table may have changed.
          if (next === ip && chosen === policy) loaded.again()
          location.hash = routeTo('address', next, { policy: chosen })
        }}
      />
      <Waiting loaded={loaded} />
      <p class="hidden" role="status">
        {view && answerText(view)}
      </p>
      {ip === '' && <Invitation />}
      {isNetwork(ip) && <Network key={ip} of={ip} />}
      {view?.answer.coverage?.age_days !== undefined && (
        <p class="problem">
          The table is {counted(view.answer.coverage.age_days, 'day')} old, so newer listings are
          missing. <a href={routeTo('table')}>Refresh the feeds</a>
        </p>
      )}
      {view !== undefined && path !== null && (
        <div class="grid address" key={ip}>
          <Verdict view={view} />
          <Score view={view} />
          <Place view={view} />
          <Evidence view={view}>{past && <past.PastDay ip={ip} />}</Evidence>
          <Neighbours ip={ip} view={view} walkedTo={walkedTo} />
          <WhatIf ip={ip} policy={policy} view={view} />
          <OwnRules ip={ip} view={view} />
          <RawAnswer view={view} path={path} />
        </div>
      )}
    </>
  )
}

/** Takes an address or a log line. If a line has several, the others are offered. */
function AddressBox(props: {
  readonly ip: string
  readonly policy: string
  readonly go: (ip: string, policy: string) => void
}) {
  const { ip, policy, go } = props
  const [text, setText] = useState(ip)
  useLayoutEffect(() => setText(ip), [ip])
  useEffect(() => {
    if (ip === '') document.querySelector<HTMLInputElement>('.ask input')?.focus()
  }, [])
  const isTyped = text !== '' && text !== ip
  const reader = useModule(() => import('../text/log-addresses.ts'), isTyped)
  const others = isTyped ? (reader?.addressesIn(text) ?? []) : []
  const send = async (): Promise<void> => {
    const { clientAddress } = await import('../text/log-addresses.ts')
    // The server explains what is not an address.
    const wanted = (isNetwork(text) ? undefined : clientAddress(text)) ?? text.trim()
    if (wanted !== '') go(wanted, policy)
  }
  return (
    <Form class="ask" role="search" send={send}>
      <TextField
        label="Address, prefix, AS, or a log line"
        place="grow"
        class="mono"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={text}
        placeholder="185.220.101.33"
        set={setText}
      />
      <PolicyChoice value={policy === '' ? 'default' : policy} onChoose={(next) => go(ip, next)} />
      <button type="submit" class="primary">
        Look up
      </button>
      {others.length > 1 && (
        <p class="ask-others">
          Addresses in this line:{' '}
          {others.map((one) => (
            <button key={one} type="button" class="chip mono" onClick={() => go(one, policy)}>
              {one}
            </button>
          ))}
        </p>
      )}
    </Form>
  )
}

/** For screen readers. */
const answerText = ({
  answer: { ip, classification, risk_score, risk_level },
}: AddressView): string =>
  `${ip}: ${words(classification)}, score ${risk_score}, ${words(risk_level)}`

function Invitation() {
  return (
    <p class="invitation">
      Why does an address have its score? Type one above, or paste a log line. A prefix or an AS
      number has its own page. For up to 10,000 at once go to{' '}
      <a href={routeTo('bulk')}>Bulk lookup</a>.
    </p>
  )
}

function RawAnswer({ view, path }: { readonly view: AddressView; readonly path: string }) {
  const json = JSON.stringify(view, undefined, 2)
  return (
    <Panel
      wide
      title="Share"
      aside={
        <div class="actions">
          <CopyButton label="Copy link" what="The link" text={() => location.href} />
          <CopyButton
            label="Copy as curl"
            what="The command"
            text={() => curlCommand(location.origin, path)}
          />
          <CopyButton label="Copy JSON" what="The answer" text={() => json} />
        </div>
      }
    >
      <details>
        <summary>The answer as JSON</summary>
        <pre class="raw" tabIndex={0}>
          <code>{json}</code>
        </pre>
      </details>
    </Panel>
  )
}
