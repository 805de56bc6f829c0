// Placeholders for a value that is loading or was refused.

import type { ComponentChildren } from 'preact'
import type { Loaded, Run } from '../ask/use-load.ts'
import type { Refusal } from '../ask/ask.ts'

export function Problem({ refusal }: { readonly refusal: Refusal | undefined }) {
  if (refusal === undefined) return null
  return (
    <div class="problem" role="alert">
      <p>{refusal.message}</p>
      {refusal.mistakes.length > 0 && (
        <ul>
          {refusal.mistakes.map((mistake) => (
            <li key={mistake}>{mistake}</li>
          ))}
        </ul>
      )}
    </div>
  )
}

export function Lines(props: {
  readonly of: readonly string[]
  readonly tone: 'warn' | 'problem'
}) {
  return props.of.map((text) => (
    <p key={text} class={props.tone}>
      {text}
    </p>
  ))
}

export function Waiting({ loaded }: { readonly loaded: Loaded<unknown> }) {
  if (loaded.refusal !== undefined) return <Problem refusal={loaded.refusal} />
  if (loaded.isLoading) return <p class="waiting">Loading…</p>
  return null
}

export function RunState(props: {
  readonly of: Run<unknown>
  readonly label: string
  readonly children?: ComponentChildren
}) {
  const { of, label, children } = props
  const { value: run, isRunning, refusal } = of
  return (
    <div aria-live="polite">
      {isRunning && (
        <p class="running">
          <progress aria-label={label} /> {label}… {run?.stage}
        </p>
      )}
      <Problem refusal={refusal} />
      {children}
      {run?.status === 'failed' && <p class="problem">{run.message}</p>}
    </div>
  )
}
