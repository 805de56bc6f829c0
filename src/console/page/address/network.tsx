// The page of a prefix or an AS: its addresses by class, and entries of own lists in it or around it.

import type { NetworkView } from '../../../api/admin-answers.ts'
import { useLoad } from '../ask/use-load.ts'
import { useMay } from '../ask/session.ts'
import { TitledBars } from '../parts/bar-list.tsx'
import { Panel } from '../parts/panel.tsx'
import { Waiting } from '../parts/problem.tsx'
import { routeTo } from '../route.ts'
import { count, percent, signed, words } from '../text/figures.ts'
import { kindTone } from '../text/tone.ts'
import { OwnLists } from './own-rules.tsx'

export const isNetwork = (text: string): boolean => /^(?:as\d+|[\d.:a-f]+\/\d+)$/i.test(text.trim())

export const networkLink = (of: string) => <a href={routeTo('address', of)}>{of}</a>

export function Network({ of }: { readonly of: string }) {
  const loaded = useLoad<NetworkView>(`/admin/network?${new URLSearchParams({ of })}`)
  const mayList = useMay('analyst')
  const { value: view } = loaded
  if (view === undefined) return <Waiting loaded={loaded} />
  return (
    <div class="grid network">
      <Panel
        title={`${view.of} ${view.name}`}
        meaning="network"
        aside={view.against !== null && <span>changes since {view.against}</span>}
      >
        <div class="columns">
          <TitledBars title="IPv4 addresses" bars={bars(view.ipv4)} />
          <TitledBars title="IPv6, in /64s" bars={bars(view.ipv6)} />
        </div>
      </Panel>
      <Panel
        title="Our lists"
        aside={mayList && <a href={routeTo('rules', 'lists', { add: view.of })}>Add to a list</a>}
      >
        <OwnLists lists={view.lists} />
      </Panel>
    </div>
  )
}

function bars(rows: NetworkView['ipv4']) {
  const all = rows.reduce((sum, { addresses }) => sum + addresses, 0)
  return rows
    .toSorted((a, b) => b.addresses - a.addresses)
    .map(({ classification, addresses, before = addresses }) => ({
      name: words(classification),
      value: addresses,
      text: `${count(addresses)} ${bracketed(signed(addresses - before))}· ${percent(addresses / all)}`,
      tone: kindTone(classification),
    }))
}

const bracketed = (text: string): string => text && `(${text}) `
