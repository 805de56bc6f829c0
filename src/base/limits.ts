// Limits that several rooms share, and those that must stand in a relation to each other, which is
// asserted at the end, when the module loads. A limit with one user stands in that file. One
// constant a limit, its unit last in its name, with its reason.

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

/** Changed plans are in use within a second: two looks that agree, and the way to the workers. */
export const configPollMs = 200

// ---- src/policy -----------------------------------------------------------------------------

/** A policies file larger than this is some other file: a thousand rules are 300 KiB. */
export const policiesBytesMax = 1_048_576

/** Each policy remembers its decisions: two bytes for each record of the table and family. */
export const policiesMax = 32

/** Room for some six hundred AS numbers; longer lists are lists of the operator's own. */
export const conditionCharsMax = 4000

/**
 * Steps (src/policy/condition/condition-program.ts) that all rules of a policy may take together on
 * the largest facts: 4.4 ms, and 13 ms on a busy machine (`npm run bench -- conditions`), far below
 * what looks like a hang. A hundred `"x" in lists` rules take 200,000; only loops over `lists` come
 * near.
 */
export const policyStepsMax = 500_000

// ---- src/account ----------------------------------------------------------------------------

/** Rotation: the new secret and the one before it. */
export const secretsLiveMax = 2

/** A name is a label for people, printed in one line of a table. */
export const keyNameCharsMax = 100

/** Contract 4: a key takes effect within one second; five looks a second leave room for a stall. */
export const keyRefreshMs = 200

/**
 * How long a server waits for its workers to read changed keys: they take milliseconds, and a
 * worker that is just being started a second or two.
 */
export const keyAcknowledgeMs = 5000

/** An entry of a list lasts at most ten years; what lasts longer has no end. */
export const listDaysMax = 3653

/** A week to bring a new secret to every caller, unless the operator says otherwise. */
export const rotationGraceHours = 168

/** A quarter of a year; a caller that needs both secrets longer needs two keys. */
export const rotationGraceHoursMax = 2160

/** A file of exported keys: about 500 bytes a key, so half a million of them. */
export const keyFileBytesMax = 268_435_456

/**
 * Keys with a rate limit since the machine started (a key whose limits change counts again): three
 * quarters of the slots in the rate file, above which looking for one takes long. 16 bytes each.
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
 * Idle units go back after this, so that another worker can spend the last ones of a month. After
 * two seconds one in eight requests of keys that are used once a second would lease anew.
 */
export const leaseIdleMs = 10_000

/** How long an exhausted quota or a failing store is believed before it is asked again. */
export const quotaRecheckMs = 1000

/** A check that waits for its first lease is refused after this; a lease takes about 1 ms. */
export const quotaWaitMs = 1000

/** A worker that ends waits at most this long for a ledger that does not take its leases back. */
export const leaseCloseMs = 2000

/** An answer of the store that takes longer is no answer; a usual one takes 1 ms. */
export const storeTimeoutMs = 300
/** No check waits longer for a lease; the recovery within two seconds holds up to 500. */
export const storeTimeoutMsMax = 1000

/** How often each process looks whether its store is there. */
export const storeHeartbeatMs = 100

/** An answer about a rate that takes longer does not count; the machine asks anew then. */
export const rateAnswerMsMax = 2000

/** Good looks in a row that bring back a store that comes and goes: within a second. */
export const storeSuccessesMax = 8

/** What goes to the store for many keys at once is under way for so many of them. */
export const storeConcurrencyMax = 500

// ---- build ----------------------------------------------------------------------------------

/** One run of fetching; a build that hangs on its feeds for longer is worse than one without them. */
export const fetchSecondsDefault = 900

// ---- src/table ------------------------------------------------------------------------------

/**
 * No organization, place or provider has a longer name: of 259,184 texts of a world the longest has
 * as many. What is longer is a file gone wrong, or one made so that answers fill memory.
 */
export const tableTextCharsMax = 160
/** The same as UTF-8. */
export const tableTextBytesMax = 3 * tableTextCharsMax

// ---- src/publish ----------------------------------------------------------------------------

/** A release is half a kilobyte; sixteen of them signed are some 15 kB. */
export const manifestBytesMax = 131_072
/** Of one table's publication. */
export const manifestStagesMax = 16

// ---- src/http and src/supervisor ------------------------------------------------------------

/**
 * Descriptors of a worker that are no connections: stores, table, logs, the threads of its pool.
 */
export const reservedDescriptors = 256

/**
 * Bodies of one worker that have begun and not ended: a hundred largest batches at once. Clients
 * that send at a network's pace have few of them open at once.
 */
export const bodyBudgetBytesMax = 134_217_728

/** Nor are they more than this part, 1 in 16, of what a worker may hold (`--worker-memory-mb`). */
export const bodyBudgetMemoryShare = 16

/**
 * What the end of a worker takes after its last request: giving back leases, and half a second for
 * what a busy machine puts in between. It is killed only after that, for a kill loses its leases.
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
