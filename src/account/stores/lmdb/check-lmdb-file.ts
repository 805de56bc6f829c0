// Checks an LMDB data file before lmdb maps it: lmdb's native part kills the process on a damaged
// page. Reads every page that a tree reaches, 3 ms per megabyte. Does not find damage inside a key
// or a value, which lmdb survives.
//
//   a page                               byte   a node                                   byte
//     its own number                     0        leaf: bytes of the value               0
//     transaction that wrote it          8        branch: number of the child, 48 bits   0
//     kind: 1 branch, 2 leaf, 4 long     18       flags: 1 long value, 2 a tree          4
//     ends of offsets and of free space  20, 22   bytes of the key, then the key         6
//     offsets of nodes, from byte 24 on  24
//   a meta page, twice: pages 0 and 1
//     magic 0xbeefc0de, data version 2   24, 28
//     page size                          48
//     trees: free pages, all others      48, 96     (depth at 6, root at 40; all ones: empty)
//     last page, transaction             144, 152   (the higher transaction is current)
//   a value in the tree of free pages: how many numbers follow; then 0, a page, or -n and the first
//   of n pages
//
// The layout is that of lmdb 3.5 (little-endian); a test opens real files. Concurrent writers never
// change a page of the current transaction.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const metaBytes = 160
const magic = 0xbeefc0de
const dataVersion = 2
const headBytes = 24
const treeBytes = 48
const nodeHeadBytes = 8
const kinds = { branch: 1, leaf: 2, long: 4 } as const
const nodeFlags = { plain: 0, long: 1, tree: 2 } as const
const noPage = 0xffff_ffff_ffff_ffffn
/** LMDB's CURSOR_STACK. */
const depthMax = 32
/** After these another process is writing: the file is in use, not damaged. */
const readsMax = 5

type Meta = ReturnType<typeof readMeta>

type OnLeaf = (page: Buffer, flags: number, at: number, bytes: number) => void

class Damage extends Error {}

const fail = (what: string): never => {
  throw new Damage(what)
}

/** `undefined` if lmdb may open it. */
export function checkLmdbFile(path: string): string | undefined {
  const file = openSync(path, 'r')
  try {
    for (let reads = 0; reads < readsMax; reads += 1) {
      // A process that creates the store makes the file before its pages.
      if (fstatSync(file).size === 0) return undefined
      const meta = damageOf(() => readMeta(file))
      const damage = typeof meta === 'string' ? meta : damageOf(() => checkPages(file, meta))
      if (typeof damage !== 'string') return undefined
      // A meta page may have been half written.
      const again = damageOf(() => readMeta(file))
      if (typeof meta === 'string' ? again === meta : isSame(again, meta)) return damage
    }
    return undefined
  } finally {
    closeSync(file)
  }
}

function damageOf<T>(read: () => T): T | string {
  try {
    return read()
  } catch (error) {
    if (error instanceof Damage) return error.message
    throw error
  }
}

const isSame = (again: Meta | string, { bytes }: Meta): boolean =>
  typeof again !== 'string' && again.bytes.equals(bytes)

const readAt = (file: number, into: Buffer, offset: number): Buffer =>
  into.subarray(0, readSync(file, into, 0, into.length, offset))

function readMetaPage(file: number, offset: number, name: string): Buffer {
  const page = readAt(file, Buffer.alloc(metaBytes), offset)
  if (page.length < metaBytes) fail(`it ends inside its ${name} page`)
  if (page.readUInt32LE(24) !== magic) fail(`its ${name} page is not LMDB's`)
  const version = page.readUInt32LE(28)
  if (version !== dataVersion) fail(`its LMDB version is ${version}, not ${dataVersion}`)
  return page
}

