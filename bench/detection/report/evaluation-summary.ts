// The opening of the evaluation's page, for readers who decide whether to use the product: what it
// recognizes, what it does not, and how that was measured. Its figures are the run's own.

import { formatCount } from '../../../src/base/text/number-format.ts'
import { wilsonShare } from '../../../src/feedback/wilson-share.ts'
import { formatDay } from '../../../src/base/day.ts'
import { markdownTable } from '../../harness/markdown-table.ts'
import type { ListedRow } from '../evaluation/leave-last-days-out.ts'
import type { DetectedShares } from '../evaluation/leave-one-out.ts'
import type { SpaceShare } from '../world/address-space.ts'
import type { CrossEvaluation } from './evaluation.ts'
import { percent } from './kept-result.ts'

export function evaluationSummary(run: CrossEvaluation): readonly string[] {
  const titles = ['addresses', 'how many', 'recognized', '≥ 25', '≥ 50']
  return [
    'How much of what hides behind VPNs, proxies and datacenters does iprisk recognize, and how ' +
      'often does it accuse ordinary people? Operators typically challenge a login from a score ' +
      'of 25 and block it from 50.',
    markdownTable(titles, summaryRows(run), 1).join('\n'),
    '**Detected:** Tor exits; VPN servers that operators or third parties list; in hosting networks, ' +
      'unlisted addresses next to several listed VPN servers (low confidence, `vpn_inferred`); open ' +
      'proxies that were tested in recent days; datacenters and clouds; crawlers and AI agents in ' +
      'ranges that their operators publish; Apple’s Private Relay.',
    '**Not detected:** residential proxies that no list names. Commercial proxy networks send ' +
      'through home lines that look like any other, and no public list covers them. The same holds ' +
      'for VPNs on home lines. A VPN server in a datacenter without listed servers nearby is scored ' +
      'as hosting, not as VPN. IPv6 lags behind IPv4, because few feeds list IPv6. Proxies whose ' +
      'exit differs from the address that you connect to are found only where a list names the exit.',
    `**How it was measured:** ${howMeasured(run)}`,
  ]
}

function howMeasured({ aged, operators }: CrossEvaluation): string {
  const month =
    aged === undefined
      ? ''
      : ` “A month later” scores the lists of ${formatDay(aged.asOf)} with a build of ` +
        `${formatDay(aged.before)} that has seen no later list.`
  return (
    'on real feeds. “Unlisted operator” removes everything that one of ' +
    `${operators.operators.length} VPN operators, or a copy of its list, says, and asks what the ` +
    `rest says about its servers; other rows do the same by feed.${month} People’s lines are all ` +
    'addresses of access networks, so every score there counts as a false alarm, although some of ' +
    'them do run proxies. The rows of hosting-prefixes.csv were found from these lists, so their ' +
    'effect is not held out. Weights were calibrated on these feeds, so none of these lists is unseen; ' +
    'expect lower recall on traffic that no feed’s publisher looks for.'
  )
}

function summaryRows(run: CrossEvaluation): readonly (readonly string[])[] {
  const { dayBefore = [], aged, operators, leaveOneOut, access } = run
  const own = new Set(operators.operators.flatMap(({ feeds }) => feeds))
  const isOwn = ({ feed }: ListedRow): boolean => own.has(feed)
  const { unknown, entries } = operators.pooled
  const rows = [
    poolRow('VPN servers that their operator listed the day before', dayBefore.filter(isOwn)),
    poolRow(
      'of these, IPv6',
      dayBefore.filter((row) => isOwn(row) && row.family === 6),
    ),
    poolRow('VPN servers, a month later', (aged?.listed ?? []).filter(isOwn)),
    sharesRow('VPN servers of an unlisted operator', entries, unknown),
    poolRow(
      'Tor exits of the day before',
      dayBefore.filter(({ kind }) => kind === 'tor'),
    ),
    ...(['proxy', 'residential_proxy', 'hosting'] as const).map((kind) => {
      const rows = leaveOneOut
        .filter((row) => row.kind === kind)
        .map(({ entries, withoutGroup }) => ({ listed: entries, ...withoutGroup }))
      return poolRow(`${titleOf[kind]} whose list is left out`, rows)
    }),
    spaceRow('people’s lines, IPv4', access[4]),
    spaceRow('people’s lines, IPv6 (/64)', access[6]),
  ]
  return rows.filter(([, count]) => count !== '0')
}

const titleOf = {
  proxy: 'open proxies',
  residential_proxy: 'residential proxies',
  hosting: 'datacenter ranges',
} as const

type Pooled = DetectedShares & { readonly listed: number }

function poolRow(name: string, rows: readonly Pooled[]): readonly string[] {
  const count = rows.reduce((sum, { listed }) => sum + listed, 0)
  const pool = (what: keyof DetectedShares) =>
    wilsonShare(
      rows.reduce((sum, row) => sum + row.listed * (row[what].share || 0), 0),
      count,
    )
  return sharesRow(name, count, {
    signal: pool('signal'),
    fromAsk: pool('fromAsk'),
    fromBlock: pool('fromBlock'),
    flagged: pool('flagged'),
  })
}

function sharesRow(name: string, count: number, shares: DetectedShares): readonly string[] {
  const { signal, fromAsk, fromBlock } = shares
  return [
    name,
    formatCount(count),
    ...[signal, fromAsk, fromBlock].map((one) => percent(one.share)),
  ]
}

function spaceRow(name: string, { total, fromAsk, fromBlock }: SpaceShare): readonly string[] {
  const shares = [percent(fromAsk / total, 4), percent(fromBlock / total, 4)]
  return [name, formatCount(Math.round(total)), '', ...shares]
}
