// Where residential proxy and VPN meet in a table: the addresses that are mixed (contract 3.7), and
// those that are nearly so, with what keeps them from it. Only what a table says; nothing is judged
// anew.

import { formatAddress } from '../../src/ip/format-address.ts'
import type { Verdict } from '../../src/model/verdict.ts'
import { type Explanation, explain } from '../../src/table/explain/explain.ts'
import type { OpenTable } from '../../src/table/open-table.ts'
import { type Layer, wordsPerStart } from '../../build/layer/layer.ts'
import { pieceSize, sizeOf64 } from './world/address-count.ts'
import { readTableRecords } from './world/table-layers.ts'

/** How near an address comes to being mixed, nearest first. */
export const mixedNearness = ['mixed', 'both signals', 'both kinds'] as const
export type MixedNearness = (typeof mixedNearness)[number]

export interface MixedExample {
  readonly meeting: MixedNearness
  /** The first address of a run of which the same is said. */
  readonly address: string
  readonly explanation: Explanation
}

export interface MixedFindings {
  /** IPv4 addresses, and IPv6 addresses in /64s. */
  readonly counts: Readonly<Record<MixedNearness, { readonly ipv4: number; readonly ipv6: number }>>
  /** Nearest first, at most as many as asked for. */
  readonly examples: readonly MixedExample[]
}

export function findMixed(table: OpenTable, examplesMax: number): MixedFindings {
  const { layers, verdictOf } = readTableRecords(table.reader)
  const counts = {
    mixed: { ipv4: 0, ipv6: 0 },
    'both signals': { ipv4: 0, ipv6: 0 },
    'both kinds': { ipv4: 0, ipv6: 0 },
  }
  const found: { readonly meeting: MixedNearness; readonly address: string }[] = []
  for (const layer of [layers[4], layers[6]]) {
    for (let piece = 0; piece < layer.count; piece++) {
      const meeting = meetingOf(verdictOf(layer.values[piece]!))
      if (meeting === undefined) continue
      const size = pieceSize(layer, piece)
      if (layer.family === 4) counts[meeting].ipv4 += size
      else counts[meeting].ipv6 += size / sizeOf64
      found.push({ meeting, address: startOf(layer, piece) })
    }
  }
  const nearest = mixedNearness.flatMap((meeting) => found.filter((one) => one.meeting === meeting))
  const examples = nearest.slice(0, examplesMax).flatMap((one) => {
    const explanation = explain(table, one.address)
    return explanation === undefined ? [] : [{ ...one, explanation }]
  })
  return { counts, examples }
}

/** `undefined` where the two do not meet. */
function meetingOf({ classification, signals, reasons }: Verdict): MixedNearness | undefined {
  if (classification === 'mixed') return 'mixed'
  if (signals.residential_proxy && signals.vpn) return 'both signals'
  const speaks = (kind: string): boolean =>
    reasons.some(({ code }) => code === `${kind}_listed` || code === `${kind}_trace`)
  return speaks('residential_proxy') && speaks('vpn') ? 'both kinds' : undefined
}

function startOf(layer: Layer, piece: number): string {
  const stride = wordsPerStart(layer.family)
  return formatAddress(layer.family, layer.starts.subarray(piece * stride, (piece + 1) * stride))
}
