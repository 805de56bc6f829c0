// Every limit that more than one room must know or an operator may meet, each with its reason. One
// constant a limit, its unit last in its name; grouped by room; append to your room's group. Limits
// that only one file needs and no operator ever meets may stay in that file.
//
// Relations between limits are asserted at the end, when the module loads.

import { assert } from './assert.ts'

// ---- src/config -----------------------------------------------------------------------------

/** A configuration file larger than this is some other file: a thousand plans are 200 KiB. */
export const configBytesMax = 1_048_576

/** Settings go four levels deep, exported keys five; deeper data is no file of ours. */
export const configDepthMax = 16

/** Certificates: the bundle of all that a system trusts is 0.2 MiB. */
export const pemBytesMax = 4_194_304

/** What a variable `IPRISK_…_FILE` points to holds one value; a path is at most 4 KiB. */
export const valueFileBytesMax = 16_384

/** Far above any machine of today; a typing error must not fork ten thousand processes. */
export const workersMax = 1024

/** An orchestrator kills what drains longer: its patience is minutes, not hours. */
export const drainSecondsMax = 3600

/** A load balancer that looks every ten seconds has seen /readyz fail three times by then twice. */
export const graceSecondsMax = 300

/** The system has no room for more in the address of a Unix socket (Linux: sun_path). */
export const socketPathBytesMax = 107

/** Below it a worker's garbage collection may look like a hang. */
export const hangMsMin = 300
export const hangMsMax = 600_000

/** Five beats missed, and the sixth: with a successor's start it is replaced within a second. */
export const hangMsDefault = 500

/** A worker with a hundred thousand keys holds some 200 MiB; a leak comes to more in time. */
export const workerMemoryMbDefault = 2048
export const workerMemoryMbMin = 128
export const workerMemoryMbMax = 1_048_576

/** Of one file of the decision log: some 300,000 decisions by default. */
export const decisionLogMbDefault = 100
export const decisionLogMbMax = 1_048_576
/** Fewer sampled checks judge no table: one in fifty has an interval of 1.3 to 3.1 % then. */
export const sampledChecksJudged = 1000
/** Twice as many as anybody needs: of 100,000, one in fifty has an interval of 1.9 to 2.1 %. */
export const sampledChecksMax = 200_000
export const sampledCheckDaysMax = 30
/**
 * Of sampled checks, percent: on one ordinary day to the next some in a thousand change, where
 * lists of proxies come and go; a feed that calls a large provider something else is at once above.
 */
export const swapFlipsMaxPercentDefault = 2
/** How long feedback is kept: half a year is long enough to judge weights by. */
export const feedbackDaysDefault = 180
export const feedbackDaysMax = 3650
export const decisionLogFilesDefault = 10
export const decisionLogFilesMax = 1000

/** More often than this the publishers of feeds would not have it. */
export const refreshMsMin = 60_000
export const refreshMsMax = 2_592_000_000

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

/** Plans are read by people; the name is printed in tables and in errors. */
export const plansMax = 1000

// ---- src/policy -----------------------------------------------------------------------------

/** A policies file larger than this is some other file: a thousand rules are 300 KiB. */
export const policiesBytesMax = 1_048_576

/** Each policy remembers its decisions: two bytes for each record of the table and family. */
export const policiesMax = 32

/** Each is evaluated once for each record that is asked about; `policyStepsMax` bounds their work. */
export const rulesMax = 100

/** Room for some six hundred AS numbers; longer lists are lists of the operator's own. */
export const conditionCharsMax = 4000

/**
 * Steps (src/policy/condition/condition-program.ts) that all rules of a policy may take together on
 * the largest facts: 4.4 ms, and 13 ms on a busy machine (`npm run bench -- conditions`), far below
 * what looks like a hang. A hundred `"x" in lists` rules take 200,000; only loops over `lists` come near.
 */
export const policyStepsMax = 500_000

/** A few sentences for whoever reads the file next. */
export const policyDescriptionCharsMax = 500

// ---- src/account ----------------------------------------------------------------------------

/**
 * A key is 55 characters and `Bearer ` seven; the rest is room for spaces. Longer values are denied
 * before anything else looks at them, so that a flood of long ones costs no hashing.
 */
export const authorizationCharsMax = 128

/**
 * Verified Authorization values that a worker remembers. About 250 bytes each, so at most 16 MiB;
 * above it the oldest one goes and costs one SHA-256 when it comes back.
 */
export const verifiedKeysMax = 65_536

/** Rotation: the new secret and the one before it. */
export const secretsLiveMax = 2

/** A name is a label for people, printed in one line of a table. */
export const keyNameCharsMax = 100

/** The largest record has about 2,500 characters; later versions may add members. */
export const keyRecordCharsMax = 16_384

/** Contract 4: a key takes effect within one second; five looks a second leave room for a stall. */
export const keyRefreshMs = 200

/**
 * How long a server waits for its workers to read changed keys: they take milliseconds, and a worker
 * that is just being started a second or two.
 */
