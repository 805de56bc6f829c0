// The answer under test: what the table says of an address, in the oracle's own words. The one
// place where the oracle touches src/.

import { newAddressWords } from '../../src/ip/address.ts'
import type { Location } from '../../src/api/check-answer.ts'
import type { Network } from '../../src/model/network.ts'
import { readEvidenceList } from '../../src/table/file/evidence-record.ts'
import { type Located, locate, newLocated } from '../../src/table/lookup/locate.ts'
import { openLocations } from '../../src/table/file/location-record.ts'
import { networkEvidenceList, readNetwork } from '../../src/table/file/network-record.ts'
import { ipv4StartList } from '../table/piece-lists.ts'
import type { OpenTable } from '../../src/table/open-table.ts'
import { type Point, wordsOf } from './address.ts'

export interface Found {
  readonly bogon: boolean
  readonly network: Network | undefined
  readonly place: Location | undefined
  /** Sorted statements, `feed kind match lists provider`, one a line. */
  readonly evidence: string
}

/** A part of the IPv4 space that one network announces, or nobody. */
export interface Announced {
  readonly first: number
  readonly last: number
  readonly network: Network | undefined
}

export interface Subject {
  readonly find: (point: Point) => Found
  readonly networkAt: (point: Point) => Network | undefined
  /** The whole IPv4 space in order, cut where the network changes. */
  readonly announced: () => readonly Announced[]
  /** The first address of each IPv4 range that something is said of for what stands around it. */
  readonly nearStarts: () => readonly number[]
  /** Every network of the table with the feeds that call its AS a hoster. */
  readonly networks: () => Iterable<{ readonly network: Network; readonly hosters: string }>
}

/** Feeds whose statements differ in the operator that they name: only there it is compared. */
const namingFeeds = new Set(['hosting-ipcat', 'hosting-jhassine', 'neighbours-vpn'])

/** How a statement is written down on both sides. */
export function statement(said: {
  readonly feed: string
  readonly kind: string
  readonly match: string
  readonly lists: number
  readonly provider: string
}): string {
  const provider = namingFeeds.has(said.feed) ? ` ${said.provider}` : ''
  return `${said.feed} ${said.kind} ${said.match} ${said.lists}${provider}`
}

/** Distinct statements, sorted, one a line. */
export function joined(statements: Iterable<string>): string {
  return [...new Set(statements)].sort().join('\n')
}

export function subjectOf(table: OpenTable): Subject {
  const { views, strings } = table.reader
  const words = newAddressWords()
  const located = newLocated()
  const feedOf = (source: number): string => table.sources[source]?.id ?? ''
  const networks = remembered((id) => readNetwork(views.networks, id, strings))
  const places = remembered(openLocations(views, strings))
  const lists = remembered((id) =>
    joined(
      readEvidenceList(views, id, strings).map((one) =>
        statement({ ...one, feed: feedOf(one.source) }),
      ),
    ),
  )
  const find = (point: Point): Located => {
    wordsOf(point, words)
    locate(views, typeof point === 'number' ? 4 : 6, words, located)
    return located
  }
  /** The same network is the same object. */
  const networkAt = (point: Point): Network | undefined => {
    const { bogon, network } = find(point)
    return bogon || network === 0 ? undefined : networks(network)
  }
  return {
    networkAt,
    announced() {
      const found: Announced[] = []
      for (const first of ipv4StartList(views)) {
        const network = networkAt(first)
        if (found.length > 0 && network === found.at(-1)?.network) continue
        found.push({ first, last: 0, network })
      }
      return found.map((one, at) => ({ ...one, last: (found[at + 1]?.first ?? 2 ** 32) - 1 }))
    },
    nearStarts() {
      const saysNear = remembered((id) => lists(id).includes(' near '))
      const isNear = (first: number): boolean => {
        const { bogon, evidence } = find(first)
        return !bogon && saysNear(evidence)
      }
      return [...ipv4StartList(views)].filter(isNear)
    },
    find(point) {
      const { bogon, network, location, evidence } = find(point)
      if (bogon) return { bogon, network: undefined, place: undefined, evidence: '' }
      return {
        bogon,
        network: network === 0 ? undefined : networks(network),
        place: location === 0 ? undefined : places(location),
        evidence: lists(evidence),
      }
    },
    *networks() {
      const count = views.networks.length / 4
      for (let id = 1; id <= count; id++) {
        const said = readEvidenceList(views, networkEvidenceList(views.networks, id), strings)
        const hosters = joined(said.map(({ source }) => feedOf(source)))
        yield { network: networks(id), hosters }
      }
    },
  }
}

function remembered<T>(read: (id: number) => T): (id: number) => T {
  const known = new Map<number, T>()
  return (id) => {
    let value = known.get(id)
    if (value === undefined) known.set(id, (value = read(id)))
    return value
  }
}
