// AS range files, AS facts and hand-kept tables to the table's networks: two layers of network ids
// and their dictionary. A network is an AS with one set of traits; mobile and corporate prefixes
// are networks of their own. Space that no AS announces has no network.

import type { Family } from '../../src/ip/address.ts'
import { bigintToWords } from '../../src/ip/range.ts'
import type { Network, NetworkTraits } from '../../src/model/network.ts'
import { type Layer, type Layers, renumber, wordsPerStart } from '../layer/layer.ts'
import { classifyNetwork, traitsOfTable } from './network-type.ts'
import type { AsFacts } from './as-facts.ts'
import { flattenMostSpecific } from '../layer/most-specific.ts'
import { completeOrganization } from './organization-name.ts'
import { overlayTwoLayers } from '../layer/overlay.ts'
import { defaultRangeFiles, readAsRangesCached } from './asn-ranges.ts'
import type { NetworkTables } from './network-tables.ts'

export type Networks = Awaited<ReturnType<typeof readNetworks>>

/** Traits of prefixes that replace their AS's; indexes are values of the overlay. */
const overlays = [undefined, 'mobile', 'corporate', 'resolver'] as const

/** By default reads the package @ip-location-db/asn. Throws the errors of readAsRanges. */
export async function readNetworks(options: {
  readonly files?: readonly string[] | undefined
  /** Keeps parsed files for the next build. */
  readonly cache?: string | undefined
  readonly facts: AsFacts
  readonly tables: NetworkTables
}) {
  const { facts, tables } = options
  const ranges = await readAsRangesCached(options.files ?? defaultRangeFiles(), options.cache)
  const variants = newVariants(tables)
  const cut = (family: Family): Layer =>
    overlayTwoLayers({
      base: ranges.layers[family],
      top: prefixLayer(family, tables),
      combine: variants.id,
    })
  const cuts = { 4: cut(4), 6: cut(6) }

  const newIds = new Uint32Array(variants.count() + 1)
  const networks: Network[] = []
  for (const variant of variants.ascending()) {
    const { asn, overlay } = variant
    const fact = facts.get(asn)
    const organization = completeOrganization({
      fromRanges: ranges.organizations.get(asn) ?? '',
      fromFeeds: fact?.name ?? '',
    })
    const { rule: _rule, ...own } = classifyNetwork({ asn, organization, facts, tables })
    networks.push({ asn, organization, ...traitsIn(own, overlay) })
    newIds[variant.id] = networks.length
  }
  renumber(Object.values(cuts), newIds)
  return {
    /** Network i has the id i + 1. Ascending by ASN, an AS before its prefixes. */
    networks: networks as readonly Network[],
    layers: cuts as Layers,
    stats: ranges.stats,
  }
}

function traitsIn(own: NetworkTraits, overlay: Variant['overlay']): NetworkTraits {
  if (overlay === undefined) return own
  if (overlay !== 'resolver') return traitsOfTable[overlay]
  // Resolvers do not rent out servers, whatever their network does.
  const type = own.type === 'hosting' ? 'cdn' : own.type
  return { ...own, type, anycast: true }
}

interface Variant {
  readonly asn: number
  readonly overlay: (typeof overlays)[number]
  /** From 1, by first appearance. */
  readonly id: number
}

/** Numbers the pairs of ASN and overlay. A mobile prefix in a mobile AS changes nothing. */
function newVariants(tables: NetworkTables) {
  const ids = overlays.map(() => new Map<number, number>())
  const variants: Variant[] = []
  const id = (asn: number, top: number): number => {
    if (asn === 0) return 0
    const overlay = top !== 0 && tables.asRow(asn)?.table === overlays[top] ? 0 : top
    const known = ids[overlay]!
    let id = known.get(asn)
    if (id === undefined) {
      id = variants.length + 1
      known.set(asn, id)
      variants.push({ asn, overlay: overlays[overlay], id })
    }
    return id
  }
  const order = (variant: Variant): number => overlays.indexOf(variant.overlay)
  return {
    id,
    count: () => variants.length,
    ascending: () => variants.toSorted((a, b) => a.asn - b.asn || order(a) - order(b)),
  }
}

/** The tables' prefixes as a layer of indexes into `overlays`. */
function prefixLayer(family: Family, tables: NetworkTables): Layer {
  const rows = [tables.mobilePrefixes, tables.corporatePrefixes, tables.resolvers]
    .flatMap((prefixes, at) => prefixes.map(({ range }) => ({ range, overlay: at + 1 })))
    .filter(({ range }) => range.family === family)
  const words = wordsPerStart(family)
  const firsts = new Uint32Array(rows.length * words)
  const lasts = new Uint32Array(rows.length * words)
  const scratch = new Uint32Array(4)
  const put = (array: Uint32Array, at: number, value: bigint): void => {
    bigintToWords(family, value, scratch)
    array.set(scratch.subarray(0, words), at * words)
  }
  for (const [at, { range }] of rows.entries()) {
    put(firsts, at, range.first)
    put(lasts, at, range.last)
  }
  const values = Uint32Array.from(rows, ({ overlay }) => overlay)
  return flattenMostSpecific({ family, count: rows.length, firsts, lasts, values })
}
