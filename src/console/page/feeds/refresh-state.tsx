// How far a refresh is, or how the last one ended.

import type { RefreshView } from '../../../api/admin-answers.ts'
import { utcTime, words } from '../text/figures.ts'

export function RefreshState({ refresh }: { readonly refresh: RefreshView }) {
  const { running, stage, last } = refresh
  if (running) {
    return (
      <p class="running" role="status">
        <progress aria-label="Refresh" /> Refresh: {words(stage ?? 'starting')}
      </p>
    )
  }
  if (last === null) return null
  return (
    <p class={last.outcome === 'failed' ? 'warn' : 'quiet'}>
      Last refresh {utcTime(last.at)}: {last.outcome}
      {last.message !== '' && `, ${last.message}`}
    </p>
  )
}
