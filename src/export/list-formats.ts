// The formats of prefixes alone, of a list URL (contract 6.3) and of exports, each as what reads it
// wants it: how one prefix is written, and what stands around all of them. What a firewall loads goes
// in whole or not at all: `nft -f` is one transaction, ipset swaps sets.

import type { Family } from '../ip/address.ts'
import { addressBits } from '../ip/range.ts'
import type { ExportFile } from './export-file.ts'

export const listFormats = [
  'plain',
  'range',
  'json',
  'f5',
  'checkpoint',
  'mikrotik',
  'nginx',
  'haproxy',
  'nft',
  'ipset',
  'mmdb',
] as const
export type ListFormat = (typeof listFormats)[number]

/** `cidr` and `zeek` are of exports alone. */
export type PrefixFormat = Exclude<ListFormat, 'mmdb'> | 'cidr' | 'zeek'

interface Prefix {
  readonly family: Family
  /** As in records. */
  readonly address: Uint32Array
  /** Of its family: up to 32 or 128. */
  readonly length: number
}

interface FormatRow {
  readonly type: 'text/plain; charset=utf-8' | 'application/json'
  /** IPv6 is left out: what reads it has none. */
  readonly ipv4Only?: true
  readonly head?: (named: Named) => string
  readonly tail?: (named: Named) => string
  /** Between two prefixes. */
  readonly between?: string
  /** What stands around so many prefixes of a family. */
  readonly batch?: {
    readonly prefixes: number
    readonly head: (set: string) => string
    readonly tail: string
  }
  readonly row: (file: ExportFile, prefix: Prefix, named: Named) => void
}

interface Named {
  readonly name: string
  /** The name of the set of a family. */
  readonly setOf: (family: Family) => string
}

const families = [4, 6] as const
const type = 'text/plain; charset=utf-8'

function writePrefix(file: ExportFile, { address, family, length }: Prefix): void {
  file.address(address, family)
  file.text(`/${length}`)
}

const isSingle = ({ family, length }: Prefix): boolean => length === addressBits(family)

/** A single address without its length. */
function writeShort(file: ExportFile, prefix: Prefix): void {
  if (isSingle(prefix)) file.address(prefix.address, prefix.family)
  else writePrefix(file, prefix)
}

const last = new Uint32Array(4)

/** Writes to `out` the last address of a prefix of so many of 128 bits. */
export function lastAddress(address: Uint32Array, bits: number, out: Uint32Array): void {
  address.forEach((word, i) => {
    const own = Math.min(32, Math.max(0, bits - i * 32))
    out[i] = own === 32 ? word : word | (0xffff_ffff >>> own)
  })
}

function writeRange(file: ExportFile, { address, family, length }: Prefix): void {
  lastAddress(address, family === 4 ? length + 96 : length, last)
  file.address(address, family)
  file.text('-')
  file.address(last, family)
}

/** ipset takes names of 31 characters, with `-new` behind them. */
const familySet = (name: string, family: Family): string => `${name.slice(0, 24)}-${family}`

/** New sets are filled beside those in use, then swapped: packets never see half a set. */
function ipsetHead({ setOf }: Named): string {
  return families
    .map((family) => {
      const set = setOf(family)
      // A bound, not a size. Constant, because ipset treats another bound as another set.
      const kind = `hash:net family inet${family === 4 ? '' : '6'} maxelem 67108864`
      // Reuses what an interrupted restore left.
      return `create ${set} ${kind} -exist\ncreate ${set}-new ${kind} -exist\nflush ${set}-new\n`
    })
    .join('')
}

function nftHead({ setOf }: Named): string {
  const sets = families.map((family) => {
    const set = setOf(family)
    const kind = `type ipv${family}_addr; flags interval;`
    return `add set inet iprisk ${set} { ${kind} }\nflush set inet iprisk ${set}\n`
  })
  return `add table inet iprisk\n${sets.join('')}`
}

