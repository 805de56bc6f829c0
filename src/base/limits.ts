// Limits that several rooms share, and those in a relation to each other, which is asserted at the
// end. A limit with one user stands in that file. The unit is last in its name.

import { assert } from './assert.ts'

// ---- src/config -----------------------------------------------------------------------------

/** Certificates: the bundle of all that a system trusts is 0.2 MiB. */
export const pemBytesMax = 4_194_304

/** The system has no room for more in the address of a Unix socket (Linux: sun_path). */
export const socketPathBytesMax = 107

export const workerMemoryMbMin = 128

/** Fewer sampled addresses judge no table: one in fifty has an interval of 1.3 to 3.1 % then. */
export const sampledChecksJudged = 1000

/** The rate file keeps one slot a key in integers of nanoseconds: 1 µs a request is its floor. */
export const ratePerSecondMax = 1_000_000

/** Ten seconds of the highest rate at once; more is no longer a rate limit. */
export const rateBurstMax = 10_000_000

/**
 * 380 million checks a second for a month; the largest integer of RateLimit's structured fields.
 */
export const quotaPerMonthMax = 999_999_999_999_999

/** Changed plans are in use within a second. */
export const configPollMs = 200

// ---- src/policy -----------------------------------------------------------------------------

/** A policies file larger than this is some other file: a thousand rules are 300 KiB. */
export const policiesBytesMax = 1_048_576

/** Each policy remembers its decisions: two bytes for each record and family. */
export const policiesMax = 32

/** Room for some six hundred AS numbers; longer lists are lists of the operator's own. */
export const conditionCharsMax = 4000

/**
 * Steps (condition-program.ts) of all rules of a policy on the largest facts: 4.4 ms, 13 ms on a
 * busy machine (`npm run bench -- conditions`). A hundred `"x" in lists` rules take 200,000; only
 * loops over `lists` come near.
 */
export const policyStepsMax = 500_000

// ---- src/account ----------------------------------------------------------------------------

/** Rotation: the new secret and the one before it. */
export const secretsLiveMax = 2

/** A name is a label for people, printed in one line of a table. */
export const keyNameCharsMax = 100

/** Contract 4: a key takes effect within one second; five looks a second leave room for a stall. */
export const keyRefreshMs = 200

/** Workers read changed keys in milliseconds; one that is starting takes a second or two. */
export const keyAcknowledgeMs = 5000

export const listDaysMax = 3653

/** To bring a new secret to every caller. */
export const rotationGraceHours = 168

/** A quarter of a year; a caller that needs both secrets longer needs two keys. */
export const rotationGraceHoursMax = 2160

/** Half a million keys of about 500 bytes. */
export const keyFileBytesMax = 268_435_456

/**
 * Keys with a rate limit since the machine started (changed limits count again): three quarters of
 * the slots, above which looking for one takes long. 16 bytes each.
 */
export const rateKeysMax = 786_432

/** Slots of the rate file: 16 MiB on disk, of which memory holds the touched pages. */
export const rateSlots = 1_048_576

/** Small, for a crash loses what a worker has leased; a key in use soon leases more at a time. */
export const leaseUnitsMin = 16

/** A second at more checks than a core can answer. */
export const leaseUnitsMax = 1_000_000

/** What one lease may take of what is left in the month: 1 in 8, so that every worker gets some. */
export const leaseShare = 8

/**
 * Idle units go back after this. After two seconds one in eight requests of keys that are used once
 * a second would lease anew.
 */
export const leaseIdleMs = 10_000

/** Of an exhausted quota or a failing store, before it is asked again. */
export const quotaRecheckMs = 1000

/** For its first lease, which takes about 1 ms. */
export const quotaWaitMs = 1000

export const leaseCloseMs = 2000

/** A usual answer takes 1 ms. */
export const storeTimeoutMs = 300
/** No check waits longer for a lease; the recovery within two seconds holds up to 500. */
export const storeTimeoutMsMax = 1000

export const storeHeartbeatMs = 100

/** An answer about a rate that takes longer does not count; the machine asks anew then. */
export const rateAnswerMsMax = 2000

/** Good looks in a row that bring back a flapping store: within a second. */
export const storeSuccessesMax = 8

/** Changes of many keys under way at once. */
export const storeConcurrencyMax = 500

// ---- build ----------------------------------------------------------------------------------

/** One run of fetching; a build that hangs on its feeds for longer is worse than one without them. */
export const fetchSecondsDefault = 900

// ---- src/table ------------------------------------------------------------------------------

/**
 * Of 259,184 texts of a world the longest has as many; a longer one is a file gone wrong, or made
 * so that answers fill memory.
 */
export const tableTextCharsMax = 160
export const tableTextBytesMax = 3 * tableTextCharsMax

// ---- src/publish ----------------------------------------------------------------------------

/** A release is half a kilobyte; sixteen of them signed are some 15 kB. */
export const manifestBytesMax = 131_072
export const manifestStagesMax = 16

// ---- src/http and src/supervisor ------------------------------------------------------------

/** Of a worker, not connections: stores, table, logs, the threads of its pool. */
export const reservedDescriptors = 256

/** Bodies of one worker that have begun and not ended: a hundred largest batches at once. */
export const bodyBudgetBytesMax = 134_217_728

/** Nor more than 1 in 16 of `--worker-memory-mb`. */
export const bodyBudgetMemoryShare = 16

/**
 * What the end of a worker takes after its last request: giving back leases, and half a second on a
 * busy machine. A kill before that loses its leases.
 */
export const workerClosingMs = leaseCloseMs + 500

// ---- src/pool -------------------------------------------------------------------------------

/** A batch or insights that take longer are given up: a client has long gone by then. */
export const poolRequestMsMax = 30_000

// ---- src/admin, src/console ------------------------------------------------------------------

/** Names of one sketch: each that has more than 1 in 64 of the checks is in it. */
export const trafficNamesMax = 64

// ---- src/cli --------------------------------------------------------------------------------

/** Rows of each list of a summary: what fits a screen, and what is still a list. */
export const topShown = 10

// ---- relations ------------------------------------------------------------------------------

assert(rotationGraceHours <= rotationGraceHoursMax, 'the default grace is an allowed grace')
assert(quotaPerMonthMax < Number.MAX_SAFE_INTEGER, 'a quota is an exact integer')
assert(keyRefreshMs * 2 < 1000, 'a new key is seen within one second, even after a missed look')
assert(rateKeysMax <= rateSlots * 0.75, 'a free slot is found after few looks')
assert(leaseUnitsMin <= leaseUnitsMax, 'a lease has a size')
assert(storeTimeoutMsMax <= quotaWaitMs, 'no check waits for an answer that no longer counts')
assert(storeTimeoutMsMax <= rateAnswerMsMax, 'an answer that came in time counts')
assert(
  (workerMemoryMbMin * 2 ** 20) / bodyBudgetMemoryShare >= 4 * 1_048_576,
  'a key has room for two largest batches in the smallest worker',
)
assert(storeSuccessesMax * storeHeartbeatMs <= 1000, 'a store is back within two seconds')
