// Limits shared by several rooms, and those whose relations are asserted at the end.

import { assert } from './assert.ts'

// ---- src/config -----------------------------------------------------------------------------

/** A system's bundle of all trusted certificates is 0.2 MiB. */
export const pemBytesMax = 4_194_304

/** The limit of Unix socket addresses (Linux: sun_path). */
export const socketPathBytesMax = 107

export const workerMemoryMbMin = 128

/** Fewer sampled addresses are too few: one in fifty then has an interval of 1.3 to 3.1 %. */
export const sampledChecksJudged = 1000

/** Rate slots count nanoseconds: 1 µs per request is the minimum. */
export const ratePerSecondMax = 1_000_000

/** Ten seconds of the highest rate. */
export const rateBurstMax = 10_000_000

/** RateLimit's largest integer: 380 million checks a second. */
export const quotaPerMonthMax = 999_999_999_999_999

export const configPollMs = 200

// ---- src/policy -----------------------------------------------------------------------------

/** A thousand rules are 300 KiB. */
export const policiesBytesMax = 1_048_576

/** Each policy caches decisions: two bytes per record and family. */
export const policiesMax = 32

/** Some six hundred AS numbers; use own lists for more. */
export const conditionCharsMax = 4000

/**
 * Steps (condition-program.ts) of all rules of a policy on the largest facts: 4.4 ms, 13 ms on a
 * busy machine (`npm run bench -- conditions`). A hundred `"x" in lists` rules take 200,000.
 */
export const policyStepsMax = 500_000

// ---- src/account ----------------------------------------------------------------------------

export const secretsLiveMax = 2

/** A label in one line of a table. */
export const keyNameCharsMax = 100

/** A key takes effect within one second (contract 4: keys); five refreshes allow for a stall. */
export const keyRefreshMs = 200

/** Workers read changed keys in milliseconds; a starting one takes a second or two. */
export const keyAcknowledgeMs = 5000

export const listDaysMax = 3653

/** Time to distribute a new secret. */
export const rotationGraceHours = 168

/** A caller that needs both secrets for longer than a quarter needs two keys. */
export const rotationGraceHoursMax = 2160

/** Half a million keys of about 500 bytes. */
export const keyFileBytesMax = 268_435_456

/**
 * Keys with a rate limit since the machine started (changed limits count again): three quarters of
 * the slots, beyond which look-ups get slow.
 */
export const rateKeysMax = 786_432

/** 16 MiB on disk; only touched pages are in memory. */
export const rateSlots = 1_048_576

/** Small, because a crash loses a worker's leases; busy keys soon lease more. */
export const leaseUnitsMin = 16

/** More than a core can check in a second. */
export const leaseUnitsMax = 1_000_000

/** A lease takes at most 1 in 8 of the month's rest, so that every worker gets some. */
export const leaseShare = 8

/**
 * Idle units are returned after this. With two seconds, one in eight requests of a key used once a
 * second would lease.
 */
export const leaseIdleMs = 10_000

/** Before an exhausted quota or failing store is asked again. */
export const quotaRecheckMs = 1000

/** A first lease takes about 1 ms. */
export const quotaWaitMs = 1000

export const leaseCloseMs = 2000

/** An answer usually takes 1 ms. */
export const storeTimeoutMs = 300
/** Bounds a check's wait for a lease. */
export const storeTimeoutMsMax = 1000

export const storeHeartbeatMs = 100

/** Later answers about a rate do not count. */
export const rateAnswerMsMax = 2000

/** Pings in a row that bring back a flapping store: within a second. */
export const storeSuccessesMax = 8

export const storeConcurrencyMax = 500

// ---- build ----------------------------------------------------------------------------------

/** A build that waits longer for feeds is worse than one without them. */
export const fetchSecondsDefault = 900

// ---- src/table ------------------------------------------------------------------------------

/** The longest of 259,184 real texts; longer ones are damage or an attack on memory. */
export const tableTextCharsMax = 160
export const tableTextBytesMax = 3 * tableTextCharsMax

// ---- src/publish ----------------------------------------------------------------------------

/** A release is half a kilobyte; sixteen signed ones are some 15 kB. */
export const manifestBytesMax = 131_072
export const manifestStagesMax = 16

// ---- src/http and src/supervisor ------------------------------------------------------------

/** For a worker's stores, table, logs and pool threads. */
export const reservedDescriptors = 256

/** Unfinished bodies of one worker: a hundred largest batches. */
export const bodyBudgetBytesMax = 134_217_728

/** Also at most 1 in 16 of `--worker-memory-mb`. */
export const bodyBudgetMemoryShare = 16

/**
 * A worker's end after its last request: returning leases, and half a second on a busy machine. An
 * earlier kill loses its leases.
 */
export const workerClosingMs = leaseCloseMs + 500

// ---- src/pool -------------------------------------------------------------------------------

/** Clients have gone by then. */
export const poolRequestMsMax = 30_000

// ---- src/admin, src/console ------------------------------------------------------------------

/** Names with more than 1 in 64 of the checks are in the sketch. */
export const trafficNamesMax = 64

// ---- src/cli --------------------------------------------------------------------------------

/** Rows per list of a summary, to fit a screen. */
export const topShown = 10

// ---- relations ------------------------------------------------------------------------------

assert(rotationGraceHours <= rotationGraceHoursMax, 'the default grace is an allowed grace')
assert(quotaPerMonthMax < Number.MAX_SAFE_INTEGER, 'a quota is an exact integer')
assert(keyRefreshMs * 2 < 1000, 'a new key is seen within one second, even after a missed refresh')
assert(rateKeysMax <= rateSlots * 0.75, 'a free slot is found in few steps')
assert(leaseUnitsMin <= leaseUnitsMax, 'a lease has a size')
assert(storeTimeoutMsMax <= quotaWaitMs, 'no check waits for an answer that no longer counts')
assert(storeTimeoutMsMax <= rateAnswerMsMax, 'an answer that came in time counts')
assert(
  (workerMemoryMbMin * 2 ** 20) / bodyBudgetMemoryShare >= 4 * 1_048_576,
  'a key has room for two largest batches in the smallest worker',
)
assert(storeSuccessesMax * storeHeartbeatMs <= 1000, 'a store is back within two seconds')
