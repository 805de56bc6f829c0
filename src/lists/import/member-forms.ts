// Entries with named members: CSV by its header, JSON by its member names. The names are those of
// the programs and publishers that we know (CrowdSec, DShield, Spamhaus, AWS, abuse.ch, MISP, nft).

import { isJsonObject, parseJson } from '../../base/json-object.ts'
import { splitCsvLine } from '../../base/text/csv.ts'
import {
  commentMark,
  type EntrySink,
  eachContent,
  expiryOf,
  instantFault,
  instantSeconds,
  isEntry,
  noteText,
  type ReadForm,
  type WrittenEntry,
  withLength,
} from './written-entry.ts'

/** Lower case, only letters and digits; the first one present counts. */
const roleNames = {
  address:
    'entry cidr ipcidr ip ipaddress ipaddr address addr prefix ipprefix ipv4prefix ipv6prefix network ' +
    'ipnetwork subnet netblock range iprange ipv4 ipv6 srcip sourceip srcaddr sourceaddress clientip ' +
    'remoteip remoteaddr dstip destinationip dstaddr attackerip host val value indicator ioc',
  first: 'start first startip ipstart startaddress rangestart iprangestart ipfrom firstip from',
  last: 'end last endip ipend endaddress rangeend iprangeend ipto lastip to',
  mask: 'netmask mask prefixlength prefixlen len prefix',
  asn: 'asn asnumber autonomoussystemnumber',
  scope: 'scope',
  action: 'action',
  type: 'type',
  simulated: 'simulated',
  note: 'note comment reason description scenario malware sblid',
  expires: 'expires expiry expiration expiresat until validuntil duration timeout',
} as const
/** Names of an address if they hold one. */
const looseNames = ['src', 'source', 'client', 'dst', 'destination']
type Role = keyof typeof roleNames
type Members = Partial<Record<Role, string>>

const roles = Object.entries(roleNames).map(
  ([role, names]) => [role as Role, names.split(' ')] as const,
)

