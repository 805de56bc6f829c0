// The score as a bar: negative points (a cap, the scale's end, an allow list) reduce the preceding
// reasons, the newest first.
//
//   tor 85, vpn 27, proxy 23, limited −40     ├──────── tor 85 ────────┼ vpn 10 ┤
//
// Invariants: pieces adjoin from 0 to the score; none exceeds its reason's points.

export function scorePieces(
  reasons: readonly { readonly code: string; readonly points: number }[],
) {
  const left: { code: string; points: number }[] = []
  for (const { code, points } of reasons) {
    if (points >= 0) {
      left.push({ code, points })
      continue
    }
    let taken = -points
    for (const piece of left.toReversed()) {
      const here = Math.min(taken, piece.points)
      piece.points -= here
      taken -= here
    }
  }
  let sum = 0
  return left
    .filter(({ points }) => points > 0)
    .map(({ code, points }) => {
      sum += points
      return { code, from: sum - points, to: sum }
    })
}
