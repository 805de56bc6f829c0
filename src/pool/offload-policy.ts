// Which work goes to the pool: the one place that says so, with the reasons, measured on two shared
// cores (bench/speed/pool.ts has the program; its kept run draws announced addresses, of which few are
// listed: insights of those 0.06 ms in the middle).
//
//   a check            2 us: here, always; a round trip to a thread alone costs 50 to 100
//   a batch's body     up to `batchHereBytesMax` here: some sixty addresses, 0.15 ms of the loop
//   a larger batch     pool, from the parsing of its body on: 10,000 addresses are 18 ms
//   insights           pool: 0.17 ms in the middle and 4 ms at the 99th percentile (of listed
//                      addresses, on busy cores), by how many feeds speak and how long they fade:
//                      one alone would be cheaper here, a thousand a second would stall every check
//   lines of a file    pool; up to `linesHereBytesMax` in all here (the command line)

/** About a hundred bytes less than sixty addresses with their quotes and commas. */
export const batchInlineBytesMax = 1024

/** Answered sooner than a thread has started, or has been reached. */
export const linesInlineBytesMax = 4096

/**
 * Of a batch for which the pool has no room, what is read here all the same, for the errors that come
 * before the 503 (contract 3.12): a longer one only in the form that takes a tenth of its answers' time
 * (batch-body.ts). JSON.parse of more would hold up the checks of everybody: 2.7 ms for as much as one
 * IPv4 address too many, 6 ms for a megabyte.
 */
export const refusedInlineBytesMax = 192 << 10

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
