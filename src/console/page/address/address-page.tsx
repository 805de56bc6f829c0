// One address as a person reads it: what it is, why, since when, where, what is around it, what
// would change it, and which of our own lists and rules meet it.

import { useRef } from 'preact/hooks'
import type { AddressView } from '../../../api/admin-answers.ts'
import { useLoad } from '../ask/use-load.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Panel } from '../parts/panel.tsx'
import { Waiting } from '../parts/problem.tsx'
import { addressPath, type Route, routeTo } from '../route.ts'
import { curlCommand } from '../text/curl.ts'
import { words } from '../text/figures.ts'
import { AddressBox } from './address-box.tsx'
import { Evidence } from './evidence.tsx'
import { Neighbours } from './neighbours.tsx'
import { OwnRules } from './own-rules.tsx'
import { Place } from './place.tsx'
import { Score } from './score.tsx'
import { Verdict } from './verdict.tsx'
import { WhatIf } from './what-if.tsx'

export function AddressPage({ route }: { readonly route: Route }) {
  const { rest: ip, query } = route
  const policy = query.get('policy') ?? ''
  const path = ip === '' ? null : addressPath(ip, { policy })
  const loaded = useLoad<AddressView>(path)
  const { value: view } = loaded
  const walkedTo = useRef('')
  return (
    <>
      <h1 class="hidden">Address</h1>
      <AddressBox
        ip={ip}
        policy={policy}
        go={(next, chosen) => {
          // The same once more: lists, policies and the table may be others now.
          if (next === ip && chosen === policy) loaded.again()
          location.hash = routeTo('address', next, { policy: chosen })
        }}
      />
      <Waiting loaded={loaded} />
      <p class="hidden" role="status">
        {view && saidOf(view)}
      </p>
      {ip === '' && <Invitation />}
      {view !== undefined && path !== null && (
        <div class="grid address" key={ip}>
          <Verdict view={view} />
          <Score view={view} />
          <Place view={view} />
          <Evidence view={view} />
          <Neighbours ip={ip} view={view} walkedTo={walkedTo} />
          <WhatIf ip={ip} policy={policy} view={view} />
          <OwnRules ip={ip} view={view} />
          <RawAnswer view={view} path={path} />
        </div>
      )}
    </>
  )
}

/** For those who hear the page: that the answer is there, and which. */
const saidOf = ({ answer: { ip, classification, risk_score, risk_level } }: AddressView): string =>
  `${ip}: ${words(classification)}, score ${risk_score}, ${words(risk_level)}`

function Invitation() {
  return (
    <p class="invitation">
      Why does an address have its score? Type one above, or paste the line of a log. For up to
      10,000 at once go to <a href={routeTo('bulk')}>Many</a>.
    </p>
  )
}

/** The answer as the server sent it, the request as a command, and the link for a colleague. */
function RawAnswer({ view, path }: { readonly view: AddressView; readonly path: string }) {
  const json = JSON.stringify(view, undefined, 2)
  return (
    <Panel
      wide
      title="For others"
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
