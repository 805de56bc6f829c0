// How much a new table may change of what it is compared on, percent (src/compare,
// build/acceptance). Larger changes are refused unless `--force` is given.

export const changeThresholds = {
  /**
   * A build's table against the live one, by verdicts of 20,000 addresses; the default of
   * `flipsMaxPercent`. None differed between nine tables of consecutive real days, nor a week apart
   * (docs/proof), so that 50 are no ordinary day; all hosting feeds together are 407 of them, the
   * VPN feeds 3.
   */
  build: 0.25,
  /**
   * The first build that has the feeds, against the table that the first start made without any:
   * all 72 change 1.8 %.
   */
  firstBuild: 5,
  /**
   * By decisions on sampled traffic; the default of `swapFlipsMax`. From one ordinary day to the
   * next some in a thousand change, where lists of proxies come and go; a feed that calls a large
   * provider something else is at once above.
   */
  traffic: 2,
  /**
   * A server's new table of any origin against the one in use, by verdicts in announced space. All
   * hosting feeds together are a tenth of that space; a table that changes a quarter is another
   * world.
   */
  swap: 25,
} as const
