// How much a new table may change of what it is compared on, percent (src/compare,
// build/acceptance). Larger changes are refused unless `--force` is given.

export const changeThresholds = {
  /**
   * A build's table against the live one, by verdicts of 20,000 addresses; the default of
   * `flipsMaxPercent`. None differed between consecutive real days or a week apart (docs/proof).
   */
  build: 0.25,
  /** The first build with feeds, against the first start's table without any: all change 1.8 %. */
  firstBuild: 5,
  /**
   * By decisions on sampled traffic; the default of `swapFlipsMax`. Some in a thousand change from
   * one ordinary day to the next.
   */
  traffic: 2,
  /**
   * A server's new table of any origin against the one in use, by verdicts in announced space, of
   * which all hosting feeds together are a tenth.
   */
  swap: 25,
} as const
