// Counts the lines of one piece by the table's ids for `iprisk summarize`, so that a piece returns
// few bytes and names are looked up once, at the end. Keeps nothing between pieces, so a piece that
// runs twice counts once.

import type { TimeSpan } from '../config/line-formats.ts'
import type { LogEntry } from './log-line.ts'
import type { Query } from '../table/lookup/query.ts'
import type { Located } from '../table/lookup/locate.ts'
import { classifications } from '../model/kind.ts'
import { formatAddress } from '../ip/format-address.ts'
import { type LogRequest, findLogRequest } from './log-request.ts'
import { verdictWords } from '../schema/table-layout.ts'
import type { SectionViews } from '../schema/table-sections.ts'
import { countryOf } from '../table/file/location-record.ts'

/** Alternating id and count. */
export type CountPairs = Uint32Array

export interface LineTally {
  readonly bogons: number
  readonly verdicts: CountPairs
  readonly networks: CountPairs
  readonly countries: CountPairs
  /** One by line with an address: equal for equal addresses, evenly distributed. */
  readonly hashes: Float64Array
  /** Every address and its count. */
  readonly ipv4: CountPairs
  readonly ipv6: readonly (readonly [text: string, count: number])[]
  /** For access logs: counts by path and by status, indexed like `classifications`. */
  readonly paths: readonly ClassCounts[]
  readonly statuses: readonly ClassCounts[]
  /** Keyed by hour `2026-08-22T10` or day, in UTC, if requested. */
  readonly times: readonly ClassCounts[]
}

export type ClassCounts = readonly [key: string, counts: Uint32Array]

export type LineCounter = ReturnType<typeof newLineCounter>

interface V6Count {
  readonly words: Uint32Array
  count: number
}

const decoder = new TextDecoder()
const request: LogRequest = { pathFrom: 0, pathTo: 0, statusFrom: 0, statusTo: 0 }

/** `log`: the lines are of a log; without an `entry` they are read after their addresses. */
export function newLineCounter(
  views: SectionViews,
  linesMax: number,
  log: { readonly by: TimeSpan | undefined } | undefined,
) {
  const ipv4: Counts = new Map()
  const ipv6 = new Map<number, V6Count>()
  const paths: ClassMap = new Map()
  const statuses: ClassMap = new Map()
  const times: ClassMap = new Map()
  const counts = { verdict: newCounts(), network: newCounts(), country: newCounts() }
  const hashes = new Float64Array(linesMax)
  let bogons = 0
  let at = 0
  return {
    add: (query: Query, located: Located, entry?: LogEntry): void => {
      const { words } = query
      const hash = hashOf(words, located)
      hashes[at++] = hash
      if (located.version === 4) increment(ipv4, located.ipv4)
      else addIpv6(ipv6, hash, words)
      if (log !== undefined && entry !== undefined) {
        const index = classOf(views, located)
        if (entry.path !== '') addClass(paths, entry.path, index)
        if (entry.status !== '') addClass(statuses, entry.status, index)
        if (log.by !== undefined) addClass(times, timeText(entry.timeMs, log.by), index)
      } else if (log !== undefined) {
        const { bytes, to } = query
        findLogRequest(bytes, to, request)
        const { pathFrom, pathTo, statusFrom, statusTo } = request
        const index = classOf(views, located)
        if (pathTo > 0) addClass(paths, decoder.decode(bytes.subarray(pathFrom, pathTo)), index)
        if (statusTo > 0) {
          addClass(statuses, decoder.decode(bytes.subarray(statusFrom, statusTo)), index)
        }
      }
      if (located.bogon) bogons += 1
      else increment(counts.verdict, located.verdict)
      increment(counts.network, located.bogon ? 0 : located.network)
      increment(counts.country, located.bogon ? 0 : countryOf(views, located.location))
    },
    tally: (): LineTally => ({
      bogons,
      verdicts: pairsOf(counts.verdict),
      networks: pairsOf(counts.network),
      countries: pairsOf(counts.country),
      hashes: hashes.slice(0, at),
      ipv4: pairsOf(ipv4),
      ipv6: [...ipv6.values()].map(({ words, count }) => [formatAddress(6, words), count] as const),
      paths: [...paths],
      statuses: [...statuses],
      times: [...times],
    }),
  }
}

const timeText = (ms: number, by: TimeSpan): string =>
  new Date(ms).toISOString().slice(0, by === 'hour' ? 'YYYY-MM-DDTHH'.length : 'YYYY-MM-DD'.length)

function addIpv6(counts: Map<number, V6Count>, hash: number, words: Uint32Array): void {
  const known = counts.get(hash)
  if (known === undefined) counts.set(hash, { words: words.slice(), count: 1 })
  else known.count += 1
}

type ClassMap = Map<string, Uint32Array>

function addClass(map: ClassMap, key: string, index: number): void {
  let counts = map.get(key)
  if (counts === undefined) {
    counts = new Uint32Array(classifications.length)
    map.set(key, counts)
  }
  counts[index]! += 1
}

/** Index in `classifications`, from the verdict's first word (verdict-record.ts). */
const classOf = ({ verdicts }: SectionViews, { bogon, verdict }: Located): number =>
  bogon ? 0 : verdicts[verdict * verdictWords]! & 15

type Counts = Map<number, number>

const newCounts = (): Counts => new Map()

function increment(counts: Counts, number: number): void {
  counts.set(number, (counts.get(number) ?? 0) + 1)
}

function pairsOf(counts: Counts): CountPairs {
  const pairs = new Uint32Array(counts.size * 2)
  let at = 0
  for (const [number, count] of counts) {
    pairs[at++] = number
    pairs[at++] = count
  }
  return pairs
}

/**
 * 53 bits. IPv4 in any notation hashes as the IPv4 address, by a bijection, so IPv4 never collides;
 * two of a billion IPv6 addresses may.
 */
function hashOf(words: Uint32Array, { version, ipv4 }: Located): number {
  if (version === 4) return murmurFinalizer(ipv4) * 0x20_0000
  const low = murmurFinalizer(
    words[0]! ^
      murmurFinalizer(
        words[1]! ^ murmurFinalizer(words[2]! ^ murmurFinalizer(words[3]! ^ 0x9e37_79b9)),
      ),
  )
  const high = murmurFinalizer(
    words[3]! ^
      murmurFinalizer(
        words[2]! ^ murmurFinalizer(words[1]! ^ murmurFinalizer(words[0]! ^ 0x85eb_ca6b)),
      ),
  )
  return low * 0x20_0000 + (high >>> 11)
}

function murmurFinalizer(value: number): number {
  let bits = value ^ (value >>> 16)
  bits = Math.imul(bits, 0x85eb_ca6b)
  bits ^= bits >>> 13
  bits = Math.imul(bits, 0xc2b2_ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