/** `values` belong to one entry: of `network,prefix` either may be the address. */
function rolesIn(names: readonly string[], values: readonly string[]): ReadonlyMap<Role, number> {
  const plain = names.map((name) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
  const found = new Map<Role, number>()
  for (const [role, known] of roles) {
    const all = role === 'address' ? [...known, ...looseNames] : known
    const places = all.map((one) => plain.indexOf(one))
    const held = places.find((at) => role === 'address' && isEntry(values[at] ?? ''))
    const at = held ?? places.slice(0, known.length).find((one) => one >= 0)
    if (at !== undefined && found.get('address') !== at) found.set(role, at)
  }
  return found
}

const hasAddress = (found: ReadonlyMap<Role, unknown>): boolean =>
  found.has('address') || (found.has('first') && found.has('last')) || found.has('asn')

/** Or why there is none. */
function entryOfMembers(members: Members, now: number): WrittenEntry | string {
  const { first = '', last = '', mask = '', asn = '', expires = '' } = members
  // CrowdSec writes `Ip:192.0.2.1`.
  const [, named, value] =
    /^(ip|range|as|country|username):(.+)$/i.exec(members.address ?? '') ?? []
  const scope = named ?? members.scope
  const ends = last === '' ? first : `${first}-${last}`
  const isSystem = scope?.toLowerCase() === 'as' || (members.address ?? ends) === ''
  const written = value?.trim() ?? (members.address || ends || asn)
  if (scope !== undefined && !/^(?:ip|range|as)$/i.test(scope)) return `its scope is ${scope}`
  const action = scope === undefined ? undefined : (members.action ?? members.type)
  if (action !== undefined && action !== 'ban') return `it is not a ban but ${action}`
  if (members.simulated === 'true') return 'it is simulated'
  const isBare = /^[\d.]+$/.test(mask) && written === members.address && !written.includes('/')
  const text = isBare ? withLength(`${written}/${mask}`) : withLength(written)
  const until = expires === '' ? 0 : expiryOf(expires, now)
  if (until === undefined) return instantFault(expires)
  const isNumber = isSystem && /^\d+$/.test(text)
  return { text: isNumber ? `AS${text}` : text, note: noteText(members.note), expires: until }
}

const delimiters = [',', ';', '\t', '|'] as const

/** Even if the header is a comment, or follows Excel's `sep=;`. */
export function csvByHeader(rows: readonly string[], comment: string) {
  const [, stated] = sepLine.exec(rows[0] ?? '') ?? []
  const header = rows[stated === undefined ? 0 : 1] ?? ''
  for (const delimiter of stated === undefined ? delimiters : [stated]) {
    const cells = splitCsvLine(header, delimiter).values
    const named = splitCsvLine(comment, delimiter).values
    const isComment = named.length > 1 && named.length === cells.length
    for (const names of [...(cells.some(isEntry) ? [] : [cells]), ...(isComment ? [named] : [])]) {
      const next = (stated === undefined ? 0 : 1) + (names === cells ? 1 : 0)
      const columns = rolesIn(names, splitCsvLine(rows[next] ?? '', delimiter).values)
      if (!hasAddress(columns)) continue
      const how = [...columns.values()].map((at) => names[at]).join(', ')
      return { read: csvReader(delimiter, columns, names === cells ? header : ''), how }
    }
  }
  return undefined
}

const headlessDelimiters = [',', '\t', ';', '|'] as const

/** The one column in which half of the first rows are entries, whatever its name, if any. */
export function csvWithoutHeader(rows: readonly string[]) {
  for (const delimiter of headlessDelimiters) {
    const cells = rows
      .map((row) => splitCsvLine(row, delimiter).values)
      .filter((row) => row.length > 1)
    const held = cells.flatMap((row) => row.flatMap((cell, at) => (isEntry(cell) ? [at] : [])))
    const columns = [...new Set(held)].filter(
      (at) => held.filter((one) => one === at).length * 2 >= rows.length,
    )
    const [at, other] = columns
    const [first = []] = cells
    if (at === undefined || other !== undefined) continue
    // A note follows `;`, an expiry time follows a tab.
    const isPlain = at === 0 && !rows.some((row) => row.startsWith('"'))
    if (isPlain && (delimiter === ';' || cells.some((row) => instantSeconds(row[1] ?? ''))))
      continue
    const isHeader = cells.length === rows.length && !isEntry(first[at] ?? '')
    const how = isHeader ? first[at] : `column ${at + 1}`
    return { read: csvReader(delimiter, new Map([['address', at]]), isHeader ? rows[0] : ''), how }
  }
  return undefined
}

const sepLine = /^sep=(.)$/i

function csvReader(delimiter: string, columns: ReadonlyMap<Role, number>, head = ''): ReadForm {
  return (lines, sink, now) =>
    eachContent(lines, (content, line) => {
      if (content === head || sepLine.test(content)) return
      const { values } = splitCsvLine(content, delimiter)
      put(
        membersOf(columns, (at) => values[at]),
        { line, sink, now },
        content,
      )
    })
}

function membersOf(
  found: ReadonlyMap<Role, number>,
  valueAt: (at: number) => string | undefined,
): Members {
  return Object.fromEntries([...found].map(([role, at]) => [role, valueAt(at) ?? '']))
}

interface Place {
  readonly line: number
  readonly sink: EntrySink
  readonly now: number
}

function put(members: Members, { line, sink, now }: Place, written: string): void {
  const entry = entryOfMembers(members, now)
  if (typeof entry === 'string') sink.bad(line, written, entry)
  else sink.entry(line, written, entry)
}

/** Without comments. */
const firstContents = (lines: readonly string[]): readonly string[] =>
  lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !commentMark.test(line))
    .slice(0, 2)

