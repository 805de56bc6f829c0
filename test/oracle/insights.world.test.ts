// Insights of the world against the raw feeds: for addresses of every feed, which feeds list them,
// how much of each kind is listed around them, and in small ASes as a whole. Counted here one by
// one from the claims of the oracle, which shares no code with build/ and src/.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import type { Insights, InsightScope } from '../../src/api/insights-answer.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { answerWithInsights } from '../../src/table/explain/insights.ts'
import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import { describeFeeds } from '../feeds.ts'
import { worldTable } from '../world/world-tables.ts'
import { type Point, type Span, overlaps, spanOf, textOf } from './address.ts'
import { type Claim, claimsOf } from './evidence.ts'
import { plainFeeds } from './feeds.ts'
import { withoutFormerOwners } from './former-owners.ts'
import { neighbourClaims } from './neighbours.ts'
import { newRandom } from './sample.ts'
import { subjectOf } from './table.ts'
import { type AsRow, asRows, asnsOf } from './world.ts'

/** Of one voice alone, by what its feed is. */
const confidences = { direct: 'high', good: 'medium', weak: 'low' } as const

interface Definition {
  readonly id: string
  readonly weight: number
  readonly licence: string
  readonly assurance: keyof typeof confidences
}

/** The feeds' files as text, not as the compiler reads them. */
const folder = join(packageRoot, 'data', 'feeds')
const definitions = new Map(
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Definition)
    .map((definition) => [definition.id, definition] as const),
)

const perFeed = 4
const smallAses = 10
const asAddressesMax = 2048

/** Widest scope that is looked at, and what is counted in it. */
const siteBits = { 4: 12n, 6: 80n } as const
/** A /8 and a /32: what touches one is looked for once. */
const regionBits = { 4: 24n, 6: 96n } as const
const unitBits = { 4: 0n, 6: 64n } as const

const familyOf = (point: Point): 4 | 6 => (typeof point === 'number' ? 4 : 6)
const kindOf = ({ said }: Claim): string => said.split(' ')[1] ?? ''
/** Of neighbours: it lists nothing. */
const isNear = ({ said }: Claim): boolean => said.split(' ')[2] === 'near'
const siteOf = (point: Point): string =>
  `${familyOf(point)} ${BigInt(point) >> siteBits[familyOf(point)]}`

