// Lists to the bytes of their file (list-file.ts), off every serving loop: a million entries take a
// second. Entries come as decoded chunks (entry-rows.ts).

import type { ListEffect } from '../../model/kind.ts'
import { type EntryRows, rowKinds } from './entry-rows.ts'
import { encodeListFile, encodeNames } from './list-file.ts'
import { makeFilters } from './make-filter.ts'
import { addPrefix, newPrefixColumn, piecesOf } from './prefix-tree.ts'
import { type NodeTable, newNodeTable } from './list-nodes.ts'

export interface ListSource {
  readonly name: string
  readonly effect: ListEffect
  readonly rows: readonly EntryRows[]
}

/** Leaves out entries expired at `nowSeconds`. */
export function compileLists(sources: readonly ListSource[], nowSeconds: number): Uint8Array {
  // Numbers of lists, and matching names, ascend by name.
  const lists = sources.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const table = newNodeTable()
  const columns = { 4: newPrefixColumn(1), 6: newPrefixColumn(4) } as const
  const systems: { readonly asn: number; readonly tag: number }[] = []
  lists.forEach(({ rows }, owner) => {
    for (const chunk of rows) {
      const { kinds, expiries, count } = chunk
      for (let i = 0; i < count; i++) {
        const expires = expiries[i]!
        if (expires !== 0 && expires <= nowSeconds) continue
        const tag = table.tag(owner, expires, chunk.sizeOf(i, table.oddSize))
        const kind = kinds[i]!
        if (kind === rowKinds.as) systems.push({ asn: chunk.words[i * 8]!, tag })
        else chunk.eachPrefix(i, columns[kind === rowKinds.ipv4 ? 4 : 6], addPrefix, tag)
      }
    }
  })
  const ipv4 = piecesOf(columns[4], table.node)
  const ipv6 = piecesOf(columns[6], table.node)
  const { asns, nodes: nodesAs } = systemNodes(systems, table)
  return encodeListFile({
    names: encodeNames(lists),
    starts4: ipv4.starts,
    nodes4: ipv4.nodes,
    index4: ipv4.index,
    starts6: ipv6.starts,
    nodes6: ipv6.nodes,
    index6: ipv6.index,
    ...makeFilters(ipv4, ipv6),
    asns,
    nodesAs,
    ...table.sections(),
  })
}

function systemNodes(
  systems: readonly { readonly asn: number; readonly tag: number }[],
  table: NodeTable,
): { readonly asns: Uint32Array; readonly nodes: Uint32Array } {
  const nodes = new Map<number, number>()
  for (const { asn, tag } of systems) nodes.set(asn, table.node(tag, nodes.get(asn) ?? 0))
  const asns = Uint32Array.from(nodes.keys()).sort()
  return { asns, nodes: asns.map((asn) => nodes.get(asn) ?? 0) }
}