export const keyAcknowledgeMs = 5000

/** A worker maps compiled lists in milliseconds; one that hangs is replaced long before this. */
export const listsAcknowledgeMs = 5000

/**
 * How often a server looks whether its own lists have changed: within one second all workers have
 * a change, compiling included.
 */
export const listsPollMs = 200

/** A copy of a state folder: two million entries and half a million keys; V8 holds no longer text. */
export const stateFileBytesMax = 500_000_000

/** An entry of a list lasts at most ten years; what lasts longer has no end. */
export const listDaysMax = 3653

/** A week to bring a new secret to every caller, unless the operator says otherwise. */
export const rotationGraceHours = 168

/** A quarter of a year; a caller that needs both secrets longer needs two keys. */
export const rotationGraceHoursMax = 2160

/** A terminal's height of administrative acts, unless more are asked for. */
export const auditActsShown = 30

/** Acts are gathered in memory before they are printed, about 1 KiB each. */
export const auditActsShownMax = 100_000

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

/**
 * Leases of one worker that another one gives back if it dies: keys in use within `leaseIdleMs`.
 * 32 bytes each; of more keys a death loses a lease each.
 */
export const leaseSlots = 32_768

/** A second at more checks than a core can answer. */
export const leaseUnitsMax = 1_000_000

/** A lease lasts this long at the pace of the last one: two leases a second for each busy key. */
export const leaseAheadMs = 1000

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

/** Checks of one worker that wait for leases; more are refused at once. */
export const quotaWaitingMax = 10_000

/** A worker that ends waits at most this long for a ledger that does not take its leases back. */
export const leaseCloseMs = 2000

/** An answer of the store that takes longer is no answer; a usual one takes 1 ms. */
export const storeTimeoutMs = 300
export const storeTimeoutMsMin = 10
/** No check waits longer for a lease; the recovery within two seconds holds up to 500. */
export const storeTimeoutMsMax = 1000

/** How often each process looks whether its store is there. */
export const storeHeartbeatMs = 100

/** Without an answer for this long the connection is given up and a new one made. */
export const storeReconnectMs = 1000

/**
 * What a machine may take of a burst ahead of need, and what it may spend before it has asked: 1 in
 * 4 each. More serves longer bursts at once, less keeps many machines nearer to the limit.
 */
export const rateLeaseShare = 4

/** A lease of a rate is at least what the rate allows in this time, so that few are needed. */
export const rateLeaseMs = 100

/** Where the store has not enough, a machine asks for more of a key's rate this often, at most. */
export const rateRefillGapMs = 5

/** Leased rate that is not spent goes back after this. */
export const rateIdleMs = 3000

/** An answer about a rate that takes longer does not count; the machine asks anew then. */
export const rateAnswerMsMax = 2000

/** Good looks in a row that bring back a store that comes and goes: within a second. */
export const storeSuccessesMax = 8

/** What goes to the store for many keys at once is under way for so many of them. */
export const storeConcurrencyMax = 500

/** What is told of a store once is not told again for this long, however often it happens. */
export const storeReportAgainMs = 60_000

/** Of one master; more replicas than this are not for safety. */
export const storeReplicasMax = 16

// ---- build ----------------------------------------------------------------------------------

/**
 * The default of `flipsMaxPercent`. Of the 20,000 sampled verdicts none differed between nine
 * tables of consecutive real days, nor a week apart (docs/proof), so that 50 are no ordinary day;
 * all hosting feeds together are 407 of them, the VPN feeds 3.
 */
export const flipsMaxPercentDefault = 0.25

/** One run of fetching; a build that hangs on its feeds for longer is worse than one without them. */
export const fetchSecondsDefault = 900
/** Less is no time for one feed. */
export const fetchSecondsMin = 5
export const fetchSecondsMax = 86_400

/** The first start waits no longer for feeds: what is late comes in the background. */
export const firstFetchSeconds = 60

/**
 * Of the verdicts that the first build may change that has the feeds that the first start did not:
 * against a table without any feed all 72 change 1.8 % (build/acceptance/promote-table.ts).
 */
export const firstFlipsMaxPercent = 5

// ---- src/table ------------------------------------------------------------------------------

/**
 * No organization, place or provider has a longer name: of 259,184 texts of a world the longest has
 * as many. What is longer is a file gone wrong, or one made so that answers fill memory.
 */
export const tableTextCharsMax = 160
/** The same as UTF-8. */
export const tableTextBytesMax = 3 * tableTextCharsMax

/** The longest run of JSON: five texts before a place's city, and the names of their members. */
export const tableRunBytesMax = 5 * tableTextBytesMax + 256

// ---- src/publish ----------------------------------------------------------------------------

/** A release is half a kilobyte; sixteen of them signed are some 15 kB. */
export const manifestBytesMax = 131_072
/** Tables that a place offers, with those to go back to: a fortnight of days. */
export const manifestReleasesMax = 16
export const manifestStagesMax = 16
export const manifestWithdrawnMax = 64

