// What must hold of every verdict in a table of the whole world (contract 3.1 to 3.8, MODEL.md):
// every verdict, and every record that joins one to a network.

import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Network } from '../../src/model/network.ts'
import type { Verdict } from '../../src/model/verdict.ts'
import { recordWords, verdictWords } from '../../src/schema/table-layout.ts'
import { reasonCodes } from '../../src/score/points/reason-codes.ts'
import { readNetwork } from '../../src/table/file/network-record.ts'
import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import { readVerdict } from '../../src/table/file/verdict-record.ts'
import { describeFeeds } from '../feeds.ts'
import { historyTable, worldDays, worldTable } from './world-tables.ts'

type Rule<T> = (subject: T) => boolean

/** proxy.type by classification, and by signal in the order of contract 3.5. */
const typeOfClass: Readonly<Record<string, string>> = {
  proxy: 'proxy',
  vpn: 'vpn',
  tor: 'tor',
  hosting: 'data_center',
  residential_proxy: 'residential',
}
const typeOfSignal = [
  ['tor', 'tor'],
  ['residential_proxy', 'residential'],
  ['vpn', 'vpn'],
  ['proxy', 'proxy'],
  ['hosting', 'data_center'],
] as const
const loweringCode = /^(?:others_limited|cap_\w+|consumer_vpn|blocklist_explained|clamp_100)$/
const known = new Set<string>(reasonCodes)

const has = ({ reasons }: Verdict, code: string): boolean =>
  reasons.some((reason) => reason.code === code)
const sum = ({ reasons }: Verdict): number => reasons.reduce((all, { points }) => all + points, 0)
const firstType = ({ signals }: Verdict): string | undefined =>
  typeOfSignal.find(([signal]) => signals[signal])?.[1]

/** The classification that the signals and the bot leave, but for mixed (contract 3.7). */
function classOf({ signals, bot }: Verdict): string {
  if (bot?.confidence === 'high') return 'known_bot'
  if (signals.tor) return 'tor'
  if (signals.residential_proxy) return 'residential_proxy'
  if (signals.vpn) return 'vpn'
  if (signals.proxy) return 'proxy'
  if (bot !== undefined) return 'known_bot'
  return signals.hosting ? 'hosting' : 'clean'
}

const verdictRules = (asOf: number): Readonly<Record<string, Rule<Verdict>>> => ({
  'is no bogon': ({ classification, signals }) => classification !== 'bogon' && !signals.bogon,
  'scores a whole number from 0 to 100': ({ score }) =>
    Number.isInteger(score) && score >= 0 && score <= 100,
  'scores what its reasons add up to': (verdict) => sum(verdict) === verdict.score,
  'gives known reasons, each once': ({ reasons }) =>
    new Set(reasons.map(({ code }) => code)).size === reasons.length &&
    reasons.every(({ code }) => known.has(code)),
  'is lowered by limits alone': ({ reasons }) =>
    reasons.every(({ code, points }) => points >= 0 || loweringCode.test(code)),
  'has the class of its signals': (verdict) =>
    verdict.classification === classOf(verdict) ||
    verdict.classification === 'mixed' ||
    // What lists name goes before a VPN that is only inferred.
    (has(verdict, 'vpn_inferred') &&
      verdict.classification ===
        classOf({ ...verdict, signals: { ...verdict.signals, vpn: false } })) ||
    // An operator's own exit, also where a list of residential proxies names it.
    (verdict.classification === 'vpn' && verdict.signals.vpn && has(verdict, 'conflict_resolved')),
  'is mixed with both signals, from 80 on': ({ classification, signals, score }) =>
    classification !== 'mixed' ||
    (signals.residential_proxy && signals.vpn && (score >= 80 || signals.mobile)),
  'has a proxy exactly with a signal of one, and none as a verified bot': (verdict) =>
    (verdict.proxy !== undefined) ===
    (firstType(verdict) !== undefined && verdict.bot?.confidence !== 'high'),
  'has the proxy type of its class': (verdict) =>
    verdict.proxy === undefined ||
    verdict.proxy.type === (typeOfClass[verdict.classification] ?? firstType(verdict)),
  'was last seen by its own day': ({ proxy }) => proxy === undefined || proxy.lastSeen <= asOf,
  'was seen on a share of days': ({ proxy }) =>
    proxy === undefined || (proxy.percentDaysSeen >= 0 && proxy.percentDaysSeen <= 100),
  'is clean without proxy, bot or signals, at most 49': (verdict) =>
    verdict.classification !== 'clean' ||
    (verdict.proxy === undefined &&
      verdict.bot === undefined &&
      firstType(verdict) === undefined &&
      verdict.score <= 49),
  'names its bot where it is one': ({ classification, bot }) =>
    classification !== 'known_bot' || bot !== undefined,
  'is a bot of at most 10, or on three lists': (verdict) =>
    verdict.classification !== 'known_bot' ||
    verdict.score <= 10 ||
    has(verdict, 'blocklist_3') ||
    has(verdict, 'blocklist_5'),
  'is a relay of at most 20 where it is clean': ({ classification, signals, score }) =>
    classification !== 'clean' || !signals.relay || score <= 20,
  'is no hosting beside a relay': ({ signals }) => !signals.relay || !signals.hosting,
  'says of blocklists what the signal says': (verdict) =>
    verdict.signals.blocklist_match ===
    verdict.reasons.some(({ code, points }) => /^blocklist_\d$/.test(code) && points > 0),
})

