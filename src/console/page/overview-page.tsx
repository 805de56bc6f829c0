// The home page: what needs attention, and what happened in a day. Each number leads to its page.

import type { FeedsView, TableChanges, TrafficView } from '../../api/admin-answers.ts'
import type { ServerStatus } from '../../admin/status.ts'
import { largestSums } from '../../base/counts.ts'
import { useLoad, useLoadUntilDone } from './ask/use-load.ts'
import { changedText, classMoves } from './feeds/feeds-page.tsx'
import { BarList } from './parts/bar-list.tsx'
import { FigureList } from './parts/figure-list.tsx'
import { Panel } from './parts/panel.tsx'
import { Waiting } from './parts/problem.tsx'
import { routeTo } from './route.ts'
import { change, count, counted, percent, words } from './text/figures.ts'
import { actionTone } from './text/tone.ts'
import { Top } from './traffic/traffic-page.tsx'

const followMs = 60_000
/** A table that is refreshed each day is younger. */
const oldDays = 3

export function OverviewPage() {
  const { value: status, ...loaded } = useLoad<ServerStatus>('/status', followMs)
  const { value: feeds } = useLoad<FeedsView>('/admin/feeds')
  const { value: traffic } = useLoad<TrafficView>('/admin/traffic', followMs)
  const changes = useLoadUntilDone<TableChanges>('/admin/table/changes')
  return (
    <>
      <div class="page-head">
        <h1>Overview</h1>
      </div>
      <Waiting loaded={{ ...loaded, value: status }} />
      {status && traffic && <DayFigures of={{ status, feeds, traffic }} />}
      <div class="grid overview">
        <Panel title="Needs attention">
          {status && feeds && <Troubles status={status} feeds={feeds.failing} />}
        </Panel>
        <Panel title="Last table change" meaning="changes">
          <Waiting loaded={changes} />
          {changes.isRunning && <p class="waiting">Comparing the two tables…</p>}
          {changes.value?.status === 'none' && <p class="quiet">There is no earlier table.</p>}
          {changes.value?.status === 'done' && (
            <>
              <a href={routeTo('table')}>{changedText(changes.value)}</a>
              <BarList label="Changes by class" bars={classMoves(changes.value.classes ?? [])} />
            </>
          )}
        </Panel>
        <Panel title="Decisions" meaning="decisions" aside={<span>24 hours</span>}>
          {traffic && <BarList label="Decisions" bars={decisionBars(traffic)} />}
        </Panel>
        {traffic && <Top title="Blocked networks" rows={traffic.top.blocked} />}
      </div>
    </>
  )
}

const ageDays = ({ table }: ServerStatus): number => Math.floor((table?.age_seconds ?? 0) / 86_400)

const decisionsOf = ({ minutes }: TrafficView) =>
  largestSums(minutes.flatMap(({ decisions }) => Object.entries(decisions)))

const blockedOf = (decisions: readonly (readonly [string, number])[]): number =>
  decisions.reduce((sum, [name, times]) => (name.endsWith('/block') ? sum + times : sum), 0)

function DayFigures(props: {
  readonly of: {
    readonly status: ServerStatus
    readonly feeds: FeedsView | undefined
    readonly traffic: TrafficView
  }
}) {
  const { status, feeds, traffic } = props.of
  const { minutes, before } = traffic
  const checks = minutes.reduce((sum, minute) => sum + minute.checks, 0)
  const clean = minutes.reduce((sum, { classes }) => sum + (classes['clean'] ?? 0), 0)
  const blocked = blockedOf(decisionsOf(traffic))
  const blockedBefore = before === null ? undefined : blockedOf(Object.entries(before.decisions))
  const [table, day, rules] = [routeTo('table'), routeTo('traffic'), routeTo('rules', 'policies')]
  const state = words(status.status)
  const age = status.table === null ? 'none' : counted(ageDays(status), 'day')
  const failing = feeds?.failing.length
  const figures = [
    { title: 'server', text: state, href: day, isWrong: state !== 'ready' },
    { title: 'age of the table', text: age, href: table, isWrong: ageDays(status) > oldDays },
    {
      title: 'failing feeds',
      text: failing === undefined ? '…' : count(failing),
      href: table,
      isWrong: (failing ?? 0) > 0,
    },
    {
      title: 'checks, 24 hours',
      text: count(checks),
      href: day,
      change: change(checks, before?.checks),
    },
    { title: 'not clean', text: percent(checks === 0 ? 0 : 1 - clean / checks), href: day },
    {
      title: 'blocked, 24 hours',
      text: count(blocked),
      href: rules,
      change: change(blocked, blockedBefore),
    },
  ]
  return <FigureList figures={figures} />
}

function Troubles(props: { readonly status: ServerStatus; readonly feeds: FeedsView['failing'] }) {
  const { status, feeds } = props
  const refusal = status.tables.last_refusal
  const failure = status.policies?.last_failure ?? null
  const days = ageDays(status)
  const troubles = [
    status.status !== 'ready' && `The server is ${words(status.status)}.`,
    days > oldDays && `The table is ${days} days old; refresh the feeds.`,
    refusal !== null && `The last table was rejected: ${refusal.reason}`,
    failure !== null && `The policies file is not in use: ${failure.reason}`,
  ].filter((text) => text !== false)
  if (troubles.length + feeds.length === 0) return <p class="quiet">Nothing.</p>
  return (
    <ul class="troubles">
      {troubles.map((text) => (
        <li key={text} class="warn">
          {text}
        </li>
      ))}
      {feeds.map(({ id, why }) => (
        <li key={id}>
          <a href={routeTo('table')}>{id}</a> <span class="quiet free">{why}</span>
        </li>
      ))}
    </ul>
  )
}

const decisionBars = (traffic: TrafficView) =>
  decisionsOf(traffic).map(([name, value]) => ({
    name,
    value,
    text: `${count(value)} ${change(value, traffic.before?.decisions[name])}`,
    tone: actionTone(name.split('/').at(-1) ?? ''),
    href: routeTo('rules', 'policies'),
  }))
