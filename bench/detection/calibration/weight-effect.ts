// What a world says of its whole space, and what other weights would change: every address judged,
// by sums of sizes.

import type { Family } from '../../../src/ip/address.ts'
import { type Kind, riskLevelOf } from '../../../src/model/kind.ts'
import { hasSignal } from '../evaluation/leave-one-out.ts'
import { sizeOf64 } from '../world/address-count.ts'
import { type ScoredPiece, type AccessSpace, accessSpace } from '../world/address-space.ts'
import { newCellJudge } from '../world/cell-verdicts.ts'
import type { World } from '../world/cells.ts'

export interface VerdictMove {
  /** `hosting, low → hosting, medium`: class and level. */
  readonly change: string
  readonly ipv4: number
  readonly ipv6_64s: number
}

export interface WeightEffect {
  readonly before: AccessSpace
  readonly after: AccessSpace
  /** Changes of class or level, the largest first. */
  readonly moved: readonly VerdictMove[]
}

/** False alarms of the world as it is. */
export function worldAccessSpace(world: World): AccessSpace {
  const judge = newCellJudge(world)
  return accessSpace(
    world.cells.map((cell) => {
      const { family, size, network } = cell
      return { family, size, network: world.networks[network - 1], score: judge(cell).score }
    }),
  )
}

/** How much of the space has a kind's signal: what a change of the detection adds or takes. */
export interface SignalSpace {
  readonly kind: Kind
  readonly ipv4: number
  /** Of these, in access networks. */
  readonly ipv4InAccess: number
  readonly ipv6_64s: number
}

export function worldSignalSpace(world: World, kinds: readonly Kind[]): readonly SignalSpace[] {
  const judge = newCellJudge(world)
  const sums = kinds.map((kind) => ({ kind, ipv4: 0, ipv4InAccess: 0, ipv6_64s: 0 }))
  for (const cell of world.cells) {
    const verdict = judge(cell)
    for (const sum of sums) {
      if (!hasSignal(verdict, sum.kind)) continue
      if (cell.family === 6) sum.ipv6_64s += cell.size / sizeOf64
      else {
        sum.ipv4 += cell.size
        if (world.networks[cell.network - 1]?.access === true) sum.ipv4InAccess += cell.size
      }
    }
  }
  return sums
}

export function weightEffect(
  world: World,
  weights: {
    readonly before: ReadonlyMap<string, number>
    readonly after: ReadonlyMap<string, number>
  },
): WeightEffect {
  const judgeBefore = newCellJudge(world, { weights: weights.before })
  const judgeAfter = newCellJudge(world, { weights: weights.after })
  const sums = new Map<string, Record<Family, number>>()
  const scoredBefore: ScoredPiece[] = []
  const scoredAfter: ScoredPiece[] = []
  for (const cell of world.cells) {
    const { family, size } = cell
    const network = world.networks[cell.network - 1]
    const [before, after] = [judgeBefore(cell), judgeAfter(cell)]
    scoredBefore.push({ family, size, network, score: before.score })
    scoredAfter.push({ family, size, network, score: after.score })
    const from = `${before.classification}, ${riskLevelOf(before.score)}`
    const to = `${after.classification}, ${riskLevelOf(after.score)}`
    if (from === to) continue
    const sum = sums.get(`${from} → ${to}`) ?? { 4: 0, 6: 0 }
    sum[family] += family === 4 ? size : size / sizeOf64
    sums.set(`${from} → ${to}`, sum)
  }
  const moved = [...sums].map(([change, sum]) => ({ change, ipv4: sum[4], ipv6_64s: sum[6] }))
  moved.sort((a, b) => b.ipv4 - a.ipv4 || b.ipv6_64s - a.ipv6_64s)
  return { before: accessSpace(scoredBefore), after: accessSpace(scoredAfter), moved }
}