const formats: Readonly<Record<PrefixFormat, FormatRow>> = {
  plain: {
    type,
    row: (file, prefix) => {
      writeShort(file, prefix)
      file.text('\n')
    },
  },
  range: {
    type,
    row: (file, prefix) => {
      writeRange(file, prefix)
      file.text('\n')
    },
  },
  json: {
    type: 'application/json',
    head: () => '[',
    tail: () => ']\n',
    between: ',\n',
    row: (file, prefix) => {
      file.text('"')
      writePrefix(file, prefix)
      file.text('"')
    },
  },
  // BIG-IP AFM, feed files: address, mask, list, category.
  f5: {
    type,
    row: (file, { address, family, length }, { name }) => {
      file.address(address, family)
      file.text(`,${length},bl,${name}\n`)
    },
  },
  // Threat Prevention, indicator files: IP and IP Range are of IPv4.
  checkpoint: {
    type,
    ipv4Only: true,
    head: () => '# UNIQ-NAME,VALUE,TYPE,CONFIDENCE,SEVERITY,PRODUCT,COMMENT\n',
    row: (file, prefix, { name }) => {
      file.text(`${name}-`)
      file.address(prefix.address, 4)
      file.text(`-${prefix.length},`)
      if (prefix.length === 32) file.address(prefix.address, 4)
      else writeRange(file, prefix)
      file.text(`,IP${prefix.length === 32 ? '' : ' Range'},high,high,AB,iprisk\n`)
    },
  },
  // RouterOS: `/import`; entries end where they are not loaded again.
  mikrotik: {
    type,
    row: (file, prefix, { name }) => {
      file.text(
        `/ip${prefix.family === 4 ? '' : 'v6'} firewall address-list add list=${name} address=`,
      )
      writePrefix(file, prefix)
      file.text(' comment=iprisk timeout=48h;\n')
    },
  },
  // For `include` within a geo block.
  nginx: {
    type,
    row: (file, prefix) => {
      writePrefix(file, prefix)
      file.text(' 1;\n')
    },
  },
  // For `src,map_ip(FILE)`, and `src -f FILE` takes the first word.
  haproxy: {
    type,
    row: (file, prefix, { name }) => {
      writePrefix(file, prefix)
      file.text(` ${name}\n`)
    },
  },
  nft: {
    type,
    head: nftHead,
    between: ', ',
    batch: {
      prefixes: 4000,
      head: (set) => `add element inet iprisk ${set} { `,
      tail: ' }\n',
    },
    row: writePrefix,
  },
  ipset: {
    type,
    head: ipsetHead,
    tail: ({ setOf }) =>
      families
        .map(
          (family) => `swap ${setOf(family)}-new ${setOf(family)}\ndestroy ${setOf(family)}-new\n`,
        )
        .join(''),
    row: (file, prefix, { setOf }) => {
      const add = (own: Prefix): void => {
        file.text(`add ${setOf(own.family)}-new `)
        writePrefix(file, own)
        file.text('\n')
      }
      if (prefix.length > 0) return add(prefix)
      // ipset has no prefix of length 0: two halves instead.
      const { family } = prefix
      add({ ...prefix, length: 1 })
      const address = new Uint32Array(4)
      address[family === 4 ? 3 : 0] = 0x8000_0000
      add({ family, address, length: 1 })
    },
  },
  cidr: {
    type,
    row: (file, prefix) => {
      writePrefix(file, prefix)
      file.text('\n')
    },
  },
  // The intelligence framework.
  zeek: {
    type,
    head: () => '#fields\tindicator\tindicator_type\tmeta.source\n',
    row: (file, prefix, { name }) => {
      writeShort(file, prefix)
      file.text(`\tIntel::${isSingle(prefix) ? 'ADDR' : 'SUBNET'}\t${name}\n`)
    },
  },
}

/** Writes prefixes, IPv4 first, in a format; `end` before the file ends. */
export function openList(
  file: ExportFile,
  format: PrefixFormat,
  { name, setOf = (family) => familySet(name, family) }: Partial<Named> & Pick<Named, 'name'>,
): { readonly add: (prefix: Prefix) => void; readonly end: () => void } {
  const { head, tail, between = '', batch, row } = formats[format]
  const named = { name, setOf }
  let batched: Family | undefined
  let count = 0
  file.text(head?.(named) ?? '')
  const endBatch = (): void => {
    if (batched !== undefined) file.text(batch?.tail ?? '')
    batched = undefined
    count = 0
  }
  return {
    add: (prefix) => {
      const { family } = prefix
      if (batch !== undefined && (family !== batched || count === batch.prefixes)) {
        endBatch()
        file.text(batch.head(setOf(family)))
        batched = family
      }
      if (count > 0) file.text(between)
      count++
      row(file, prefix, named)
    },
    end: () => {
      endBatch()
      file.text(tail?.(named) ?? '')
    },
  }
}

export const typeOf = (format: ListFormat): string =>
  format === 'mmdb' ? 'application/octet-stream' : formats[format].type

export const isIpv4Only = (format: PrefixFormat): boolean => formats[format].ipv4Only === true
