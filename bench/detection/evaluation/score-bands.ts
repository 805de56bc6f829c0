// Does the score order badness? For each band of scores: how many addresses that lists name as
// exits, per million addresses of the announced IPv4 space that has such a score, while those lists
// say nothing. Each list, or operator, is left out in turn, with its group; what it names is then
// told by the score that the others leave. A score orders badness where the rate rises from band to
// band.
//
// All announced space is no login's traffic: clouds have a ninth of it and send little. So each
// band is also held against people's lines, by the likelihood ratio: how much more often an exit
// that is named has such a score than an address of an access network.
//
// Of ranges the share of their addresses counts. Not labelled "bad" by the lists themselves: a list
// that is left out does not speak for the band that it is counted in.

import type { Evidence } from '../../../src/model/evidence.ts'
import { levelFloors, type NetworkType } from '../../../src/model/kind.ts'
import type { Network } from '../../../src/model/network.ts'
import type { Verdict } from '../../../src/model/verdict.ts'
import { type AccessSpace, type ScoredPiece, accessSpace } from '../world/address-space.ts'
import { newCellJudge } from '../world/cell-verdicts.ts'
import type { Cell, World } from '../world/cells.ts'
import { isOperators, operatorsOf } from './leave-operator-out.ts'
import { leftOutKinds, partsOf } from './leave-one-out.ts'
import { type WilsonShare, wilsonShare } from '../../../src/feedback/wilson-share.ts'

/** The least score of each band. */
export const bandFloors = [0, 10, 20, 25, 30, 40, 50, 75] as const

export interface ScoreBand {
  readonly from: number
  /** IPv4 addresses with such a score, the mean over what was left out. */
  readonly addresses: number
  /** Of these, those of access networks. */
  readonly people: number
  /** Of these, those that the lists name which are left out, all together. */
  readonly named: number
  /** Named of addresses. */
  readonly badness: WilsonShare
}

export interface LikelihoodRatio {
  /** Infinity where no people's address has such a score, NaN where nothing has. */
  readonly ratio: number
  /** At 95 %, of what is named; people's addresses are all there are. */
  readonly low: number
  readonly high: number
}

/**
 * Of each band: the share of what is named that has such a score, against the share of people's
 * addresses that has it.
 */
export function likelihoodRatios(bands: readonly ScoreBand[]): readonly LikelihoodRatio[] {
  const allNamed = bands.reduce((sum, { named }) => sum + named, 0)
  const allPeople = bands.reduce((sum, { people }) => sum + people, 0)
  return bands.map(({ named, people }) => {
    const { share, low, high } = wilsonShare(named, allNamed)
    const peoples = people / allPeople
    return { ratio: share / peoples, low: low / peoples, high: high / peoples }
  })
}

/**
 * The same by level, the lowest first; from 75 on both levels together, for nearly all that has 90
 * is a Tor exit, and without the one consensus no list says so.
 */
export function levelBands(bands: readonly ScoreBand[]): readonly ScoreBand[] {
  const levels = bands.filter(({ from }) => levelFloors.some(({ least }) => least === from))
  return levels.map(({ from }, index) => {
    const next = levels[index + 1]?.from ?? Infinity
    const own = bands.filter((band) => band.from >= from && band.from < next)
    const addresses = own.reduce((sum, band) => sum + band.addresses, 0)
    const people = own.reduce((sum, band) => sum + band.people, 0)
    const named = own.reduce((sum, band) => sum + band.named, 0)
    return { from, addresses, people, named, badness: badnessOf(named, addresses) }
  })
}

export function scoreBands(world: World): readonly ScoreBand[] {
  const units = leftOutUnits(world)
  const named = bandFloors.map(() => 0)
  const space = bandFloors.map(() => 0)
  const people = bandFloors.map(() => 0)
  for (const { feeds, isLeftOut } of units) {
    const judge = newCellJudge(world, { isLeftOut })
    for (const cell of world.cells) {
      if (cell.family !== 4 || cell.network === 0) continue
      const band = bandOf(judge(cell).score)
      space[band]! += cell.size / units.length
      const isAccess = world.networks[cell.network - 1]?.access === true
      if (isAccess) people[band]! += cell.size / units.length
    }
    for (const { id, newest } of feeds) {
      for (const { cell, part } of partsOf(world, id, newest)) {
        if (cell.family === 4) named[bandOf(judge(cell).score)]! += part
      }
    }
  }
  return bandFloors.map((from, band) => ({
    from,
    addresses: space[band]!,
    people: people[band]!,
    named: named[band]!,
    badness: badnessOf(named[band]!, space[band]!),
  }))
}

