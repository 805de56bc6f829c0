// Which table answers, what changed with it, and what its feeds hold.

import type { FeedsView } from '../../../api/admin-answers.ts'
import { useLoad } from '../ask/use-load.ts'
import { Panel } from '../parts/panel.tsx'
import { Waiting } from '../parts/problem.tsx'
import { KindTag } from '../parts/tag.tsx'
import { Changes } from './changes.tsx'
import { FeedList } from './feed-list.tsx'
import { LiveTable } from './live-table.tsx'

export function FeedsPage() {
  const loaded = useLoad<FeedsView>('/admin/feeds')
  const { value: view } = loaded
  return (
    <>
      <div class="page-head">
        <h1>Table and feeds</h1>
      </div>
      <div class="grid table-page">
        <LiveTable onSwapped={loaded.again} />
        {view !== undefined && <Coverage coverage={view.coverage} />}
        <Changes key={view?.table ?? ''} />
        <Panel wide title="Feeds" meaning="feeds">
          <Waiting loaded={loaded} />
          {view !== undefined && <FeedList feeds={view.feeds} />}
        </Panel>
      </div>
    </>
  )
}

const states: Readonly<Record<string, string>> = {
  full: 'covered',
  covered: 'covered',
  partly: 'in part',
  missing: 'not covered',
}

function Coverage({ coverage }: { readonly coverage: FeedsView['coverage'] }) {
  return (
    <Panel title="Coverage" meaning="coverage">
      <ul class="coverage">
        {Object.entries(coverage).map(([kind, { state, day }]) => (
          <li key={kind}>
            <KindTag kind={kind} />
            <span class={state === 'missing' || state === 'partly' ? 'warn' : undefined}>
              {states[state] ?? state}
            </span>
            <span class="quiet">{day ?? 'no day'}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
