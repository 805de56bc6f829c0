// The addresses of the /24, or the /64s of an IPv6 /56, as a grid. Clicks, or arrow keys and Enter,
// walk to a neighbour.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { AddressView } from '../../../api/admin-answers.ts'
import { Panel } from '../parts/panel.tsx'
import { KindTag } from '../parts/tag.tsx'
import { routeTo } from '../route.ts'
import { networkLink } from './network.tsx'
import { count, counted, percent, shortCount, words } from '../text/figures.ts'
import { kindTone } from '../text/tone.ts'

type Cell = AddressView['neighbours']['cells'][number]

const side = 16

interface Walk {
  readonly ip: string
  /** Set when a neighbour is opened, for the next page of neighbours. */
  readonly walkedTo: { current: string }
}

export function Neighbours(props: Walk & { readonly view: AddressView }) {
  const { ip, view, walkedTo } = props
  const { prefix, cells } = view.neighbours
  const own = view.answer.address ?? view.answer.ip
  return (
    <Panel title="Neighbourhood" meaning="neighbourhood" aside={<code>{prefix}</code>}>
      <div class="around">
        <Picture ip={ip} walkedTo={walkedTo} cells={cells} own={own} />
        <Scopes scopes={view.insights.neighborhood} />
      </div>
    </Panel>
  )
}

const steps: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -side,
  ArrowDown: side,
}

function Picture(props: Walk & { readonly cells: readonly Cell[]; readonly own: string }) {
  const { ip, walkedTo, cells, own } = props
  const ownPlace = (): number => cells.findIndex((cell) => cell.ip === own)
  const [at, setAt] = useState(() => Math.max(0, ownPlace()))
  const here = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (walkedTo.current === ip) here.current?.querySelector<HTMLElement>('.is-own')?.focus()
    walkedTo.current = ''
  }, [ip, walkedTo])
  const move = (event: KeyboardEvent): void => {
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = at + step
    if (next < 0 || next >= cells.length) return
    setAt(next)
    here.current?.querySelectorAll('a')[next]?.focus()
  }
  const shown = cells[at]!
  return (
    <div class="picture">
      <div
        ref={here}
        class="cells"
        role="grid"
        aria-label="The neighbours; arrow keys move, Enter opens"
        onKeyDown={move}
      >
        {Array.from({ length: side }, (_, row) => (
          <div key={row} role="row" class="cells-row">
            {cells.slice(row * side, (row + 1) * side).map((cell, column) => {
              const place = row * side + column
              const isOwn = cell.ip === own
              return (
                <div key={cell.ip} role="gridcell">
                  <a
                    href={routeTo('address', cell.ip)}
                    class={`cell ${kindTone(cell.classification)}${isOwn ? ' is-own' : ''}`}
                    tabIndex={place === at ? 0 : -1}
                    aria-label={saidOf(cell)}
                    onClick={() => {
                      walkedTo.current = cell.ip
                    }}
                    onFocus={() => setAt(place)}
                    onMouseEnter={() => setAt(place)}
                  />
                </div>
              )
            })}
          </div>
        ))}
      </div>
      <p class="picture-said">
        <code>{shown.ip}</code> <KindTag kind={shown.classification} /> {shown.risk_score}
      </p>
    </div>
  )
}

const saidOf = ({ ip, classification, risk_score }: Cell): string =>
  `${ip}: ${words(classification)}, ${risk_score}`

function Scopes({ scopes }: { readonly scopes: AddressView['insights']['neighborhood'] }) {
  return (
    <dl class="scopes">
      {scopes.map(({ scope, unit, listed }) => (
        <div key={scope}>
          <dt>
            <code>{networkLink(scope)}</code>
          </dt>
          {listed.length === 0 && <dd class="quiet">nothing is listed</dd>}
          {listed.map(({ kind, listed: number, percent: share, times_asn }) => (
            <dd key={kind}>
              <KindTag kind={kind} /> {unit === 'address' ? count(number) : counted(number, '/64')}{' '}
              <span class="quiet">
                {percent(share / 100)}
                {times_asn !== null && times_asn > 1 && `, ${shortCount(times_asn)} times the AS`}
              </span>
            </dd>
          ))}
        </div>
      ))}
    </dl>
  )
}
