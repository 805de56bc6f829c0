// Which work goes to the pool: the one place that says so, with the reasons, measured on two shared
// cores by bench/speed/pool.ts. "Here" is the event loop. (The kept run of that program draws
// announced addresses, of which few are listed: its median for insights is 0.06 ms.)
//
//   a check            2 us: here, always; a round trip to a thread alone costs 50 to 100
//   a small batch      up to `loopAddressesMax` addresses here, in slices (contract 6.10: slices of batches)
//   a larger batch     pool, from the parsing of its body on: 10,000 addresses are 18 ms
//   insights           pool: median 0.17 ms, 99th percentile 4 ms (of listed addresses, on busy cores),
//                      by how many feeds list the address and how long they fade; one would be
//                      cheaper here, a thousand a second would stall every check
//   lines of a file    pool; here (the command line) the first `firstLinesInlineBytesMax`, and later up
//                      to `linesInlineBytesMax` at once where none are under way

/** The loop answers up to this many addresses of a batch. */
export const loopAddressesMax = 256

/** The body of such a batch, each element with a policy: JSON.parse takes 0.2 ms. */
export const loopBodyBytesMax = 32 << 10

/**
 * Steps of a policy (src/policy/condition/condition-program.ts): at most half a millisecond for an
 * uncached decision. Above it the loop makes one decision per turn.
 */
export const inlineStepsMax = 50_000

/** Up to this many lines are answered sooner than a thread receives them. */
export const linesInlineBytesMax = 4096

/** Up to this many are answered before a thread has started: 20,000 addresses, 2,000 lines of a
 * log. */
export const firstLinesInlineBytesMax = 256 << 10

/**
 * A full pool refuses a batch with 503, but other errors come before that (contract 3.12: order of
 * errors), so its body is read here: up to this length in any form, beyond it only in the short
 * form (batch-body.ts), which takes a tenth of its answers' time. JSON.parse of more would stall
 * all checks: 2.7 ms for one IPv4 address too many, 6 ms for a megabyte.
 */
export const refusedInlineBytesMax = 192 << 10

/** Addresses in one piece of a batch: this many share one round trip. */
export const pieceAddresses = 100

/**
 * The items of a task cost at most `pieceAddresses` together. Insights of one address take about as
 * long as a hundred checks. Eight of them share a task: the round trip is then a small part of the
 * whole, and the next task waits for a few milliseconds at most.
 */
export const itemCosts = {
  read: pieceAddresses,
  checks: pieceAddresses,
  lines: pieceAddresses,
  insights: 12,
} as const
