// Writes small MMDB files for tests, slowly and obviously: one node object a node, one pass to
// number them, one to write them. It can also write what no honest writer would: aliases, odd
// metadata, raw bytes in place of data records. Not for large files.

import ipaddr from 'ipaddr.js'

/** A value to encode. Whole numbers become uint32, others double; `raw` bytes go in as they are. */
export type Value =
  | string
  | number
  | bigint
  | boolean
  | readonly Value[]
  | { readonly raw: Uint8Array }
  | { readonly float: number }
  | { readonly [member: string]: Value }

export interface MmdbSpec {
  readonly ipVersion: 4 | 6
  readonly recordBits: 24 | 28 | 32
  /** Prefix (`1.2.3.0/24`, `2001:db8::/32`) and the record there; longer prefixes win. */
  readonly entries: readonly (readonly [prefix: string, record: Value])[]
  /** Prefixes that lead to the node where IPv4 begins, as MaxMind's writer makes them. */
  readonly aliases?: readonly string[]
  /** Members of the metadata that differ from the sound ones. */
  readonly metadata?: Readonly<Record<string, Value>>
  /** What each pair of records of the tree becomes; the default writes them as they are. */
  readonly bend?: (
    records: readonly (readonly [number, number])[],
  ) => readonly (readonly [number, number])[]
}

type Leaf = { readonly record: Value | undefined }
type Node = { left: Node | Leaf; right: Node | Leaf }

const isNode = (place: Node | Leaf): place is Node => 'left' in place

export function writeMmdb(spec: MmdbSpec): Buffer {
  const root = plantTree(spec)
  const nodes = numberNodes(root)
  const { data, offsetOf } = encodeRecords(spec.entries.map(([, record]) => record))
  const recordOf = (place: Node | Leaf): number => {
    if (isNode(place)) return nodes.get(place) ?? fail('a node without a number')
    return place.record === undefined
      ? nodes.size
      : nodes.size + 16 + (offsetOf.get(place.record) ?? fail('a record without an offset'))
  }
  const records = [...nodes.keys()].map((node): [number, number] => [
    recordOf(node.left),
    recordOf(node.right),
  ])
  const bent = spec.bend?.(records) ?? records
  const metadata = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_780_000_000n,
    database_type: 'test',
    description: { en: 'a test' },
    ip_version: spec.ipVersion,
    languages: ['en'],
    node_count: nodes.size,
    record_size: spec.recordBits,
    ...spec.metadata,
  }
  return Buffer.concat([
    ...bent.map((pair) => packNode(pair, spec.recordBits)),
    Buffer.alloc(16),
    data,
    Buffer.from('abcdef4d61784d696e642e636f6d', 'hex'),
    encode(metadata),
  ])
}

function plantTree(spec: MmdbSpec): Node {
  const root: Node = { left: { record: undefined }, right: { record: undefined } }
  const bitsOf = (prefix: string): number[] => {
    const [address, length] = ipaddr.parseCIDR(prefix)
    const bits = address
      .toByteArray()
      .flatMap((byte) => byteBits(byte))
      .slice(0, length)
    const isEmbedded = spec.ipVersion === 6 && address.kind() === 'ipv4'
    return isEmbedded ? [...Array.from({ length: 96 }, () => 0), ...bits] : bits
  }
  const byLength = spec.entries.map(([prefix, record]) => ({ bits: bitsOf(prefix), record }))
  byLength.sort((a, b) => a.bits.length - b.bits.length)
  for (const { bits, record } of byLength) plant(root, bits, { record })
  for (const alias of spec.aliases ?? []) plant(root, bitsOf(alias), ipv4Root(root))
  return root
}

function ipv4Root(root: Node): Node {
  let node = root
  for (let depth = 0; depth < 96; depth++) {
    node = isNode(node.left) ? node.left : fail('no IPv4 in this tree to make an alias of')
  }
  return node
}

function plant(root: Node, bits: readonly number[], what: Node | Leaf): void {
  let node = root
  for (const [index, bit] of bits.entries()) {
    const side = bit === 0 ? 'left' : 'right'
    if (index === bits.length - 1) {
      node[side] = what
      return
    }
    const next = node[side]
    // A shorter prefix covers this one: both halves of its new node go on saying what it said.
    node = isNode(next) ? next : (node[side] = { left: next, right: next })
  }
}

/** Numbers in breadth-first order, each node once however many records lead to it. */
function numberNodes(root: Node): ReadonlyMap<Node, number> {
  const numbers = new Map<Node, number>([[root, 0]])
  for (const node of numbers.keys()) {
    for (const child of [node.left, node.right]) {
      if (isNode(child) && !numbers.has(child)) numbers.set(child, numbers.size)
    }
  }
  return numbers
}

