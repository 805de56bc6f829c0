// The Wilson score interval of a share (E. B. Wilson, 1927): honest for few entries and for shares
// near 0 or 1, where the usual interval is not.

export type WilsonShare = Readonly<ReturnType<typeof wilsonShare>>

/** Two-sided 95 %. */
const z = 1.959963984540054

/**
 * `hits` of `count`, from 0 to 1; the share is NaN for a count of 0. Hits may be fractions (parts
 * of ranges); the interval is then approximate.
 */
export function wilsonShare(hits: number, count: number) {
  if (count <= 0) return { share: Number.NaN, low: 0, high: 1 }
  // 0 and all are exact; rounding would leave a trace of doubt on the wrong side.
  const share = Math.min(1, Math.max(0, hits / count))
  const z2 = (z * z) / count
  const centre = share + z2 / 2
  const spread = z * Math.sqrt((share * (1 - share)) / count + z2 / (4 * count))
  return {
    share,
    low: share === 0 ? 0 : Math.max(0, (centre - spread) / (1 + z2)),
    high: share === 1 ? 1 : Math.min(1, (centre + spread) / (1 + z2)),
  }
}
