// Which work goes to the pool: the one place that decides it, with the reasons, measured on two
// shared cores (bench/pool.ts has the program).
//
//   a check            2 us: here, always; a round trip to a thread alone costs 50 to 100
//   a batch's body     up to `inlineBytesMax` here: some sixty addresses, 0.15 ms of the loop
//   a larger batch     pool, from the parsing of its body on: 10,000 addresses are 18 ms
//   insights           pool: 0.17 ms in the middle and 4 ms at the 99th percentile (of listed
//                      addresses, on busy cores), by how many feeds speak and how long they fade:
//                      one alone would be cheaper here, a thousand a second would stall every check

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

/**
 * What of a task's room an item takes, `pieceAddresses` in all. Insights cost about as much as a
 * hundred checks; eight of them share a round trip, which is then a small part of the whole and
 * makes nobody wait for more than a few milliseconds.
 */
export const itemCosts = {
  read: pieceAddresses,
  checks: pieceAddresses,
  lines: pieceAddresses,
  insights: 12,
} as const
