// Published sets: sizes, URLs by format, keys of their own, and conditions to try.

import { useState } from 'preact/hooks'
import type { KeyIssued, SetsView, SetTrial } from '../../../api/admin-answers.ts'
import { askOrNotify } from '../ask/ask.ts'
import { useMay } from '../ask/session.ts'
import { useLoad, useAsk } from '../ask/use-load.ts'
import { Secret } from '../keys/keys-page.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { type Column, DataTable, plain, sorted, sortedNumber } from '../parts/data-table.tsx'
import { AskFirst } from '../parts/dialog.tsx'
import { Choice, Form, TextField } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { Waiting, Problem } from '../parts/problem.tsx'
import { count, utcTime, counted, shortCount, signed } from '../text/figures.ts'
import { useKept } from '../ask/kept-drafts.ts'
import { TitledBars } from '../parts/bar-list.tsx'
import { RuleField } from './policy-editor.tsx'

type Row = SetsView['sets'][number]

export function SetsPart() {
  const loaded = useLoad<SetsView>('/admin/sets')
  const [mayTry, mayMake] = [useMay('analyst'), useMay('admin')]
  const [format, setFormat] = useState('plain')
  const [keys, setKeys] = useState<readonly KeyIssued[]>([])
  const { value: view } = loaded
  const plan = view?.plan ?? null
  const makeKey = async (name: string): Promise<void> => {
    const wish = { name: `list ${name}`, plan, api: ['lists'] }
    const made = await askOrNotify<KeyIssued>('POST', '/admin/keys', wish)
    if (made !== undefined) setKeys((before) => [made, ...before])
  }
  const key = plain<Row>('Key', ({ name }) => (
    <AskFirst
      label="Create a key"
      about={`for ${name}`}
      title={`A key for ${name}?`}
      text={`It reads published sets and nothing else, with the plan ${plan}, until it is revoked.`}
      yes="Create key"
      act={() => makeKey(name)}
    />
  ))
  return (
    <>
      {keys.map((one) => (
        <Secret
          key={one.key}
          made={one}
          onDone={() => setKeys((all) => all.filter((other) => other !== one))}
        />
      ))}
      <Panel title="Published sets" meaning="sets">
        <Waiting loaded={loaded} />
        {view !== undefined && (
          <>
            <Choice label="Format" value={format} options={view.formats} choose={setFormat} />
            <DataTable
              label="Published sets"
              columns={[...columnsOf(view.url, format), ...(mayMake && plan ? [key] : [])]}
              rows={view.sets}
              keyOf={({ name }) => name}
            />
          </>
        )}
      </Panel>
      {mayTry && view !== undefined && <NewSet sets={view.sets} />}
    </>
  )
}

function columnsOf(root: string, format: string): readonly Column<Row>[] {
  // A server that listens everywhere is reached where its console is.
  const base = root.replace(/0\.0\.0\.0|\[::\]/, location.hostname)
  const query = format === 'plain' ? '' : `?format=${format}`
  return [
    sorted(
      'Set',
      ({ name }) => name,
      (name, { condition }) => (
        <>
          <strong>{name}</strong>
          <p class="quiet mono free">{condition}</p>
        </>
      ),
    ),
    sortedNumber('Prefixes', ({ made }) => made?.prefixes ?? -1, sizeOf),
    sortedNumber('Growth', ({ made }) => made?.growth ?? 0, signed),
    sorted('Created', ({ made }) => made?.at ?? '', utcTime),
    sortedNumber(
      'Bytes',
      ({ made }) => made?.bytes[format === 'mmdb' ? 'mmdb.iprisk' : format] ?? -1,
      (bytes) => (bytes < 0 ? 'not built yet' : count(bytes)),
    ),
    plain('URL', ({ name }) => (
      <div class="actions">
        <code class="free">{`${base}${name}${query}`}</code>
        <CopyButton label="Copy" what="The URL" text={() => `${base}${name}${query}`} />
      </div>
    )),
  ]
}

function sizeOf(prefixes: number, { made }: Row) {
  if (made === null) return 'not built yet'
  const { ipv4, too_large: isTooLarge } = made
  return (
    <>
      {count(prefixes)}
      {isTooLarge && <p class="warn">too many to publish</p>}
      {ipv4 !== null && (
        <p class="quiet">{`${count(ipv4)} IPv4, ${count(prefixes - ipv4)} IPv6`}</p>
      )}
    </>
  )
}

// A condition for a set of one's own: tried here, saved by a person. The server never writes its
// configuration, which may be read-only and be kept elsewhere.

function NewSet({ sets }: { readonly sets: SetsView['sets'] }) {
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
        <code>iprisk.json</code> instead of its <code>lists</code>, and restart the server.
      </p>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <CopyButton label="Copy the member" what="The member" text={() => text} />
    </>
  )
}