/** JSON lines, or one JSON text of any nesting. */
export function readJson(lines: readonly string[], sink: EntrySink, now: number): void {
  const [first = '', second = ''] = firstContents(lines)
  const isWhole = parseJson(first) === undefined
  const value = isWhole ? parseJson(lines.join('\n')) : undefined
  if (value !== undefined) return walk(value, { line: 0, sink, now })
  // The first of JSON lines may be cut off.
  if (isWhole && !isJsonObject(parseJson(second))) {
    return sink.bad(1, lines[0] ?? '', 'the file is not JSON: its text is truncated or invalid')
  }
  eachContent(lines, (content, line) => {
    const one = parseJson(content)
    if (one !== undefined) walk(one, { line, sink, now })
    else sink.bad(line, content, 'it is not JSON')
  })
}

const depthMax = 32

function walk(value: unknown, place: Place, depth = 0): void {
  const { line, sink } = place
  const written = (): string => (JSON.stringify(value) ?? '').slice(0, 200)
  const text = textOf(value)
  if (text !== undefined) return sink.entry(line, written(), { text })
  if (depth > depthMax) return sink.bad(line, '', `it is nested deeper than ${depthMax} levels`)
  const inner = (one: unknown): void => walk(one, place, depth + 1)
  if (Array.isArray(value)) return value.forEach(inner)
  if (!isJsonObject(value)) return sink.bad(line, written(), 'it is not an object')
  const { nftables, type, elem, decisions } = value
  // For nft only sets of addresses, and for CrowdSec's alerts only their decisions.
  if (Array.isArray(nftables)) return nftables.forEach((one) => setOf(one).forEach(inner))
  if (elem !== undefined && !/^ipv[46]_addr$/.test(textOf(type) ?? 'ipv4_addr')) return
  const holder = elem ?? decisions
  if (isJsonObject(holder) || Array.isArray(holder)) return inner(holder)
  const texts = Object.entries(value).flatMap(([name, one]) => {
    const member = textOf(one)
    return member === undefined ? [] : [[name, member] as const]
  })
  const found = rolesIn(
    texts.map(([name]) => name),
    texts.map(([, member]) => member),
  )
  const nested = Object.entries(value).filter(([, one]) => typeof one === 'object' && one !== null)
  // `{"asn":64496,"prefixes":[…]}` is about its prefixes.
  const isHolder = nested.some(([name]) => holderName.test(name))
  if (hasAddress(found) && !(isHolder && isSystemAlone(found))) {
    const members = membersOf(found, (at) => texts[at]?.[1])
    return put(members, place, written())
  }
  if (type === 'metadata') return
  if (nested.length === 0) return sink.bad(line, written(), 'none of its members is an address')
  // `"networkFeatures":["API"]` beside `"addressPrefixes":[…]`.
  const isBeside = (name: string, one: unknown): boolean =>
    isHolder && !holderName.test(name) && Array.isArray(one) && !one.some((text) => isHeld(text))
  for (const [name, one] of nested)
    if (!/^meta(?:data)?$/i.test(name) && !isBeside(name, one)) inner(one)
}

const isHeld = (value: unknown): boolean => typeof value !== 'string' || isEntry(value)
const holderName = /(?:prefix(?:es)?|subnets?|networks?|ranges|ips|ipv[46]|addresses|entries)$/i

const isSystemAlone = (found: ReadonlyMap<Role, unknown>): boolean =>
  !found.has('address') && !found.has('first')

const setOf = (item: unknown): readonly unknown[] =>
  isJsonObject(item) && isJsonObject(item['set']) && 'elem' in item['set'] ? [item['set']] : []

/** For a scalar, and for nft's ranges and prefixes. */
function textOf(value: unknown): string | undefined {
  if (['string', 'number', 'boolean'].includes(typeof value)) return String(value)
  if (!isJsonObject(value)) return undefined
  const { prefix, range, addr, len } = value
  if (Array.isArray(range) && range.length === 2) return range.join('-')
  if (isJsonObject(prefix)) return textOf(prefix)
  return typeof addr === 'string' && typeof len === 'number' ? `${addr}/${len}` : undefined
}
