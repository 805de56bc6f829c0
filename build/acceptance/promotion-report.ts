// What acceptance of tables found of a new one, as the build report says it.

export interface PromotionReport {
  readonly promoted: boolean
  /** It went live although there are reasons against it. */
  readonly forced: boolean
  readonly reasons: readonly string[]
  /** Why the verdicts are not held against those of the table before this one. */
  readonly not_compared?: string
  /** Addresses asked of the table before this one too, and how many it judges otherwise. */
  readonly sampled: number
  readonly flipped: number
  /** Of the sample, judged otherwise because a new edition of the networks has another one there. */
  readonly moved?: number
  /** Some of those that count: `192.0.2.1: clean low, now vpn high`. */
  readonly flips: readonly string[]
}