/** One node's bytes. */
export function packNode([left, right]: readonly [number, number], bits: 24 | 28 | 32): Buffer {
  // As one big number: left, then right. 28 bits put the left's high half-byte in the middle.
  const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')
  if (bits !== 28) return Buffer.from(hex(left, bits / 4) + hex(right, bits / 4), 'hex')
  const l = hex(left, 7)
  const r = hex(right, 7)
  return Buffer.from(l.slice(1) + l.slice(0, 1) + r.slice(0, 1) + r.slice(1), 'hex')
}

function encodeRecords(records: readonly Value[]): {
  readonly data: Buffer
  readonly offsetOf: ReadonlyMap<Value, number>
} {
  const chunks: Buffer[] = []
  const offsetOf = new Map<Value, number>()
  const shared = new Map<string, number>()
  let offset = 0
  for (const record of records) {
    if (offsetOf.has(record)) continue
    offsetOf.set(record, offset)
    const chunk = encode(record, { shared, offset })
    chunks.push(chunk)
    offset += chunk.length
  }
  return { data: Buffer.concat(chunks), offsetOf }
}

interface Sharing {
  /** Where strings that were written before lie; the second time a pointer is written. */
  readonly shared: Map<string, number>
  /** Where in the section this value will lie. */
  readonly offset: number
}

export function encode(value: Value, sharing?: Sharing): Buffer {
  if (typeof value === 'string') return encodeString(value, sharing)
  if (typeof value === 'boolean') return header(14, value ? 1 : 0)
  if (typeof value === 'bigint') return withHeader(9, trimmed(value))
  if (typeof value === 'number') {
    if (Number.isInteger(value) && value >= 0) return withHeader(6, trimmed(BigInt(value)))
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleBE(value)
    return withHeader(3, bytes)
  }
  if (Array.isArray(value)) return encodeAll(header(11, value.length), value as Value[], sharing)
  if ('raw' in value && value.raw instanceof Uint8Array) return Buffer.from(value.raw)
  if ('float' in value && typeof value.float === 'number') {
    const bytes = Buffer.alloc(4)
    bytes.writeFloatBE(value.float)
    return withHeader(15, bytes)
  }
  const members = Object.entries(value as Readonly<Record<string, Value>>)
  return encodeAll(header(7, members.length), members.flat(), sharing)
}

function encodeAll(head: Buffer, values: readonly Value[], sharing: Sharing | undefined): Buffer {
  let all = head
  for (const value of values) {
    const at = sharing && { shared: sharing.shared, offset: sharing.offset + all.length }
    all = Buffer.concat([all, encode(value, at)])
  }
  return all
}

function encodeString(text: string, sharing: Sharing | undefined): Buffer {
  const known = sharing?.shared.get(text)
  if (known !== undefined) return pointer(known)
  sharing?.shared.set(text, sharing.offset)
  return withHeader(2, Buffer.from(text))
}

/** A pointer to an offset in the data section, in its shortest form. */
export function pointer(target: number): Buffer {
  if (target < 2048) return Buffer.from([0x20 | (target >> 8), target & 0xff])
  if (target < 526_336) {
    const rest = target - 2048
    return Buffer.from([0x28 | (rest >> 16), (rest >> 8) & 0xff, rest & 0xff])
  }
  const wide = Buffer.alloc(5)
  wide[0] = 0x38
  wide.writeUInt32BE(target, 1)
  return wide
}

function withHeader(type: number, payload: Buffer): Buffer {
  return Buffer.concat([header(type, payload.length), payload])
}

/** The control byte: type (above 7 in a byte of its own), size (above 28 in one to three more). */
export function header(type: number, size: number): Buffer {
  const [code, more] =
    size < 29
      ? [size, []]
      : size < 285
        ? [29, [size - 29]]
        : size < 65_821
          ? [30, [(size - 285) >> 8, (size - 285) & 0xff]]
          : [31, [(size - 65_821) >> 16, ((size - 65_821) >> 8) & 0xff, (size - 65_821) & 0xff]]
  return Buffer.from(type > 7 ? [code, type - 7, ...more] : [(type << 5) | code, ...more])
}

function trimmed(value: bigint): Buffer {
  const hex = value === 0n ? '' : value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

function byteBits(byte: number): number[] {
  return [7, 6, 5, 4, 3, 2, 1, 0].map((shift) => (byte >> shift) & 1)
}

function fail(message: string): never {
  throw new Error(message)
}
