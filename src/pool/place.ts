// Which work goes to the pool: the one place that decides it, with the reasons, measured on two
// shared cores (bench/mixed.ts has the program).
//
//   a check            2 to 4 us: here, always; a round trip to a thread alone costs 50 to 100
//   a batch's body     up to `inlineBytesMax` here: some sixty addresses, under 0.3 ms of the loop
//   a larger batch     pool, from the parsing of its body on: 10,000 addresses are 30 ms
//   insights           pool: 0.1 to 1 ms each, by how long the evidence takes to fade. One would do
//                      little harm here; hundreds a second would be felt by every check behind them

export type Place = 'here' | 'pool'

/** About a hundred bytes less than sixty addresses with their quotes and commas. */
const inlineBytesMax = 1024

export function placeOf(
  work:
    | { readonly kind: 'batch'; readonly bodyBytes: number }
    | { readonly kind: 'insights' | 'check' },
): Place {
  if (work.kind === 'batch') return work.bodyBytes <= inlineBytesMax ? 'here' : 'pool'
  return work.kind === 'check' ? 'here' : 'pool'
}

/** Addresses of one piece of a batch: so many share one round trip. */
export const pieceAddresses = 100

/** What an item costs in units of one check; a task holds up to `pieceAddresses` of them. */
export const itemCosts = { read: pieceAddresses, checks: pieceAddresses, insights: 12 } as const
