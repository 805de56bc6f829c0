// Keys: create, rotate, revoke; limits and use this month. For admins.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { KeyIssued, KeysView, TrafficView } from '../../../api/admin-answers.ts'
import { askOrNotify } from '../ask/ask.ts'
import { notify } from '../ask/notices.ts'
import { useMay } from '../ask/session.ts'
import { useLoad, useAsk } from '../ask/use-load.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { AskFirst } from '../parts/dialog.tsx'
import { type Column, DataTable, plain, sorted, sortedNumber } from '../parts/data-table.tsx'
import { Tick, Choice, Form, TextField } from '../parts/fields.tsx'
import { Meaning, Panel } from '../parts/panel.tsx'
import { Lines, Waiting, Problem } from '../parts/problem.tsx'
import { SparkLine } from '../parts/spark-line.tsx'
import { count, counted, dayAfter, percent, sumsByHour, utcTime } from '../text/figures.ts'

type Key = KeysView['keys'][number]

export function KeysPage() {
  const mayLook = useMay('admin')
  if (mayLook) return <Keys />
  return (
    <Panel title="Keys">
      <p>Only admins can see keys.</p>
    </Panel>
  )
}

function Keys() {
  const loaded = useLoad<KeysView>('/admin/keys')
  const { value: { minutes = [] } = {} } = useLoad<TrafficView>('/admin/traffic')
  const [made, setMade] = useState<readonly KeyIssued[]>([])
  const show = (key: KeyIssued): void => {
    setMade((before) => [key, ...before])
    loaded.again()
  }
  const [isAll, setAll] = useState(false)
  const rotate = async (id: string): Promise<void> => {
    const key = await askOrNotify<KeyIssued>('POST', `${pathOf(id)}/rotate`, {})
    if (key !== undefined) show(key)
  }
  const revoke = async ({ id, name }: Pick<Key, 'id' | 'name'>): Promise<void> => {
    if ((await askOrNotify('DELETE', pathOf(id))) === undefined) return
    notify(`The key ${name || id} is revoked.`)
    setMade((all) => all.filter((one) => one.id !== id))
    loaded.again()
  }
  const { keys = [], total = 0, skipped = [] } = loaded.value ?? {}
  const shown = isAll ? keys : keys.filter(({ state }) => state !== 'revoked')
  return (
    <>
      <div class="page-head">
        <h1>Keys</h1>
      </div>
      {made.map((one) => (
        <Secret
          key={one.key}
          made={one}
          onDone={() => setMade((all) => all.filter((other) => other !== one))}
        />
      ))}
      <Panel
        title="Keys"
        meaning="keys"
        aside={<Tick label="Show revoked" isOn={isAll} set={setAll} />}
      >
        <Waiting loaded={loaded} />
        {total > keys.length && (
          <p class="warn">
            These are the newest {count(keys.length)} of {counted(total, 'key')}.{' '}
            <code>iprisk keys list</code> has all of them.
          </p>
        )}
        <Lines of={skipped} tone="warn" />
        {loaded.value !== undefined && (
          <DataTable
            label="Keys"
            columns={[...columnsOf(minutes), actions({ rotate, revoke })]}
            rows={shown}
            keyOf={({ id }) => id}
            empty="No keys yet."
          />
        )}
      </Panel>
      <NewKey plans={loaded.value?.plans ?? []} onMade={show} />
    </>
  )
}

const pathOf = (id: string): string => `/admin/keys/${encodeURIComponent(id)}`

/** Stays until it is dismissed or the key revoked, even if others are created. */
export function Secret(props: { readonly made: KeyIssued; readonly onDone: () => void }) {
  const { made, onDone } = props
  const { old_secret_until: until = null } = made
  const here = useRef<HTMLElement>(null)
  // It stands above a long table and the form: its creator would not see it.
  useEffect(() => here.current?.focus(), [])
  return (
    <section ref={here} tabIndex={-1} class="panel secret" aria-label="The new secret">
      <p>
        This is the key <code>{made.id}</code>. It is shown only once; the server stores only its
        hash. {!made.in_effect && 'The workers will load it in a moment. '}
        {until !== null && `The old secret works until ${utcTime(until)}.`}
      </p>
      {made.cautions?.map((caution) => (
        <p role="alert" key={caution}>
          Warning: {caution}.
        </p>
      ))}
      <pre tabIndex={0}>
        <code>{made.key}</code>
      </pre>
      <div class="actions">
        <CopyButton label="Copy the key" what="The key" text={() => made.key} />
        <button type="button" onClick={onDone}>
          Done
        </button>
      </div>
    </section>
  )
}