function readMeta(file: number) {
  const first = readMetaPage(file, 0, 'first')
  const second = readMetaPage(file, first.readUInt32LE(48), 'second')
  const isFirst = first.readBigUInt64LE(152) >= second.readBigUInt64LE(152)
  const current = isFirst ? first : second
  const pageBytes = current.readUInt32LE(48)
  const isPower = (pageBytes & (pageBytes - 1)) === 0
  if (!isPower || pageBytes < 512 || pageBytes > 65_536 || pageBytes !== first.readUInt32LE(48)) {
    fail(`its meta pages state a page size of ${pageBytes} bytes`)
  }
  return {
    /** To detect changes by another process. */
    bytes: Buffer.concat([first, second]),
    pageBytes,
    trees: [readTree(current, 48), readTree(current, 96)] as const,
    lastPage: Number(current.readBigUInt64LE(144)),
    transaction: Number(current.readBigUInt64LE(152)),
  }
}

/** `root` is -1 for an empty tree. */
function readTree(bytes: Buffer, at: number) {
  const root = bytes.readBigUInt64LE(at + 40)
  const depth = bytes.readUInt16LE(at + 6)
  if (depth > depthMax || (depth === 0) !== (root === noPage)) fail(`a tree is ${depth} deep`)
  return { depth, root: root === noPage ? -1 : Number(root) }
}

function newWalk(file: number, { pageBytes, lastPage, transaction }: Meta) {
  const pages = Math.floor(fstatSync(file).size / pageBytes)
  /** 1 for pages in use. */
  const taken = new Uint8Array(pages)
  const buffers = Array.from({ length: depthMax }, () => Buffer.alloc(pageBytes))
  const ends = new Uint32Array(pageBytes / 2)
  let beyond = 0

  const take = (page: number, isFree = false): void => {
    if (!(page > 1 && page <= lastPage)) fail(`it refers to page ${page} of ${lastPage}`)
    // Free pages at the end may be missing.
    if (page >= pages && !isFree) {
      fail(`it is cut off: it has ${pages} pages and needs page ${page}`)
    }
    if (taken[page] === 1) fail(`page ${page} is in two places`)
    if (page < pages) taken[page] = 1
    else beyond += 1
  }
  const readPage = (page: number, kind: number, into: Buffer): Buffer => {
    take(page)
    const bytes = readAt(file, into, page * pageBytes)
    const isOwn = bytes.readUIntLE(0, 6) === page && bytes.readUInt16LE(18) === kind
    if (!isOwn || bytes.readUIntLE(8, 6) > transaction) fail(`page ${page} is overwritten`)
    return bytes
  }
  /** The node has only the first page of a long value. */
  const takeLong = (node: Buffer, at: number, bytes: number): void => {
    const first = Number(node.readBigUInt64LE(at))
    const count = Math.floor((headBytes - 1 + bytes) / pageBytes) + 1
    const held = readPage(first, kinds.long, Buffer.alloc(headBytes)).readUInt32LE(20)
    const noted = Number(node.readBigUInt64LE(at + 16))
    // A value rewritten shorter in its first transaction keeps its pages.
    if (held < count || noted < count || noted > held) {
      fail(`the long value on page ${first} has a different length`)
    }
    for (let page = first + 1; page < first + held; page += 1) take(page)
  }
  const visit = (page: number, depth: number, onLeaf: OnLeaf): void => {
    if (depth < 1) return
    const isLeaf = depth === 1
    const bytes = readPage(page, isLeaf ? kinds.leaf : kinds.branch, buffers[depth - 1]!)
    checkNodes(bytes, page, isLeaf, ends)
    const offsetsEnd = headBytes + bytes.readUInt16LE(20)
    for (let offset = headBytes; offset < offsetsEnd; offset += 2) {
      const at = headBytes + bytes.readUInt16LE(offset)
      if (!isLeaf) visit(bytes.readUIntLE(at, 6), depth - 1, onLeaf)
      else {
        const value = at + nodeHeadBytes + bytes.readUInt16LE(at + 6)
        onLeaf(bytes, bytes.readUInt16LE(at + 4), value, bytes.readUInt32LE(at))
      }
    }
  }
  const checkEnd = (): void => {
    if (lastPage >= pages + beyond) fail(`it has ${pages} pages, and its last one is ${lastPage}`)
  }
  return { take, takeLong, visit, checkEnd }
}

