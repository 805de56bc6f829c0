// The formats with a prefix per row, of list URLs (published sets) and exports: how a prefix is
// written, and the text around all of them. Firewalls load a file whole or not at all: `nft -f` is
// one transaction, ipset swaps sets.

import type { Family } from '../ip/address.ts'
import { addressBits } from '../ip/range.ts'
import type { ExportFile } from './export-file.ts'

interface Prefix {
  readonly family: Family
  readonly address: Uint32Array
  /** Up to 32 or 128, by family. */
  readonly length: number
  /** The export's value of the prefix, as the format writes it; absent in lists. */
  readonly value?: string | undefined
}

interface Named {
  readonly name: string
  /** The set's name by family. */
  readonly setOf: (family: Family) => string
  readonly families: readonly Family[]
  /** A comment, in formats that have them. */
  readonly title?: string
}

type Write = (file: ExportFile, prefix: Prefix) => void
type TextOf = (prefix: Prefix, named: Named) => string

interface Format {
  readonly head?: (named: Named) => string
  readonly tail?: (named: Named) => string
  readonly between?: string
  /** Text around at most `prefixes` of a family. */
  readonly batch?: {
    readonly prefixes: number
    readonly head: (family: Family, named: Named) => string
    readonly tail: string
  }
  /** Formats an export's value. */
  readonly value?: (text: string) => string
  readonly before?: TextOf
  readonly address?: Write
  readonly after?: TextOf
  /** Loading it replaces everything, so a page of it would lose the others. */
  readonly isWhole?: true
  /** Prefixes of length 0 are invalid: written as two halves. */
  readonly isHalved?: true
}

function writePrefix(file: ExportFile, { address, family, length }: Prefix): void {
  file.address(address, family)
  file.text(`/${length}`)
}

const isSingle = ({ family, length }: Prefix): boolean => length === addressBits(family)

const writeAddress: Write = (file, { address, family }) => file.address(address, family)

const writeShort: Write = (file, prefix) =>
  isSingle(prefix) ? writeAddress(file, prefix) : writePrefix(file, prefix)

const last = new Uint32Array(4)

/** Writes the last address of a prefix of `bits` (of 128) to `out`. */
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

const comment = ({ title }: Named, usage = ''): string =>
  title === undefined ? '' : `# ${title}\n${usage}`

/** Fills new sets beside those in use, then swaps: packets never see half a set. */
function ipsetHead({ setOf, families }: Named): string {
  return families
    .map((family) => {
      const set = setOf(family)
      // A bound, not a size. Constant, since ipset treats another bound as another set.
      const kind = `hash:net family inet${family === 4 ? '' : '6'} maxelem 67108864`
      // Reuses what an interrupted restore left.
      return `create ${set} ${kind} -exist\ncreate ${set}-new ${kind} -exist\nflush ${set}-new\n`
    })
    .join('')
}

function nftHead({ setOf, families }: Named): string {
  const sets = families.map((family) => {
    const set = setOf(family)
    const kind = `type ipv${family}_addr; flags interval;`
    return `add set inet iprisk ${set} { ${kind} }\nflush set inet iprisk ${set}\n`
  })
  return `add table inet iprisk\n${sets.join('')}`
}

const addressList = (family: Family): string =>
  `/ip${family === 4 ? '' : 'v6'} firewall address-list`

/** The last byte of 127.0.0.N by classification, by default 2. Never changed, only extended. */
const zoneCodes: Readonly<Record<string, number>> = {
  tor: 3,
  vpn: 4,
  proxy: 5,
  residential_proxy: 6,
  hosting: 7,
  mixed: 8,
  known_bot: 9,
}

/** RFC 5782 (5): test addresses of every zone. */
const zoneTests =
  '$DATASET ip4trie:test4 @\n127.0.0.2 :127.0.0.2:test\n' +
  '$DATASET ip6trie:test6 @\n::ffff:7f00:2 :127.0.0.2:test\n'

