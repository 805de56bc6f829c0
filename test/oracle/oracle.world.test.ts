// The oracle: an independent recomputation of network, place and evidence from the raw inputs,
// which shares no code with build/ (nor with src/, but for opening the table and reading the answer
// under test). Each input is read in the plainest way and passed over once beside the sorted
// addresses.
//
// Asked: random addresses, the edges of a sample of AS rows and place networks, and both ends of
// every entry of every feed, each with its neighbours, and every IPv4 range of the table that
// something is said of for what stands around it; far more than the 200,000 that are required.

import { beforeAll, expect, it } from 'vitest'
import type { Network } from '../../src/model/network.ts'
import { openTable } from '../../src/table/open-table.ts'
import { describeFeeds } from '../feeds.ts'
import { worldTable } from '../world/world-tables.ts'
import { type Point, overlaps, textOf } from './address.ts'
import { type Spelling, placeDifference, spellingOf, spellingsOf } from './compare.ts'
import { claimsOf, newEvidence, resolvers } from './evidence.ts'
import { hosterLists, plainFeeds } from './feeds.ts'
import { withoutFormerOwners } from './former-owners.ts'
import { neighbourClaims } from './neighbours.ts'
import { edgesOf, newRandom, randomIn, sortedOnce } from './sample.ts'
import { type Found, type Subject, joined, subjectOf } from './table.ts'
import { type AsRow, type PlaceFile, asRows, asnsOf, bogonsOf, placeFile } from './world.ts'

const differencesShown = 20
/** Random addresses a family; every so manyth AS row; every so manyth random address's place. */
const randomCount = { 4: 100_000, 6: 40_000 } as const
const rowStride = 10
const placeStride = 4

describeFeeds('the oracle', () => {
  let subject: Subject
  let claims: Claims
  let rows: Readonly<Record<4 | 6, readonly AsRow[]>>
  const unread: string[] = []

  beforeAll(async () => {
    subject = subjectOf(openTable(await worldTable()))
    rows = { 4: asRows(4), 6: asRows(6) }
    const inAccess = (point: Point): boolean => subject.find(point).network?.access === true
    const read = new Map(plainFeeds.map((feed) => [feed.id, claimsOf(feed, inAccess, unread)]))
    const listed = withoutFormerOwners(read, subject.announced())
    claims = new Map([...listed, ...neighbourClaims(listed, subject)])
  })

  it('reads all 111 feeds of evidence, whole', () => {
    const asFeeds = ['asn-bgptools', 'asn-bgptools-tags', 'asn-peeringdb-classes']
    const lists = [...hosterLists().keys()].filter((id) => id.startsWith('hosting-'))
    const ids = [...claims.keys(), ...lists, ...asFeeds].filter(
      (id) => !/^(?:table|neighbours|inferred)-/.test(id),
    )
    expect(new Set(ids).size).toBe(111)
    expect([...claims].filter(([, found]) => found.length === 0)).toEqual([])
    expect(unread).toEqual([])
    // Customers' lines: the one rule that changes what an entry covers is exercised.
    const lines = [...claims.values()].flat().filter(({ first, last }) => isLine(first, last))
    expect(lines.length).toBeGreaterThan(10)
  })

  for (const family of [4, 6] as const) {
    it(`agrees on IPv${family}: network, place, evidence`, () => {
      const places = placeFile(family)
      const queries = queriesOf({ family, rows: rows[family], places, claims, subject })
      const expected = expectationsOf({ queries, family, rows: rows[family], claims })
      const differences = new Map<string, number>()
      let shown = ''
      let compared = 0
      for (const [index, query] of queries.entries()) {
        if (isEmbedding(query)) continue
        compared++
        const got = subject.find(query)
        const difference = differenceOf({
          got,
          expected,
          index,
          query,
          place: () => places.place(query),
        })
        if (difference === undefined) continue
        const part = difference.split(':', 1)[0] ?? ''
        const count = (differences.get(part) ?? 0) + 1
        differences.set(part, count)
        if (count <= differencesShown) shown += `${textOf(query)} ${difference}\n`
      }
      process.stdout.write(
        `oracle: ${compared.toLocaleString('en-US')} IPv${family} addresses compared, ` +
          `differences: ${JSON.stringify(Object.fromEntries(differences))}\n${shown}`,
      )
      expect(Object.fromEntries(differences)).toEqual({})
      expect(compared).toBeGreaterThan(200_000)
    })
  }

  it('agrees on the organizations of all networks', () => {
    const written = spellingsOf([...rows[4], ...rows[6]])
    const counts: Record<Spelling, number> = { 'as written': 0, mended: 0, completed: 0, wrong: 0 }
    const wrong: string[] = []
    for (const { network } of subject.networks()) {
      const spellings = written.get(network.asn) ?? new Set()
      const spelling = spellingOf(network, spellings)
      counts[spelling]++
      if (spelling === 'wrong') {
        wrong.push(`AS${network.asn}: "${network.organization}", not ${[...spellings].join(' | ')}`)
      }
    }
    process.stdout.write(`oracle: organizations ${JSON.stringify(counts)}\n`)
    expect(wrong.slice(0, differencesShown)).toEqual([])
    expect(counts['as written']).toBeGreaterThan(50_000)
  })

  it('agrees on who calls an AS a hoster', () => {
    // Which ASes may be hosters at all is a judgement (build/networks); whose word it is, is not.
    // A prefix with traits of its own lies in an AS that was judged by itself, before it.
    const lists = [...hosterLists()]
    const lone = ['asn-bgptools', 'asn-bgptools-tags', 'network-names']
    const judged = new Map<number, Network>()
    const wrong: string[] = []
    let hosters = 0
    for (const { network, hosters: got } of subject.networks()) {
      const ofAs = judged.get(network.asn) ?? network
      judged.set(network.asn, ofAs)
      const voices = lists.filter(([, asns]) => asns.has(network.asn)).map(([id]) => id)
      // An organization's own name is no list; it is a voice only where a list speaks.
      const names = got.split('\n').includes('network-names') ? ['network-names'] : []
      const people = network.access || network.corporate
      const mayBe = ['hosting', 'cdn', 'unknown'].includes(ofAs.type) && !people
      // Where nobody lists it, what made its type hosting speaks: one of these alone.
      const isTyped = ofAs.type === 'hosting' || got === 'network-names'
      const isLone = voices.length === 0 && isTyped && lone.includes(got)
      const alone = isLone ? [got] : []
      const expected = joined(mayBe ? (voices.length > 0 ? [...voices, ...names] : alone) : [])
      if (expected !== '') hosters++
      if (got !== expected) wrong.push(`AS${network.asn} ${network.type}: ${expected} / ${got}`)
    }
    process.stdout.write(`oracle: ${hosters} networks that somebody calls a hoster\n`)
    expect(wrong.slice(0, differencesShown)).toEqual([])
    expect(hosters).toBeGreaterThan(2000)
  })
})