interface Joined {
  readonly network: Network | undefined
  readonly verdict: Verdict
  readonly listed: boolean
}

const joinedRules: Readonly<Record<string, Rule<Joined>>> = {
  'is mobile by its network alone': ({ network, verdict }) =>
    verdict.signals.mobile === (network?.mobile === true),
  'is corporate egress of at most 30': ({ network, verdict }) =>
    network?.corporate !== true || verdict.score <= 30,
  'is shared and at most 74, or Tor': ({ network, verdict }) =>
    !(network?.shared === true || network?.mobile === true) ||
    verdict.score <= 74 ||
    verdict.signals.tor,
  'is residential on people’s lines alone': ({ network, verdict }) =>
    !verdict.signals.residential_proxy || network?.access === true,
  'is nothing but hosting without a listed range': ({ verdict, listed }) =>
    listed || verdict.classification === 'hosting' || verdict.classification === 'clean',
  'is clean, 15 or unknown, where nothing is announced': ({ network, verdict, listed }) =>
    network !== undefined ||
    listed ||
    (verdict.classification === 'clean' &&
      ((verdict.score === 15 && has(verdict, 'unannounced')) ||
        // Of IPv6, where the networks are too old to say so.
        (verdict.score === 0 && has(verdict, 'announcement_unknown')))),
  'is at most 20 where only the network speaks, or an inferred hoster of 25 to 40': (joined) =>
    joined.listed ||
    joined.network === undefined ||
    joined.verdict.score <= 20 ||
    (has(joined.verdict, 'hosting_inferred') && joined.verdict.score <= 40),
  'has points where its network is a hoster': ({ network, verdict }) =>
    network?.type !== 'hosting' || verdict.score > 0,
  'says that it is an edge': ({ network, verdict }) =>
    !(network?.cdn === true || network?.type === 'cdn') ||
    !['clean', 'hosting'].includes(verdict.classification) ||
    has(verdict, 'cdn_edge'),
}

const tables = [
  ...worldDays.map((day) => ({ built: worldTable, day, title: day })),
  { built: historyTable, day: worldDays[0], title: `${worldDays[0]}, with sixty days of history` },
]

for (const { built, day, title } of tables) {
  describeFeeds(`every verdict as of ${title}`, () => {
    let table: OpenTable
    let verdicts: Verdict[]
    beforeAll(async () => {
      table = openTable(await built(day))
      const { views, strings } = table.reader
      const count = views.verdicts.length / verdictWords
      verdicts = Array.from({ length: count }, (_, id) => readVerdict(views, id, strings))
    })
    afterAll(() => table.close())

    it('there are many', () => {
      expect(verdicts.length).toBeGreaterThan(1000)
    })

    it.each(Object.keys(verdictRules(0)))('%s', (name) => {
      const holds = verdictRules(table.asOf)[name]!
      expect(verdicts.filter((verdict) => !holds(verdict)).slice(0, 3)).toEqual([])
    })

    it('holds with its network, too', () => {
      const broken: Record<string, Joined[]> = {}
      for (const joined of joinedOf(table, verdicts)) {
        for (const [name, rule] of Object.entries(joinedRules)) {
          if (!rule(joined)) (broken[name] ??= []).push(joined)
        }
      }
      const shown = Object.entries(broken).map(([name, all]) => [name, all.length, all[0]])
      expect(shown).toEqual([])
    })
  })
}

/** Each distinct pair of network and verdict, with and without listed ranges. */
function* joinedOf(table: OpenTable, verdicts: readonly Verdict[]): Generator<Joined> {
  const { views, strings } = table.reader
  const seen = new Set<number>()
  const { records } = views
  for (let at = 0; at < records.length; at += recordWords) {
    const network = records[at]!
    const verdict = records[at + 2]!
    const listed = records[at + 3] !== 0
    const key = (network * verdicts.length + verdict) * 2 + Number(listed)
    if (seen.has(key)) continue
    seen.add(key)
    yield {
      network: network === 0 ? undefined : readNetwork(views.networks, network, strings),
      verdict: verdicts[verdict]!,
      listed,
    }
  }
}
