// Published sets: sizes, URLs by format, keys of their own, and conditions to try.

import { useState } from 'preact/hooks'
import type { KeyIssued, SetsView } from '../../../api/admin-answers.ts'
import { askOrNotify } from '../ask/ask.ts'
import { useMay } from '../ask/session.ts'
import { useLoad } from '../ask/use-load.ts'
import { Secret } from '../keys/keys-page.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { type Column, DataTable, plain, sorted, sortedNumber } from '../parts/data-table.tsx'
import { AskFirst } from '../parts/dialog.tsx'
import { Choice } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { Waiting } from '../parts/problem.tsx'
import { count, utcTime } from '../text/figures.ts'
import { NewSet } from './new-set.tsx'

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
      label="Make a key"
      about={`for ${name}`}
      title={`A key for ${name}?`}
      text={`It reads published sets and nothing else, with the plan ${plan}, until it is revoked.`}
      yes="Make the key"
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
    sortedNumber(
      'Growth',
      ({ made }) => made?.growth ?? 0,
      (growth) => growth !== 0 && `${growth > 0 ? '+' : ''}${count(growth)}`,
    ),
    sorted('Made', ({ made }) => made?.at ?? '', utcTime),
    sortedNumber(
      'Bytes',
      ({ made }) => made?.bytes[format === 'mmdb' ? 'mmdb.iprisk' : format] ?? -1,
      (bytes) => (bytes < 0 ? 'not made yet' : count(bytes)),
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
  if (made === null) return 'not made yet'
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
