// The policies, and a draft that is checked while it is edited, and tried before it is saved.

import { useEffect, useState } from 'preact/hooks'
import { ask } from '../ask/ask.ts'
import { useKept } from '../ask/kept-drafts.ts'
import { notify } from '../ask/notices.ts'
import { useMay } from '../ask/session.ts'
import { useAsk, useLoad } from '../ask/use-load.ts'
import { AskFirst } from '../parts/dialog.tsx'
import { Form, TextField } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import type { PoliciesAnswer, PolicyText } from '../parts/policy-choice.tsx'
import { Lines, Problem, Waiting } from '../parts/problem.tsx'
import { counted, utcTime } from '../text/figures.ts'
import { policyChanges } from '../text/policy-changes.ts'
import { type PlacedMistake, placeMistake } from '../text/policy-mistakes.ts'
import { PolicyEditor } from './policy-editor.tsx'
import { Rehearsal } from './rehearsal.tsx'

type Policies = PoliciesAnswer['policies']

export function PoliciesPart() {
  const loaded = useLoad<PoliciesAnswer>('/admin/policies')
  const { value } = loaded
  if (value === undefined) return <Waiting loaded={loaded} />
  return <Draft key={value.file_tag ?? ''} answer={value} load={loaded.again} />
}

function useDraft({ file_tag: tag = '', policies }: PoliciesAnswer) {
  // A draft of another file would overwrite this one.
  const [draft, setDraft] = useKept<Policies>(`draft of ${tag}`, policies)
  const first = Object.keys(policies)[0] ?? ''
  const [name, setName] = useState(first)
  return {
    draft,
    name,
    setDraft,
    setName,
    add: (added: string): void => {
      setDraft({ ...draft, [added]: newPolicy })
      setName(added)
    },
    remove: (removed: string): void => {
      setDraft(Object.fromEntries(Object.entries(draft).filter(([one]) => one !== removed)))
      setName(Object.keys(draft).find((one) => one !== removed) ?? '')
    },
    drop: (): void => {
      setDraft(policies)
      setName(first)
    },
  }
}

function Draft(props: { readonly answer: PoliciesAnswer; readonly load: () => void }) {
  const { answer, load } = props
  const { status, file_tag, policies } = answer
  const { draft, name, setDraft, setName, add, remove, drop } = useDraft(answer)
  const { send, refusal, setRefusal } = useAsk()
  const mistakes = useMistakes(draft)
  const maySave = useMay('admin')
  const mayTry = useMay('analyst')
  const isChanged = JSON.stringify(draft) !== JSON.stringify(policies)
  const save = async (): Promise<void> => {
    const body = { policies: draft, revision: status?.revision ?? null, file_tag }
    if ((await send('POST', '/admin/policies', body)) === undefined) return
    notify('Policies saved and in effect.')
    load()
  }
  const dropAndLoad = (): void => {
    drop()
    setRefusal(undefined)
    // After a conflict, the draft restarts from the current file.
    load()
  }
  const shown = draft[name]
  const here = mistakes.filter(({ policy }) => policy === name)
  return (
    <>
      <Panel
        title="Policies"
        meaning="decision"
        aside={status && <span>revision {status.revision}</span>}
      >
        <FileState status={status} />
        <PolicyTabs
          names={Object.keys(draft)}
          name={name}
          isFixed={!maySave}
          choose={setName}
          onAdd={add}
          onRemove={remove}
        />
        {shown !== undefined && (
          <PolicyEditor
            policy={shown}
            mistakes={here}
            isFixed={!maySave}
            onChange={(next: PolicyText) => setDraft({ ...draft, [name]: next })}
          />
        )}
        {(status !== null || isChanged) && (
          <DraftState isChanged={isChanged} mistakes={mistakes} shown={name} />
        )}
        <Problem refusal={refusal} />
        {maySave && (
          <DraftActions
            changes={policyChanges(policies, draft)}
            isChanged={isChanged}
            isUsable={mistakes.length === 0}
            save={save}
            drop={dropAndLoad}
          />
        )}
      </Panel>
      {mayTry && status !== null && (
        <Rehearsal policies={draft} policy={name} isUsable={mistakes.length === 0} />
      )}
    </>
  )
}

