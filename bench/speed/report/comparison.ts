// Rounds of two sides to one verdict a row. Pure. Less is better in every row.

import { median } from '../../harness/statistics.ts'

/** Figures of one measurement by name. */
export type RoundFigures = Readonly<Record<string, number>>

export interface Comparison {
  readonly name: string
  /** Medians over the rounds. */
  readonly base: number
  readonly head: number
  /** Head over base: the median of the rounds' ratios, the lowest and the highest. */
  readonly ratio: number
  readonly lowest: number
  readonly highest: number
  /** Head over base, of each the fastest round: what a neighbour on the machine disturbs least. */
  readonly best: number
  readonly verdict: 'faster' | 'slower' | 'no difference seen'
}

/** A smaller difference is not said, however steady: links and layout alone do so much. */
const differenceMin = 0.03

/** One or two rounds agree with themselves by chance. */
const roundsMin = 3

/**
 * A difference is one that the median shows, the fastest rounds show as well, and every round
 * agrees on, three at least; from six rounds on one in six may disagree.
 */
export function compareRounds(samples: {
  readonly base: readonly RoundFigures[]
  readonly head: readonly RoundFigures[]
}): readonly Comparison[] {
  const names = Object.keys(samples.base[0] ?? {}).filter((name) => name in (samples.head[0] ?? {}))
  return names.map((name) => {
    const values = (side: 'base' | 'head') => samples[side].map((sample) => sample[name] ?? NaN)
    const [base, head] = [values('base'), values('head')]
    const ratios = head.map((value, round) => value / (base[round] ?? NaN))
    const ratio = median(ratios)
    const best = Math.min(...head) / Math.min(...base)
    const against = ratios.filter((it) => (ratio < 1 ? it >= 1 : it <= 1)).length
    const isSure =
      ratios.length >= roundsMin &&
      Math.abs(ratio - 1) >= differenceMin &&
      (ratio < 1 ? best <= 1 - differenceMin : best >= 1 + differenceMin) &&
      against <= Math.floor(ratios.length / 6)
    return {
      name,
      base: median(base),
      head: median(head),
      ratio,
      lowest: Math.min(...ratios),
      highest: Math.max(...ratios),
      best,
      verdict: !isSure ? 'no difference seen' : ratio < 1 ? 'faster' : 'slower',
    }
  })
}

/**
 * Rows that looked slower, as a second series of rounds has them; all others as they are. The
 * second series is judged by itself: pooled with the first, it would keep the chance that chose the
 * row.
 */
export function decideAgain(
  first: readonly Comparison[],
  second: readonly Comparison[],
): readonly Comparison[] {
  return first.map((row) => {
    if (row.verdict !== 'slower') return row
    return second.find(({ name }) => name === row.name) ?? row
  })
}

/** One sentence for people. */
export function verdictLine(comparisons: readonly Comparison[]): string {
  const count = (verdict: Comparison['verdict']): number =>
    comparisons.filter((it) => it.verdict === verdict).length
  const [faster, slower] = [count('faster'), count('slower')]
  const of = `of ${comparisons.length} rows`
  if (faster === 0 && slower === 0) return `No difference seen in any ${of}.`
  if (slower === 0) return `HEAD is faster in ${faster} ${of}, and slower in none.`
  if (faster === 0) return `HEAD is SLOWER in ${slower} ${of}, and faster in none.`
  return `HEAD is faster in ${faster} ${of} and SLOWER in ${slower}.`
}
