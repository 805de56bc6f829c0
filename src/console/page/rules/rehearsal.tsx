// What the draft would have decided, on a log that is dropped here or on the server's own sample.

import { useEffect, useState } from 'preact/hooks'
import type { RehearsalView } from '../../../api/admin-answers.ts'
import { type Refusal, ask } from '../ask/ask.ts'
import { FileDrop } from '../parts/file-drop.tsx'
import { Panel } from '../parts/panel.tsx'
import type { PoliciesAnswer } from '../parts/policy-choice.tsx'
import { Problem } from '../parts/problem.tsx'
import { RehearsalOutcome } from './rehearsal-outcome.tsx'

const logBytesMax = 2_000_000
const pollMs = 500

export function Rehearsal(props: {
  readonly policies: PoliciesAnswer['policies']
  readonly policy: string
  readonly isUsable: boolean
}) {
  const { policies, policy, isUsable } = props
  const [run, setRun] = useState<RehearsalView | undefined>(undefined)
  const [tried, setTried] = useState({ policies, policy })
  const [refusal, setRefusal] = useState<Refusal | undefined>(undefined)
  const begin = async (on: { readonly log: string } | { readonly sample: true }) => {
    setRefusal(undefined)
    setTried({ policies, policy })
    const answer = await ask<{ readonly id: string }>('POST', '/admin/rehearsals', {
      policies,
      policy,
      ...on,
    })
    if (answer.kind === 'refused') setRefusal(answer)
    else setRun({ id: answer.value.id, status: 'running' })
  }
  useLooks(run, setRun, setRefusal)
  const isRunning = run?.status === 'running'
  const isAnother = tried.policies !== policies || tried.policy !== policy
  return (
    <Panel title="Rehearsal" meaning="rehearsal">
      <div class="actions">
        <button
          type="button"
          disabled={!isUsable || isRunning}
          onClick={() => void begin({ sample: true })}
        >
          Try it on the sample
        </button>
        <FileDrop
          label="Or drop a log, at most 2 MB of it"
          bytesMax={logBytesMax}
          onText={(log) => void begin({ log })}
        />
      </div>
      <div aria-live="polite">
        {isRunning && (
          <p class="running">
            <progress aria-label="Rehearsal" /> The draft is being tried…
          </p>
        )}
        {refusal !== undefined && <Problem refusal={refusal} />}
        {run?.status === 'done' && isAnother && (
          <p class="warn">This is not the draft that was tried. Try it again.</p>
        )}
        {run?.status === 'failed' && <p class="problem">{run.message ?? 'It failed.'}</p>}
      </div>
      {run?.status === 'done' && run.report !== undefined && (
        <RehearsalOutcome report={run.report} />
      )}
    </Panel>
  )
}

/** Asks how a run is doing until it is over. */
function useLooks(
  run: RehearsalView | undefined,
  setRun: (next: RehearsalView | undefined) => void,
  setRefusal: (refusal: Refusal | undefined) => void,
): void {
  useEffect(() => {
    if (run?.status !== 'running') return undefined
    let isOver = false
    const look = async (): Promise<void> => {
      const path = `/admin/rehearsals/${encodeURIComponent(run.id)}`
      const answer = await ask<RehearsalView>('GET', path)
      if (isOver) return
      setRefusal(answer.kind === 'refused' ? answer : undefined)
      // No answer at all says nothing of the run: it is asked for again.
      if (answer.kind === 'ok') setRun({ ...answer.value })
      else setRun(answer.status === 0 ? { ...run } : undefined)
    }
    const timer = setTimeout(() => void look(), pollMs)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [run])
}
