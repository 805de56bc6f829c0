// Placeholders for a value that is loading or was refused.

import type { Loaded } from '../ask/use-load.ts'
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