/** A table of the world has some thousand parts, 150 bytes each; hashes hardly compress. */
export const partIndexBytesMax = 4_194_304
export const partIndexTextBytesMax = 16_777_216
export const segmentsMax = 256
export const segmentPartsMax = 65_536
/** As stored; what does not compress grows by some bytes. */
export const partBytesMax = 1_048_576

/** The one in use, and the next one while servers learn of it; a few more for several builders. */
export const trustedKeysMax = 8

/** Old parts that one run removes: a day leaves some hundred. */
export const placePruneMax = 5000
export const keepDaysDefault = 14
export const keepDaysMax = 3650

/** How often a server looks for a new manifest: one small request, nearly always "not modified". */
export const tablePollSecondsDefault = 15
export const tablePollSecondsMin = 1
export const tablePollSecondsMax = 86_400

// ---- src/http and src/supervisor ------------------------------------------------------------

/**
 * Connections of one worker: what proxies and services keep open is far less, and 10,000 slow ones
 * are about 100 MB, most of it the kernel's.
 */
export const connectionsDefault = 10_000

/** A kernel's usual bound of descriptors of one process. */
export const connectionsMax = 1_048_576

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
 * A body may come in so many pieces, and one more for each `bodyBytesAPieceMin` bytes of it: a
 * sender that writes a check byte by byte needs a hundred. Each chunk costs a quarter of a
 * microsecond, so a body of a megabyte in the smallest allowed pieces costs 20 ms.
 */
export const bodyPiecesFree = 256
export const bodyBytesAPieceMin = 16

/**
 * Refusals, and pieces of bodies that nobody reads, in one turn of a worker's loop: 20 ms of work at
 * the most. Far above what clients with a wrong key send in the same instant.
 */
export const strangerWorkMax = 4096

/**
 * After a refusal that was given before the body had come, so much of a body in chunks is read and
 * thrown away, for so long: a client that hears a reset while it still sends may never read why.
 */
export const refusedBytesMax = 65_536
export const refusedMsMax = 1000

/**
 * What the end of a worker takes after its last request: giving back leases, and half a second for
 * what a busy machine puts in between. It is killed only after that, for a kill loses its leases.
 */
export const workerClosingMs = leaseCloseMs + 500

// ---- src/pool -------------------------------------------------------------------------------

/** Threads of one worker; beyond the cores of any machine they only wait for each other. */
export const poolThreadsMax = 256

/** So many insights are a tenth of a second of a thread; more would wait too long. */
export const poolQueueDefault = 128

/**
 * A batch under way holds up to 1 MiB of addresses: this many are the memory of a large machine.
 */
export const poolQueueMax = 10_000

/** A batch or insights that take longer are given up: a client has long gone by then. */
export const poolRequestMsMax = 30_000

/** Names of one kind (countries, providers, rules of policies) that a metric has as labels. */
export const labelsCountedMax = 512

// ---- src/admin, src/console ------------------------------------------------------------------

/** Of --admin-tokens-file: people and programs of one machine; more have accounts elsewhere. */
export const adminTokensMax = 100

/** Ten thousand entries of a list of the longest kind, with room. */
export const adminBodyBytesMax = 2_097_152

/** Acts of an answer of /admin/audit, and how much of the end of the log is read for them. */
export const auditRowsMax = 1000
export const auditTailBytesMax = 8_388_608

/** Keys of an answer of /admin/keys, the newest: more are for `iprisk keys list`. */
export const adminKeysMax = 2000

/** People who look at one machine at the same time, each with some browsers. */
export const consoleSessionsMax = 100
/** A working day; who is away for an hour has gone. */
export const consoleSessionMsMax = 43_200_000
export const consoleIdleMsMax = 3_600_000

/** Of one client address: whoever mistypes stops before, whoever guesses gets nowhere. */
export const consoleLoginsPerMinute = 10
/** Client addresses that are counted; while there are more, others wait for the next minute. */
export const consoleLoginAddressesMax = 1000

/** What a person pastes; `iprisk check` takes any number. */
export const consoleAddressesMax = 10_000
/** A log for a rehearsal: some 10,000 requests. */
export const consoleLogBytesMax = 2_000_000
/** Rehearsals that are remembered, the newest. */
export const consoleRehearsalsKept = 20

/** One answer of the console's process; one that takes longer is ended. */
export const consoleAskMsMax = 30_000
/** The process ends when nobody has asked for so long. */
export const consoleProcessIdleMs = 300_000
/** Questions that wait for it; more get 503. */
export const consoleAsksMax = 64

/** A point a minute for a day. */
export const trafficMinutesMax = 1440
/** Names of one sketch: each that has more than 1 in 64 of the checks is in it. */
export const trafficNamesMax = 64

// ---- src/cli --------------------------------------------------------------------------------

/**
 * The longest line of a file of addresses, a log or NDJSON; what has longer ones is something else.
 */
export const lineBytesMax = 4_194_304

/** Rows of each list of a summary: what fits a screen, and what is still a list. */
export const topShown = 10
export const topMax = 100_000

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