function checkPages(file: number, meta: Meta): void {
  const { pageBytes, trees } = meta
  const [free, main] = trees
  const { take, takeLong, visit, checkEnd } = newWalk(file, meta)
  const onValue: OnLeaf = (page, flags, at, bytes) => {
    if (flags === nodeFlags.long) takeLong(page, at, bytes)
    else if (flags !== nodeFlags.plain) fail(`a value has the flags ${flags}`)
  }
  const freeLists: Buffer[] = []
  const subtrees: ReturnType<typeof readTree>[] = []
  visit(free.root, free.depth, (page, flags, at, bytes) => {
    onValue(page, flags, at, bytes)
    const list = Buffer.alloc(bytes)
    if (flags === nodeFlags.plain) page.copy(list, 0, at, at + bytes)
    else readAt(file, list, Number(page.readBigUInt64LE(at)) * pageBytes + headBytes)
    freeLists.push(list)
  })
  visit(main.root, main.depth, (page, flags, at, bytes) => {
    if (flags !== nodeFlags.tree) onValue(page, flags, at, bytes)
    else if (bytes !== treeBytes) fail('the entry of a tree has a different length')
    else subtrees.push(readTree(page, at))
  })
  for (const { root, depth } of subtrees) visit(root, depth, onValue)
  for (const list of freeLists) takeFree(list, (page) => take(page, true))
  checkEnd()
}

/** Checks that a page's nodes are contiguous. `ends` has a zero per half of the page. */
function checkNodes(page: Buffer, number: number, isLeaf: boolean, ends: Uint32Array): void {
  const lower = page.readUInt16LE(20)
  const upper = page.readUInt16LE(22)
  const room = page.length - headBytes
  const isDamaged = (): never => fail(`page ${number} is damaged`)
  if (lower < 2 || lower % 2 !== 0 || lower > upper || upper > room) isDamaged()
  for (let at = headBytes; at < headBytes + lower; at += 2) {
    const start = page.readUInt16LE(at)
    if (start < upper || start % 2 !== 0 || start + nodeHeadBytes > room) isDamaged()
    const place = headBytes + start
    const keyBytes = page.readUInt16LE(place + 6)
    const isLong = page.readUInt16LE(place + 4) === nodeFlags.long
    const valueBytes = !isLeaf ? 0 : isLong ? headBytes : page.readUInt32LE(place)
    const bytes = nodeHeadBytes + keyBytes + valueBytes
    ends[start / 2] = start + bytes + (bytes % 2)
    // The first key of a branch is empty.
    if (keyBytes === 0 && (isLeaf || at > headBytes)) isDamaged()
  }
  let next = upper
  for (let seen = 0; seen < lower / 2; seen += 1) {
    const end = ends[next / 2] ?? 0
    ends[next / 2] = 0
    next = end === 0 ? isDamaged() : end
  }
  if (next !== room) isDamaged()
}

function takeFree(list: Buffer, take: (page: number) => void): void {
  const count = list.length < 8 ? -1 : Number(list.readBigInt64LE(0))
  if (count < 0 || (count + 1) * 8 > list.length) fail('a list of free pages is damaged')
  for (let at = 8; at < (count + 1) * 8; at += 8) {
    const entry = Number(list.readBigInt64LE(at))
    if (entry === 0) continue
    if (entry > 0) take(entry)
    else {
      at += 8
      const first = at < list.length ? Number(list.readBigInt64LE(at)) : -1
      if (-entry > 2 ** 32) fail('a list of free pages is damaged')
      for (let page = first; page < first - entry; page += 1) take(page)
    }
  }
}
