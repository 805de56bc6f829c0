// How many percent of compared answers a new table may change (src/compare, build/acceptance)
// without `--force`.

export const changeThresholds = {
  /**
   * A build's table against the live one, by verdicts of 20,000 addresses; the default of
   * `flipsMaxPercent`. No verdict differed between consecutive days or a week apart (docs/proof).
   */
  build: 0.25,
  /** The first build with feeds, against a first start's table without any: 1.8 % change. */
  firstBuild: 5,
  /**
   * By decisions on sampled traffic; the default of `swapFlipsMax`. On ordinary days a few in a
   * thousand change.
   */
  traffic: 2,
  /**
   * A server's new table of any origin against the one in use, by verdicts in announced space; all
   * hosting feeds together make up a tenth of them.
   */
  swap: 25,
} as const