function DraftActions(props: {
  readonly changes: readonly string[]
  readonly isChanged: boolean
  readonly isUsable: boolean
  readonly save: () => Promise<void>
  readonly drop: () => void
}) {
  const { changes, isChanged, isUsable, save, drop } = props
  return (
    <div class="actions">
      <AskFirst
        label="Save"
        title="Save the policies?"
        text="They take effect at once. The rehearsal below shows which decisions would change."
        lines={changes}
        yes="Save"
        disabled={!isChanged || !isUsable}
        act={save}
      />
      <button type="button" disabled={!isChanged} onClick={drop}>
        Discard
      </button>
    </div>
  )
}

function FileState({ status }: Pick<PoliciesAnswer, 'status'>) {
  if (status === null) {
    return (
      <p>
        This server has no policies: answers have no decision. An admin writes the first one here,
        or with <code>iprisk policy init</code>.
      </p>
    )
  }
  const { last_failure: failure, warnings } = status
  return (
    <>
      {failure !== null && (
        <p class="problem">
          The file is not in use since {utcTime(failure.at)}: {failure.reason}
        </p>
      )}
      <Lines of={warnings} tone="problem" />
    </>
  )
}

/** As `iprisk policy init`, without lists and crawlers. */
const newPolicy: PolicyText = {
  rules: [
    { name: 'critical-score', condition: 'risk_score >= 90', action: 'block', observe: true },
    { name: 'high-score', condition: 'risk_score >= 50', action: 'challenge', observe: true },
  ],
  otherwise: 'allow',
}

/** Mistakes of the shown policy appear in place. */
function DraftState(props: {
  readonly isChanged: boolean
  readonly mistakes: readonly PlacedMistake[]
  readonly shown: string
}) {
  const { isChanged, mistakes, shown } = props
  const others = mistakes
    .filter(({ policy }) => policy !== shown)
    .map(({ policy, message }) => (policy === undefined ? message : `${policy}: ${message}`))
  return (
    <div class="policy-state" aria-live="polite">
      {mistakes.length === 0 ? (
        <p class="quiet">{isChanged ? 'The draft is valid.' : 'This is in effect.'}</p>
      ) : (
        <p class="warn">{counted(mistakes.length, 'mistake')} to fix before you save.</p>
      )}
      <Lines of={others} tone="warn" />
    </div>
  )
}

/** Chooses a policy of the draft; editors can add and remove some. */
function PolicyTabs(props: {
  readonly names: readonly string[]
  readonly name: string
  readonly isFixed: boolean
  readonly choose: (name: string) => void
  readonly onAdd: (name: string) => void
  readonly onRemove: (name: string) => void
}) {
  const { names, name, isFixed, choose, onAdd, onRemove } = props
  return (
    <div class="policy-names">
      <div class="tabs" role="group" aria-label="Which policy">
        {names.map((one) => (
          <button key={one} type="button" aria-pressed={one === name} onClick={() => choose(one)}>
            {one}
          </button>
        ))}
      </div>
      {!isFixed && names.includes(name) && name !== 'default' && (
        <button type="button" onClick={() => onRemove(name)}>
          Remove {name}
        </button>
      )}
      {!isFixed && <NewPolicy key={String(names.length === 0)} names={names} onAdd={onAdd} />}
    </div>
  )
}

/** The first one must be the default. */
function NewPolicy(props: {
  readonly names: readonly string[]
  readonly onAdd: (name: string) => void
}) {
  const { names, onAdd } = props
  const isFirst = names.length === 0
  const [text, setText] = useState(isFirst ? 'default' : '')
  const name = text.trim()
  const isTaken = names.includes(name)
  const add = (): void => {
    if (name === '' || isTaken) return
    setText('')
    onAdd(name)
  }
  return (
    <Form class="policy-names" send={add}>
      <TextField
        label="New policy"
        value={text}
        aria-invalid={isTaken}
        spellcheck={false}
        set={setText}
      />
      <button type="submit" disabled={name === '' || isTaken}>
        Add
      </button>
    </Form>
  )
}

const restMs = 300

function useMistakes(draft: PoliciesAnswer['policies']): readonly PlacedMistake[] {
  const [mistakes, setMistakes] = useState<readonly PlacedMistake[]>([])
  useEffect(() => {
    const over = new AbortController()
    const look = async (): Promise<void> => {
      const answer = await ask<{ readonly mistakes: readonly string[] }>(
        'POST',
        '/admin/policies/check',
        { policies: draft },
        over.signal,
      )
      if (over.signal.aborted) return
      const found = answer.kind === 'ok' ? answer.value.mistakes : [answer.message]
      setMistakes(found.map(placeMistake))
    }
    const timer = setTimeout(() => void look(), restMs)
    return () => {
      clearTimeout(timer)
      over.abort()
    }
  }, [draft])
  return mistakes
}
