// A condition for a set of one's own: tried here, saved by a person. The server never writes its
// configuration, which may be read-only and be kept elsewhere.

import { useState } from 'preact/hooks'
import type { SetTrial, SetsView } from '../../../api/admin-answers.ts'
import { useKept } from '../ask/kept-drafts.ts'
import { useMay } from '../ask/session.ts'
import { useAsk } from '../ask/use-load.ts'
import { TitledBars } from '../parts/bar-list.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Form, TextField } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { Problem } from '../parts/problem.tsx'
import { counted, shortCount } from '../text/figures.ts'
import { RuleField } from './policy-editor.tsx'

export function NewSet({ sets }: { readonly sets: SetsView['sets'] }) {
  const mayMake = useMay('admin')
  const [name, setName] = useKept('set name', '')
  const [condition, setCondition] = useKept('set condition', 'risk_score >= 75')
  const [tried, setTried] = useState<SetTrial | undefined>(undefined)
  const { send, isAsking, refusal } = useAsk()
  const isMistaken = refusal?.code === 'invalid_input'
  const change = (text: string): void => {
    setCondition(text)
    setTried(undefined)
  }
  return (
    <Panel title="New set">
      <Form
        class="stack"
        send={async () => setTried(await send('POST', '/admin/sets/try', { condition }))}
      >
        <TextField
          label="Name"
          required
          pattern="[a-z][a-z0-9\-]{0,30}"
          title="Lower-case letters, digits and hyphens, from a letter on, at most 31"
          value={name}
          set={setName}
        />
        <RuleField
          label="Condition"
          text={condition}
          isCode
          isFixed={isAsking}
          mistakes={isMistaken ? [refusal] : []}
          set={change}
        />
        <div class="actions">
          <button type="submit" class="primary" disabled={isAsking}>
            {isAsking ? 'Counting…' : 'Try it'}
          </button>
        </div>
      </Form>
      <div aria-live="polite">
        {!isMistaken && <Problem refusal={refusal} />}
        {tried !== undefined && <Outcome trial={tried} />}
      </div>
      {mayMake && tried !== undefined && <Saving sets={sets} name={name} condition={condition} />}
    </Panel>
  )
}

const families = [
  ['ipv4', 'IPv4', 'address', 'addresses'],
  ['ipv6', 'IPv6', '/64', '/64s'],
] as const

const Outcome = ({ trial }: { readonly trial: SetTrial }) => (
  <div class="columns">
    {families.map(([family, title, one, many]) => {
      const { prefixes, addresses, networks } = trial[family]
      const bars = networks.map(({ name, addresses: value }) => {
        return { name, value, text: shortCount(value) }
      })
      const size = `${counted(prefixes, 'prefix', 'prefixes')}, ${counted(addresses, one, many)}`
      return <TitledBars key={family} title={`${title}: ${size}`} bars={bars.slice(0, 10)} />
    })}
  </div>
)

function Saving(props: {
  readonly sets: SetsView['sets']
  readonly name: string
  readonly condition: string
}) {
  const { sets, name, condition } = props
  if (sets.some((one) => one.built_in && one.name === name)) {
    return <p class="warn">The set {name} is built in; choose another name.</p>
  }
  const own = sets.filter((one) => !one.built_in).map((one) => [one.name, one.condition])
  const published = Object.fromEntries([...own, [name, condition]])
  const text = `"lists": ${JSON.stringify({ published }, null, 2)}`
  return (
    <>
      <p>
        The server does not write its configuration. To save the set, put this into{' '}
        <code>iprisk.json</code> in place of its member <code>lists</code>, and restart the server.
      </p>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <CopyButton label="Copy the member" what="The member" text={() => text} />
    </>
  )
}