describeFeeds('insights of the world', () => {
  let table: OpenTable
  let random: () => number
  const byFeed = new Map<string, Claim[]>()
  const bySite = new Map<string, Claim[]>()
  const wide: Claim[] = []
  /** Of `wide`, those that touch a region. */
  const wideByRegion = new Map<string, Claim[]>()

  beforeAll(async () => {
    table = openTable(await worldTable())
    random = newRandom(15)
    const subject = subjectOf(table)
    const inAccess = (point: Point): boolean => subject.find(point).network?.access === true
    const read = new Map(plainFeeds.map((feed) => [feed.id, claimsOf(feed, inAccess)]))
    const listed = withoutFormerOwners(read, subject.announced())
    for (const claims of [...listed.values(), ...neighbourClaims(listed, subject).values()]) {
      for (const claim of claims) {
        const feed = claim.said.slice(0, claim.said.indexOf(' '))
        const ofFeed = byFeed.get(feed)
        if (ofFeed === undefined) byFeed.set(feed, [claim])
        else ofFeed.push(claim)
        const site = siteOf(claim.first)
        const own = bySite.get(site)
        if (site !== siteOf(claim.last)) wide.push(claim)
        else if (own === undefined) bySite.set(site, [claim])
        else own.push(claim)
      }
    }
  })

  function wideIn({ first }: Span): readonly Claim[] {
    const shift = regionBits[familyOf(first)]
    const number = BigInt(first) >> shift
    const key = `${familyOf(first)} ${number}`
    const known = wideByRegion.get(key)
    if (known !== undefined) return known
    const [from, to] = [number << shift, ((number + 1n) << shift) - 1n]
    const region =
      typeof first === 'number'
        ? { first: Number(from), last: Number(to) }
        : { first: from, last: to }
    const found = wide.filter((claim) => overlaps(claim, region))
    wideByRegion.set(key, found)
    return found
  }

  const insightsOf = (point: Point): Insights | undefined =>
    answerWithInsights({ ...table, builtMs: 0 }, textOf(point))?.insights ?? undefined

  /** Claims that touch a span inside one site. */
  const touching = (span: Span): Claim[] =>
    [...(bySite.get(siteOf(span.first)) ?? []), ...wideIn(span)].filter((claim) =>
      overlaps(claim, span),
    )

  function countsOf(span: Span): Record<string, number> {
    const bits = unitBits[familyOf(span.first)]
    const units = new Map<string, Set<bigint>>()
    for (const claim of touching(span)) {
      if (isNear(claim)) continue
      const own = units.get(kindOf(claim)) ?? new Set()
      units.set(kindOf(claim), own)
      const from = BigInt(claim.first > span.first ? claim.first : span.first) >> bits
      const to = BigInt(claim.last < span.last ? claim.last : span.last) >> bits
      for (let unit = from; unit <= to; unit++) own.add(unit)
    }
    return byKind([...units].map(([kind, own]) => [kind, own.size]))
  }

  const listedIn = ({ listed }: InsightScope): Record<string, number> =>
    byKind(listed.map(({ kind, listed: count }) => [kind, count]))

  /** Some entries of every feed, in turn a first and a last address. */
  function sample(): Point[] {
    return [...byFeed.values()].flatMap((claims) =>
      Array.from({ length: perFeed }, (_, i) => {
        const claim = claims[Math.floor(random() * claims.length)]!
        return i % 2 === 0 ? claim.first : claim.last
      }),
    )
  }

  it('name the feeds that list an address, and count what is listed around it', () => {
    let compared = 0
    const differences: string[] = []
    for (const point of sample()) {
      const insights = insightsOf(point)
      if (insights === undefined || insights.neighborhood.length === 0) continue
      compared++
      const here = touching({ first: point, last: point })
      const expected = new Set(here.map(({ said }) => said.split(' ').slice(0, 3).join(' ')))
      const found = new Set(
        insights.evidence
          .filter(({ match }) => match !== 'as')
          .map(({ feed, kind, match }) => `${feed} ${kind} ${match}`),
      )
      const [narrow, site] = insights.neighborhood
      const told = [[...found].toSorted(), listedIn(narrow!), listedIn(site!)]
      const counted = [
        [...expected].toSorted(),
        countsOf(spanOf(narrow!.scope)),
        countsOf(spanOf(site!.scope)),
      ]
      if (JSON.stringify(told) !== JSON.stringify(counted)) {
        differences.push(`${textOf(point)} ${JSON.stringify(told)} not ${JSON.stringify(counted)}`)
      }
    }
    process.stdout.write(`insights: ${compared} addresses compared with the feeds\n`)
    expect(differences.slice(0, 5)).toEqual([])
    expect(compared).toBeGreaterThan(300)
  })

  it('give each voice the weight, licence and confidence of its feed, and points that add up', () => {
    const differences: string[] = []
    let compared = 0
    for (const point of sample()) {
      const answer = answerWithInsights({ ...table, builtMs: 0 }, textOf(point))
      for (const { feed, weight, licence, confidence, match } of answer?.insights?.evidence ?? []) {
        const definition = definitions.get(feed)
        // What is built in has no file of its own.
        if (definition === undefined) continue
        compared++
        const alone = match === 'as' ? 'low' : confidences[definition.assurance]
        const told = [weight, licence, confidence]
        if (told.join() !== [definition.weight, definition.licence, alone].join()) {
          differences.push(`${textOf(point)} ${feed} ${told.join()}`)
        }
      }
      const points = (answer?.insights?.reasons ?? []).reduce((sum, one) => sum + one.points, 0)
      const [low = 0, high = 100] = answer?.insights?.score_range ?? []
      const score = answer?.risk_score ?? 0
      if (points !== score || low > score || high < score) {
        differences.push(`${textOf(point)} ${points} of ${score}, ${low} to ${high}`)
      }
    }
    expect(differences.slice(0, 5)).toEqual([])
    expect(compared).toBeGreaterThan(300)
  })

  it('count small ASes as their addresses do', () => {
    const rows = asRows(4)
    const byAsn = new Map<number, AsRow[]>()
    for (const row of rows) byAsn.set(row.asn, [...(byAsn.get(row.asn) ?? []), row])
    const sizeOf = (own: readonly AsRow[]): number =>
      own.reduce((sum, { first, last }) => sum + Number(last) - Number(first) + 1, 0)
    const small = [...byAsn.values()].filter((own) => sizeOf(own) <= asAddressesMax)
    let compared = 0
    for (let i = 0; i < small.length && compared < smallAses; i += 97) {
      const own = small[i]!
      const asn = own[0]!.asn
      const near = [...new Set(own.flatMap(sitesOf).flatMap(touching))].filter(
        (claim) => !isNear(claim),
      )
      // Most have nothing that is listed, and say nothing here.
      if (near.length === 0) continue
      const points = [...new Set(own.flatMap(addressesOf))].toSorted((a, b) => a - b)
      const around = rows.filter((row) => own.some((one) => overlaps(one, row)))
      const asns = asnsOf(points, around)
      const mine = points.filter((_, at) => asns[at] === asn)
      const counts = new Map<string, number>()
      for (const point of mine) {
        const here = near.filter(({ first, last }) => first <= point && point <= last)
        for (const kind of new Set(here.map(kindOf))) counts.set(kind, (counts.get(kind) ?? 0) + 1)
      }
      const scope = insightsOf(mine[0] ?? 0)?.neighborhood.find((one) => one.scope === `AS${asn}`)
      if (counts.size === 0 || scope === undefined) continue
      expect([asn, scope.size, listedIn(scope)]).toEqual([asn, mine.length, byKind([...counts])])
      compared++
    }
    expect(compared).toBe(smallAses)
  })
})

/** In one order, so that two can be compared as text. */
function byKind(counts: readonly (readonly [string, number])[]): Record<string, number> {
  return Object.fromEntries(counts.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** What of a span of IPv4 lies in each site. */
function sitesOf({ first, last }: Span): Span[] {
  const [from, to] = [Number(first), Number(last)]
  const size = 2 ** Number(siteBits[4])
  const parts: Span[] = []
  for (let at = from; at <= to; at = (Math.floor(at / size) + 1) * size) {
    parts.push({ first: at, last: Math.min(to, (Math.floor(at / size) + 1) * size - 1) })
  }
  return parts
}

function addressesOf({ first, last }: Span): number[] {
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => Number(first) + at)
}