/** Exact, yet a whole /64. */
function isLine(first: Point, last: Point): boolean {
  return typeof first === 'bigint' && (last as bigint) - first === 0xffff_ffff_ffff_ffffn
}

type Claims = ReadonlyMap<string, ReturnType<typeof claimsOf>>

function queriesOf(input: {
  readonly family: 4 | 6
  readonly rows: readonly AsRow[]
  readonly places: PlaceFile
  readonly claims: Claims
  readonly subject: Subject
}): Point[] {
  const { family, rows, places, claims, subject } = input
  const random = randomIn(rows, randomCount[family], newRandom(family))
  const type = family === 4 ? 'number' : 'bigint'
  const points: Point[] = [...random]
  for (const [index, row] of rows.entries()) {
    if (index % rowStride === 0) points.push(...edgesOf(row))
  }
  for (const [index, point] of random.entries()) {
    if (index % placeStride === 0) points.push(...edgesOf(places.span(point)))
  }
  for (const found of claims.values()) {
    for (const claim of found) {
      if (typeof claim.first === type) points.push(...edgesOf(claim))
    }
  }
  // What is said without a claim that stands for it is asked, too.
  if (family === 4) for (const start of subject.nearStarts()) points.push(start)
  return sortedOnce(points, family)
}

interface Expectations {
  readonly bogons: Uint8Array
  readonly asns: Uint32Array
  readonly evidence: (index: number) => string
}

function expectationsOf(input: {
  readonly queries: readonly Point[]
  readonly family: 4 | 6
  readonly rows: readonly AsRow[]
  readonly claims: Claims
}): Expectations {
  const { queries, family, rows, claims } = input
  const type = family === 4 ? 'number' : 'bigint'
  const evidence = newEvidence(queries)
  for (const found of claims.values()) {
    evidence.add(found.filter(({ first }) => typeof first === type))
  }
  return { bogons: bogonsOf(queries, family), asns: asnsOf(queries, rows), evidence: evidence.at }
}

function differenceOf(input: {
  readonly got: Found
  readonly expected: Expectations
  readonly index: number
  readonly query: Point
  readonly place: () => Parameters<typeof placeDifference>[0]
}): string | undefined {
  const { got, expected, index, query, place } = input
  const bogon = expected.bogons[index] === 1
  if (bogon !== got.bogon) return `bogon: expected ${bogon}, got ${got.bogon}`
  if (bogon) return undefined
  const asn = expected.asns[index]!
  if (asn !== (got.network?.asn ?? 0)) return `asn: expected ${asn}, got ${got.network?.asn}`
  const evidence = expected.evidence(index)
  if (evidence !== got.evidence) {
    return `evidence: expected [${evidence}], got [${got.evidence}]`.replaceAll('\n', ' | ')
  }
  return placeDifference(place(), got.place, isAnycast(query, evidence))
}

const edgeLists =
  /^hosting-(?:cloudflare|fastly) |^hosting-(?:ipcat|jhassine) .*(?:Cloudflare|Fastly)$/m

/** Resolvers, and the edges of the two content delivery networks that announce one everywhere. */
function isAnycast(query: Point, evidence: string): boolean {
  if (edgeLists.test(evidence)) return true
  return resolvers.some((span) => overlaps(span, { first: query, last: query }))
}

/** IPv6 forms of IPv4 addresses are judged by other rules; embedded.world.test.ts asks them. */
function isEmbedding(point: Point): boolean {
  if (typeof point === 'number') return false
  const top = point >> 96n
  if (top >> 16n === 0x2002n || top === 0x2001_0000n) return true
  return point >> 32n === 0x64_ff9bn << 64n || point >> 32n === 0xffffn
}
