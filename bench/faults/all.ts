// Every long proof as a row: its name, what it shows, about how long it takes, what it needs, and
// the function that tries it. The next one is one more row.

import { clientFaults } from './clients/logins.ts'
import { pythonClientFaults } from './clients/python-logins.ts'
import { damage, forged } from './table/broken-tables.ts'
import { diskFaults } from './compiler/disk-faults.ts'
import { flips } from './compiler/flips.ts'
import { fleet } from './fleet/fleet.ts'
import { killBuild, killImport, killWorld } from './compiler/kills.ts'
import { bouncerStream } from './server/bouncer-stream.ts'
import { gateLogins } from './server/gate-logins.ts'
import { serverLives } from './server/lives.ts'
import { mixedMemory } from './server/mixed-memory.ts'
import { pastDays } from './compiler/past-days.ts'
import { mutate } from './server/mutate.ts'
import { mutants } from './mutants/mutants.ts'
import { overload } from './server/overload.ts'
import type { Proof } from '../harness/proof.ts'
import { soak } from './server/soak.ts'
import { storms } from './server/storms.ts'
import { swapFaults } from './server/swap-faults.ts'
import { swaps } from './server/swaps.ts'
import { inTests } from './tests.ts'
import { slowClients } from './server/slow.ts'

export const proofs: readonly Proof[] = [
  {
    name: 'kill-import',
    shows:
      'kill -9 at any point of `history import` loses no day and leaves no half of one; the next ' +
      'import completes to the same store.',
    minutes: { short: 2, long: 10 },
    run: killImport,
  },
  {
    name: 'kill-build',
    shows:
      'kill -9 at any point of `build` leaves the old table or the new one live, whole, and the ' +
      'history too; the next build gives the same bytes as one that was never killed.',
    minutes: { short: 2, long: 10 },
    run: killBuild,
  },
  {
    name: 'kill-world',
    shows: 'the same two hold on the world: all feeds, and all days of the shared history.',
    minutes: { short: 5, long: 12 },
    needsFeeds: true,
    run: killWorld,
  },
  {
    name: 'disk-faults',
    shows:
      'on a disk that fills up, and with reads, writes, flushes and renames that fail, a run ends ' +
      'with a message, what is live stays whole, and the next run on a good disk ends as if nothing ' +
      'had been.',
    minutes: { short: 4, long: 20 },
    run: diskFaults,
  },
  {
    name: 'flips',
    shows:
      'from one real day to the next fewer verdicts of the sample differ than the gate allows, so ' +
      'that it stops builds gone wrong and not ordinary days.',
    minutes: { short: 2, long: 6 },
    needsFeeds: true,
    run: flips,
  },
  {
    name: 'past-days',
    shows:
      'on real past days the table that `explain --at` makes of the history answers as the table of ' +
      'a build on that day, whose mirror and history end there.',
    minutes: { short: 3, long: 15 },
    needsFeeds: true,
    run: pastDays,
  },
  {
    name: 'limit-models',
    shows:
      'in any order of requests, refunds, crashes, restarts, partitions, jumps of the clock and ' +
      'changes of plans no quota is over-granted, a rate passes its limit by at most one lease a ' +
      'machine, and every unit that is taken is spent or was lost by a crash.',
    minutes: { short: 2, long: 12 },
    run: inTests(
      ['test/account/limits/limiter.test.ts', 'test/account/limits/machines/many-machines.test.ts'],
      (form) => {
        const times = form === 'long' ? 40 : 5
        return {
          IPRISK_LIMITER_RUNS: String(1500 * times),
          IPRISK_NODES_RUNS: String(1000 * times),
          IPRISK_NODES_SEED: String(Date.now() % 1_000_000),
        }
      },
    ),
  },
  {
    name: 'properties',
    shows:
      'the rules of the verdict hold on drawn evidence (300,000 sets in the long form), and a flipped ' +
      'bit in any byte outside the sections of a table is noticed.',
    minutes: { short: 1, long: 5 },
    run: inTests(['test/score/properties.test.ts', 'test/table/file/corrupt-table.test.ts']),
  },
  {
    name: 'sets',
    shows:
      'a published set of a drawn condition or policy (1,000 conditions in the long form) is what a ' +
      'scan of `check` finds, at its edges and at 10,000 drawn addresses; it never has what an own ' +
      'allow list names, nor more prefixes than the fewest.',
    minutes: { short: 1, long: 2 },
    run: inTests(['test/sets/condition-set.test.ts', 'test/sets/published-set.test.ts']),
  },
  {
    name: 'mutants',
    shows:
      'of the single-token mutants of the core (60 drawn ones, 300 in the long form) that change ' +
      'what it does, `npm test` notices 92 %.',
    minutes: { short: 15, long: 60 },
    run: mutants,
  },
  {
    name: 'kill-limits',
    shows:
      'kill -9 of workers, of the primary and of all of them under the load of 64 connections ' +
      'grants no unit twice and no request above the rate; what the dead had leased comes back.',
    minutes: { short: 2, long: 6 },
    run: inTests(['test/serve/limits-kill.world.test.ts'], (form) => ({
      IPRISK_TEST_KILLS: form === 'long' ? '200' : '50',
    })),
  },
  {
    name: 'store-failover',
    shows:
      'a store for many machines that is frozen, killed, full or failed over under load forgets no ' +
      'unit that was granted, with the settings that docs/keys.md names, and is taken up again.',
    minutes: { short: 2, long: 2 },
    run: inTests(
      [
        'test/account/stores/redis/failover.world.test.ts',
        'test/account/limits/machines/many-machines.world.test.ts',
        'test/serve/store/store.world.test.ts',
      ],
      () => ({ IPRISK_TEST_LONG: '1' }),
    ),
  },
  {
    name: 'swaps',
    shows:
      'tables are swapped in and bad ones refused under load: no request fails, the p99.9 in the ' +
      'second of a swap is at most twice the steady one, no loop waits for more than 5 ms, and ' +
      'memory comes back to 3 %.',
    minutes: { short: 6, long: 24 },
    run: swaps,
  },
  {
    name: 'swap-faults',
    shows:
      'on a disk that fails at any call of any step of a swap the table in use answers on, nothing ' +
      'half-written stays, and the next swap on a good disk is made.',
    minutes: { short: 1, long: 5 },
    run: swapFaults,
  },
  {
    name: 'lives',
    shows:
      'workers that are killed or hang are replaced within a second and cost no more than the ' +
      'requests that were on them; restarts one by one and a takeover cost no request.',
    minutes: { short: 4, long: 30 },
    run: serverLives,
  },
  {
    name: 'stream',
    shows:
      'a bouncer of 500,000 decisions that applies every difference of the stream has, after a table, ' +
      'a list change, a restart and pulls that are cut off, what one has that starts over; no loop ' +
      'is held for 20 ms.',
    minutes: { short: 3, long: 3 },
    run: bouncerStream,
  },
  {
    name: 'gate',
    shows:
      'behind nginx as deploy/gate/ has it, no login (100,000 in the long form) is answered with 5xx ' +
      'while tables and policies change and workers are killed and replaced; at most one in a ' +
      'thousand is let in undecided, and the application is told of each.',
    minutes: { short: 1, long: 4 },
    run: gateLogins,
  },
  {
    name: 'soak',
    shows:
      'half an hour of load and swaps (the long form) leaves memory and descriptors where they were, ' +
      'and of the longest delays of the loops the median is at most 50 ms; two minutes (the short ' +
      'one) lose no request, worker or descriptor.',
    minutes: { short: 3, long: 31 },
    run: soak,
  },
  {
    name: 'mixed-memory',
    shows:
      'under checks, insights, batches and clients that go away in the middle, all at once, a ' +
      "worker's memory stays as it is. Needs a built table, the tests' or --table FILE.",
    minutes: { short: 2, long: 10 },
    run: mixedMemory,
  },
  {
    name: 'mutate',
    shows:
      'requests bent at random kill no worker, are answered with no failure of the server, are held ' +
      'for at most 12 seconds and leave its memory within 5 %.',
    minutes: { short: 1, long: 30 },
    run: mutate,
  },
  {
    name: 'slow',
    shows:
      'beside a thousand slow headers, bodies or readers the p99 of good traffic at most doubles, and ' +
      'the slow ones are cut.',
    minutes: { short: 3, long: 25 },
    run: slowClients,
  },
  {
    name: 'overload',
    shows:
      'five times the connections that a server is set to hold leave those within 90 % of their ' +
      'goodput, are closed at accept and counted, and are forgotten within a second.',
    minutes: { short: 1, long: 11 },
    run: overload,
  },
  {
    name: 'attack-storms',
    shows:
      'no traffic of a stranger without a key ends a worker or makes an honest request fail: crumbs ' +
      'of chunks, headers, pipelines, refused framing, aborts, 9,000 connections. Nor does a flood of ' +
      'TLS handshakes end a worker.',
    minutes: { short: 3, long: 20 },
    run: storms,
  },
  {
    name: 'attack-framing',
    shows:
      'honest forms and clients get what docs/hostile.md says, alone and behind nginx and HAProxy; of ' +
      '270 dishonest ones none is served twice.',
    minutes: { short: 1, long: 5 },
    run: inTests([
      'test/hostile/framing.server.test.ts',
      'test/hostile/framing-behind-proxies.world.test.ts',
      'test/hostile/honest-requests.world.test.ts',
      'test/hostile/hidden-length.server.test.ts',
      'test/hostile/chunks.server.test.ts',
    ]),
  },
  {
    name: 'attack-text',
    shows: 'no text of a feed, a log, a table or an argument steers a terminal or a spreadsheet.',
    minutes: { short: 1, long: 5 },
    run: inTests([
      'test/cli/terminal/hostile-text.world.test.ts',
      'test/cli/terminal/process-io.test.ts',
      'test/bulk/rows/csv-cell.test.ts',
    ]),
  },
  {
    name: 'attack-configuration',
    shows:
      'whatever a configuration is and says, it is read or refused with a message, and nobody waits.',
    minutes: { short: 1, long: 5 },
    run: inTests([
      'test/config/config-file.test.ts',
      'test/base/system/trusted-file.test.ts',
      'test/base/system/bounded-file.test.ts',
      'test/cli/configuration.world.test.ts',
    ]),
  },
  {
    name: 'attack-inputs',
    shows:
      'what files unpack to is bounded, no regular expression takes more time than its input is long, ' +
      'and each of 100,000 mutated lines of logs (a million in the long form) is counted once.',
    minutes: { short: 1, long: 5 },
    run: inTests([
      'test/build/parse/parse-file.test.ts',
      'test/build/parse/cut-lines.test.ts',
      'test/build/fetch/http-get.test.ts',
      'test/build/mmdb/damaged-file.test.ts',
      'test/build/import-history.test.ts',
      'test/bulk/log-line.test.ts',
      'test/lists/list-forms.test.ts',
      'test/structure/regex-growth.world.test.ts',
    ]),
  },
  {
    name: 'exports',
    shows:
      'exports of the world in every format, read back by the programs that they are made for, say of ' +
      '200,000 addresses what `check` says; the short form exports a part of the largest.',
    minutes: { short: 2, long: 6 },
    needsFeeds: true,
    run: inTests(['test/export/export.world.test.ts'], (form) =>
      form === 'long' ? { IPRISK_TEST_LONG: '1' } : {},
    ),
  },
  {
    name: 'image',
    shows:
      'the image of deploy/docker is built, and runs read-only, as its own user, without a capability; ' +
      'it is probed, asked and drained as deploy/kubernetes says. Needs root, buildah, crun and ' +
      'debootstrap.',
    minutes: { short: 4, long: 4 },
    run: inTests(['test/deploy/image.proof.ts']),
  },
  {
    name: 'client-faults',
    shows:
      'ten thousand logins, together and alone, through delays, cuts, resets, silence, garbage, 60 MB ' +
      'and floods of 401, 429, 500 and 503 ' +
      'wait no longer than the time-out and 20 ms (p99.9) or 100 ms (any), none throws, and every ' +
      'one that is let in without an answer is counted and told.',
    minutes: { short: 1, long: 8 },
    run: clientFaults,
  },
  {
    name: 'client-python-faults',
    shows:
      'ten thousand logins through the client for Python, with threads and with asyncio, meet the same ' +
      'faults, wait no longer than the time-out and 50 ms (p99.9), and are all counted and told. Needs ' +
      'httpx (python3-httpx).',
    minutes: { short: 1, long: 8 },
    run: pythonClientFaults,
  },
  {
    name: 'client-together',
    shows:
      '20,000 checks that a client sends together (100,000 in the long form) have the results and ' +
      'counts that they have alone, for random mixes of addresses, policies, lists and faults.',
    minutes: { short: 1, long: 1 },
    run: inTests(['test/client/core/coalescing.test.ts']),
  },
  {
    name: 'fleet',
    shows:
      'behind HAProxy, with one Redis and one S3-compatible store, twenty servers take table after ' +
      'table (twenty of them in the long form) under load while servers, store and Redis are killed, ' +
      'frozen and cut and old or foreign manifests are shown: no check fails at the proxy, every ' +
      'server has the newest table within two polls of 15 s and the time that so many swaps take of ' +
      'the cores of one machine (2 s of one core each), and none is ever seen with another one.',
    minutes: { short: 6, long: 20 },
    run: fleet,
  },
  {
    name: 'damage',
    shows:
      'every damage that a table file can know of is refused by verify, and whatever a file says, ' +
      'opening it and looking up in it ends no process. With --table FILE also of that table, at ' +
      'random places.',
    minutes: { short: 2, long: 10 },
    run: damage,
  },
  {
    name: 'attack-tables',
    shows:
      'a table that somebody forged with checksums that fit is refused by verify, or every answer of ' +
      'it is JSON of the schema; and no answer of a table that nobody has verified takes long or ' +
      'ends in anything but an answer or an error with a code.',
    minutes: { short: 2, long: 12 },
    run: forged,
  },
]