function actions(of: {
  readonly rotate: (id: string) => Promise<void>
  readonly revoke: (key: Pick<Key, 'id' | 'name'>) => Promise<void>
}): Column<Key> {
  return plain(
    'Actions',
    ({ id, name, revoked }) =>
      revoked === null && (
        <div class="actions">
          <AskFirst
            label="Rotate"
            about={name || id}
            title={`Rotate the secret of ${name || id}?`}
            text="The old secret keeps working for a while; the page then shows until when."
            yes="Rotate secret"
            act={() => of.rotate(id)}
          />
          <AskFirst
            label="Revoke"
            about={name || id}
            title={`Revoke ${name || id}?`}
            text="Requests with it get 401 at once. This cannot be undone."
            yes="Revoke key"
            isDanger
            act={() => of.revoke({ id, name })}
          />
        </div>
      ),
  )
}

const columnsOf = (minutes: TrafficView['minutes']): readonly Column<Key>[] => [
  sorted(
    'Name',
    ({ name }) => name,
    (name, { id }) => (
      <>
        <strong class="free">{name || 'unnamed'}</strong>
        <p class="quiet mono">{id}</p>
      </>
    ),
  ),
  sorted(
    'Plan',
    ({ plan }) => plan,
    (plan, { test }) => (test ? `${plan}, for tests` : plan),
  ),
  sortedNumber(
    'Rate/s',
    ({ per_second: rate }) => rate ?? Infinity,
    (rate) => (rate === Infinity ? 'no limit' : count(rate)),
  ),
  sortedNumber(
    'Used this month',
    ({ used }) => used,
    (used, { quota }) => <Used used={used} quota={quota} />,
  ),
  {
    title: 'Checks, 24 hours',
    isNumber: true,
    meaning: 'key-checks',
    cell: ({ id }) => {
      const hours = sumsByHour(minutes, ({ keys }) => keys[id] ?? 0)
      const sum = hours.reduce((all, one) => all + one, 0)
      return (
        <>
          {count(sum)}
          {sum > 0 && <SparkLine values={hours} unit="hours" />}
        </>
      )
    },
  },
  plain('Policies', ({ policies }) => policies.join(', ') || 'default'),
  sorted(
    'Last used',
    ({ last_used: last }) => last ?? '',
    (last) => last || 'never',
  ),
  sorted('Created', ({ created }) => created, utcTime),
  sorted(
    'Expires',
    ({ revoked, expires }) => revoked ?? expires ?? '9',
    (_, key) => endOf(key),
  ),
]

function endOf({ state, revoked, expires }: Key): string {
  if (revoked !== null) return `revoked ${utcTime(revoked)}`
  if (expires === null) return 'never'
  return state === 'expired' ? `expired ${utcTime(expires)}` : utcTime(expires)
}

function Used({ used, quota }: { readonly used: number; readonly quota: number | null }) {
  if (quota === null) return <Meaning of="keys">{used === 0 ? 'no quota' : count(used)}</Meaning>
  const share = quota === 0 ? 1 : used / quota
  return (
    <span class="used">
      {count(used)}{' '}
      <span class="quiet">
        of {count(quota)}, {percent(share)}
      </span>
      <svg class="bar" aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 100 4">
        <rect class="tone-rest" width="100" height="4" />
        <rect
          class={share > 0.9 ? 'tone-blocklist' : 'tone-accent'}
          width={Math.min(100, share * 100)}
          height="4"
        />
      </svg>
    </span>
  )
}

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

function useNewKey(onMade: (key: KeyIssued) => void) {
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
  return { draft, setDraft, make, refusal }
}

export function NewKey(props: {
  readonly plans: readonly string[]
  readonly onMade: (key: KeyIssued) => void
}) {
  const { draft, setDraft, make, refusal } = useNewKey(props.onMade)
  const text = (member: Exclude<keyof Draft, 'isTest' | 'isEndless'>) => ({
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
          options={[['', 'Choose a plan'], ...props.plans]}
          choose={(plan) => setDraft({ ...draft, plan })}
        />
        <TextField
          label="Expires at the end of (UTC)"
          type="date"
          min={dayAfter(new Date().toISOString().slice(0, 10), 1)}
          required={!draft.isEndless}
          disabled={draft.isEndless}
          {...text('expires')}
        />
        <Tick
          label="never expires"
          isOn={draft.isEndless}
          set={(isEndless) => setDraft({ ...draft, isEndless })}
        />
        <TextField
          label="Requests a second"
          type="number"
          placeholder="the plan’s"
          min={1}
          {...text('rate')}
        />
        <TextField
          label="Addresses a month"
          type="number"
          placeholder="the plan’s"
          min={0}
          {...text('quota')}
        />
        <TextField label="Policies, default first" placeholder="default" {...text('policies')} />
        <Tick
          label="test key"
          isOn={draft.isTest}
          set={(isTest) => setDraft({ ...draft, isTest })}
        />
        <button type="submit" class="primary">
          Create key
        </button>
      </Form>
      <Problem refusal={refusal} />
    </Panel>
  )
}