const formats = {
  plain: { address: writeShort },
  cidr: {},
  range: { address: writeRange },
  json: { head: () => '[', tail: () => ']\n', between: ',\n', before: () => '"', after: () => '"' },
  // BIG-IP AFM, feed lists: address, mask, list, category.
  f5: { address: writeAddress, after: ({ length }, { name }) => `,${length},bl,${name}\n` },
  // Threat Prevention, indicator files.
  checkpoint: {
    head: () => '#UNIQ-NAME,VALUE,TYPE,CONFIDENCE,SEVERITY,PRODUCT,COMMENT\n',
    before: (_, { name }) => `${name}-`,
    address: (file, prefix) => {
      writeAddress(file, prefix)
      file.text(`-${prefix.length},`)
      if (isSingle(prefix)) writeAddress(file, prefix)
      else writeRange(file, prefix)
    },
    after: (prefix) => `,IP${isSingle(prefix) ? '' : ' Range'},high,high,AB,iprisk\n`,
  },
  // RouterOS: `/import` stops at an existing entry. Entries expire if the list is not loaded again.
  mikrotik: {
    isWhole: true,
    head: ({ name, families }) =>
      families.map((one) => `${addressList(one)} remove [find where list=${name}];\n`).join(''),
    before: ({ family }, { name }) => `${addressList(family)} add list=${name} address=`,
    after: () => ' comment=iprisk timeout=48h;\n',
  },
  // For `include` in a geo block.
  nginx: {
    head: (named) => comment(named, '# geo $iprisk { default ""; include THIS-FILE; }\n'),
    value: (text) => `"${text.replace(/["\\]/g, '\\$&')}"`,
    after: ({ value = '1' }) => ` ${value};\n`,
  },
  // For map_ip(); `src -f FILE` reads the first word.
  haproxy: {
    head: (named) => comment(named, '# src,map_ip(THIS-FILE,"")\n'),
    after: ({ value }, { name }) => ` ${value ?? name}\n`,
  },
  nft: {
    isWhole: true,
    head: (named) => comment(named) + nftHead(named),
    between: ', ',
    batch: {
      prefixes: 4000,
      head: (family, { setOf }) => `add element inet iprisk ${setOf(family)} { `,
      tail: ' }\n',
    },
    after: () => '',
  },
  ipset: {
    isWhole: true,
    isHalved: true,
    head: (named) => comment(named) + ipsetHead(named),
    before: ({ family }, { setOf }) => `add ${setOf(family)}-new `,
    tail: ({ setOf, families }) =>
      families
        .map(setOf)
        .map((set) => `swap ${set}-new ${set}\ndestroy ${set}-new\n`)
        .join(''),
  },
  // `cscli decisions import` replaces nothing, so decisions expire after two days.
  crowdsec: {
    head: () => 'duration,reason,scope,type,value\n',
    before: (prefix) => `48h,iprisk,${isSingle(prefix) ? 'Ip' : 'Range'},ban,`,
    address: writeShort,
  },
  // A reputation list: category 1, from 1 to 127.
  suricata: {
    value: (score) => String(Math.max(1, Number(score))),
    after: ({ value }) => `,1,${value}\n`,
  },
  // The intelligence framework.
  zeek: {
    head: () => '#fields\tindicator\tindicator_type\tmeta.source\n',
    address: writeShort,
    after: (prefix, { name }) => `\tIntel::${isSingle(prefix) ? 'ADDR' : 'SUBNET'}\t${name}\n`,
  },
  // A DNS zone, RFC 5782.
  rbldnsd: {
    head: (named) => comment(named) + zoneTests,
    batch: {
      prefixes: Infinity,
      head: (family) => `$DATASET ip${family}trie:iprisk${family} @\n`,
      tail: '',
    },
    value: (text) => `:127.0.0.${zoneCodes[text] ?? 2}:${text}`,
    after: ({ value }) => ` ${value}\n`,
  },
} as const satisfies Readonly<Record<string, Format>>
export type PrefixFormat = keyof typeof formats

const rowOf = (format: PrefixFormat): Format => formats[format]
const endOfLine = (): string => '\n'

/** Writes prefixes, IPv4 first; `end` completes the file. */
export function openList(file: ExportFile, format: PrefixFormat, named: Named) {
  const { head, tail, between = '', batch, before, after = endOfLine, isHalved } = rowOf(format)
  const { address: writeOwn = writePrefix } = rowOf(format)
  let batched: Family | undefined
  let count = 0
  file.text(head?.(named) ?? '')
  const endBatch = (): void => {
    if (batched !== undefined) file.text(batch?.tail ?? '')
    batched = undefined
    count = 0
  }
  const add = (prefix: Prefix): void => {
    const { family, length } = prefix
    if (length === 0 && isHalved === true) {
      const upper = new Uint32Array(4)
      upper[family === 4 ? 3 : 0] = 0x8000_0000
      for (const address of [prefix.address, upper]) add({ ...prefix, address, length: 1 })
      return
    }
    if (batch !== undefined && (family !== batched || count === batch.prefixes)) {
      endBatch()
      file.text(batch.head(family, named))
      batched = family
    }
    if (count > 0) file.text(between)
    count++
    if (before !== undefined) file.text(before(prefix, named))
    writeOwn(file, prefix)
    file.text(after(prefix, named))
  }
  return {
    add,
    end: (): void => {
      endBatch()
      file.text(tail?.(named) ?? '')
    },
  }
}

export const valueText = (format: PrefixFormat, text: string): string =>
  rowOf(format).value?.(text) ?? text

export const isWholeFormat = (format: PrefixFormat): boolean => rowOf(format).isWhole === true