function badnessOf(named: number, addresses: number): WilsonShare {
  return wilsonShare(named, Math.max(addresses, named))
}

function bandOf(score: number): number {
  let band = 0
  while (score >= (bandFloors[band + 1] ?? Infinity)) band++
  return band
}

interface Unit {
  readonly feeds: readonly { readonly id: string; readonly newest: number }[]
  readonly isLeftOut: (evidence: Evidence) => boolean
}

/** Operators of VPNs, and the groups of feeds of other exits. */
function leftOutUnits(world: World): readonly Unit[] {
  const groups = new Map<string, Map<string, number>>()
  for (let id = 1; id <= world.book.count; id++) {
    const { evidence, range } = world.book.at(id)
    const { kind, match, voice, lastSeen } = evidence
    const isExit = kind !== 'hosting' && kind !== 'vpn' && isLeftOutKind(kind)
    if (!isExit || match === 'near' || range === undefined || voice.id.startsWith('table-'))
      continue
    const group = groups.get(voice.group) ?? new Map<string, number>()
    groups.set(voice.group, group)
    group.set(voice.id, Math.max(lastSeen, group.get(voice.id) ?? 0))
  }
  const lists = [...groups].map(([group, feeds]): Unit => ({
    feeds: [...feeds].map(([id, newest]) => ({ id, newest })),
    isLeftOut: ({ voice, match, kind }) =>
      voice.group === group || (match === 'near' && kind === 'proxy'),
  }))
  const operators = operatorsOf(world).map(({ operator, feeds }): Unit => {
    const ids = new Set(feeds.map(({ id }) => id))
    return { feeds, isLeftOut: isOperators({ operator, ids, rows: true }) }
  })
  return [...lists, ...operators]
}

function isLeftOutKind(kind: string): boolean {
  return (leftOutKinds as readonly string[]).includes(kind)
}

/** IPv4 addresses by class, and others; what is optional is absent in runs before it was measured. */
export interface ClassSpace {
  readonly byClass: Readonly<Record<string, number>>
  /** In networks of type hosting, without points. */
  readonly silentHosting: number
  /** In networks of type hosting. */
  readonly hosting?: number
  /** VPN by inference, in any network. */
  readonly inferredVpn?: number
  /** People's own lines by the type of their network: fixed, mobile, satellite. */
  readonly lines?: Readonly<Record<string, AccessSpace>>
  /** Networks that a public list of ASes calls people's, whatever type they have here. */
  readonly eyeballs?: AccessSpace
}

export function classSpace(world: World): Required<ClassSpace> {
  const judge = newCellJudge(world)
  const byClass: Record<string, number> = {}
  const sums = { hosting: 0, silentHosting: 0, inferredVpn: 0 }
  for (const cell of world.cells) {
    if (cell.family !== 4 || cell.network === 0) continue
    const { classification, score, reasons } = judge(cell)
    byClass[classification] = (byClass[classification] ?? 0) + cell.size
    if (reasons.some(({ code }) => code === 'vpn_inferred')) sums.inferredVpn += cell.size
    if (world.networks[cell.network - 1]?.type !== 'hosting') continue
    sums.hosting += cell.size
    if (score === 0) sums.silentHosting += cell.size
  }
  const linesOf = (type: NetworkType): AccessSpace =>
    spaceOf(world, judge, (network) => network.access && network.type === type)
  const lines = { isp: linesOf('isp'), mobile: linesOf('mobile'), satellite: linesOf('satellite') }
  const eyeballs = spaceOf(world, judge, (network) => isEyeballs(network, world))
  return { byClass, ...sums, lines, eyeballs }
}

/**
 * By bgp.tools' class alone, so that what is typed wrong here is not left out. Users of a VPN or of
 * Tor count as eyeballs there: networks that are tagged for it are left out.
 */
function isEyeballs({ asn }: Network, { facts }: World): boolean {
  const fact = facts.get(asn)
  return fact?.class === 'Eyeball' && !fact.tags.has('vpn') && !fact.tags.has('tor')
}

/** Alarms in the networks that are chosen, as if all their lines were people's. */
function spaceOf(
  world: World,
  judge: (cell: Cell) => Verdict,
  isChosen: (network: Network) => boolean,
): AccessSpace {
  const pieces = world.cells.flatMap((cell): readonly ScoredPiece[] => {
    const network = world.networks[cell.network - 1]
    if (network === undefined || !isChosen(network)) return []
    return [{ ...cell, network: { ...network, access: true }, score: judge(cell).score }]
  })
  return accessSpace(pieces)
}
