// Every option of the command line, one row each: its member of the settings, flag, commands, help,
// values and default. All else follows (options.ts). A member that begins with `invocation.`
// belongs to one call: it has no place in the file.

import { availableParallelism } from 'node:os'
import { z } from 'zod'
import * as limits from '../base/limits.ts'
import { changeThresholds } from '../model/change-thresholds.ts'
import { listEffects } from '../model/kind.ts'
import {
  bulkCommands,
  type Command,
  feedbackCommands,
  forceCommands,
  inspectCommands,
  jsonCommands,
  lineCommands,
  policyCommands,
  publishCommands,
  serverCommands,
  storeCommands,
} from './command-groups.ts'
import { exportFormats, mmdbLayoutNames } from './export-formats.ts'
import { logWords, timeSpans, checkFields, checkFormats } from './line-formats.ts'
import { defaultPlans } from './plan.ts'
import * as is from './setting-checks.ts'

/** Its type has a default, or is `exactOptional`. `start` has every option of `serve`. */
function option<T extends z.ZodType>(
  flag: `--${string}`,
  commands: readonly Command[],
  row: {
    readonly help: string
    readonly type: T
    /** Default: named after the flag. */
    readonly variable?: string
    /** For shell completion, where the type allows any text. */
    readonly suggested?: readonly string[]
  },
) {
  const own: readonly Command[] = commands.includes('serve') ? [...commands, 'start'] : commands
  return { flag, commands: own, ...row }
}

function optionOf<T extends z.ZodType>(type: T) {
  return (flag: `--${string}`, commands: readonly Command[], row: { readonly help: string }) =>
    option(flag, commands, { ...row, type })
}

/** Takes no value; off by default. */
const toggle = optionOf(is.onOff.default(false))
const fileOption = optionOf(is.path.exactOptional())

export const optionTable = {
  table: option(
    '--table <file>',
    [
      'serve',
      'publish',
      'explain',
      'export',
      'feedback report',
      ...bulkCommands,
      ...inspectCommands,
    ],
    { help: 'the table file', type: is.path.default('data/table/world.iprisk') },
  ),
  state: option(
    '--state <folder>',
    [
      'serve',
      'replay',
      ...serverCommands,
      ...storeCommands,
      ...feedbackCommands,
      ...inspectCommands,
    ],
    {
      help: 'the folder for keys and quotas; must be on a local disk',
      type: is.path.default('data/state'),
    },
  ),
  policies: fileOption(
    '--policies <file>',
    ['serve', 'check', 'explain', 'feedback report', ...policyCommands],
    { help: 'the policies file; ./policies.json if it exists' },
  ),
  // It may hold a password: show only `redactStoreUrl` of it.
  'store.url': option('--store <url>', ['serve', ...storeCommands], {
    help: 'a Redis or Valkey that shares keys and limits between machines; the state folder by default',
    type: is.storeAddress.exactOptional(),
  }),
  'store.passwordFile': fileOption('--store-password-file <file>', ['serve', ...storeCommands], {
    help: 'the file with the password of the store',
  }),
  'store.caFile': fileOption('--store-ca-file <file>', ['serve', ...storeCommands], {
    help: "the CA certificates (PEM) for the store; Node's own by default",
  }),
  'store.keysFile': fileOption('--keys-file <file>', ['serve'], {
    help: 'read keys from this file, written by "keys export", and reread it whenever it changes',
  }),
  'store.policy': option('--store-policy <policy>', ['serve'], {
    help: 'requests that need the store while it is unreachable: refuse (503), or serve uncounted',
    type: is.oneOf(['refuse', 'serve']).default('refuse'),
  }),
  'store.timeoutMs': option('--store-timeout-ms <n>', ['serve', ...storeCommands], {
    help: 'timeout for one answer of the store',
    type: is.whole([10, limits.storeTimeoutMsMax], 'milliseconds').default(limits.storeTimeoutMs),
  }),
  // More replicas add no safety.
  'store.replicas': option('--store-replicas <n>', ['serve', ...storeCommands], {
    help: 'how many replicas must confirm a lease or a key before it counts; set it if the store fails over',
    type: is.whole([0, 16], 'replicas').default(0),
  }),
  'serve.port': option('--port <port>', ['serve', 'replay', ...serverCommands, 'doctor'], {
    help: 'the port of the API; 0 picks a free one',
    type: is.port.default(8080),
  }),
  'serve.host': option('--host <address>', ['serve', 'doctor'], {
    help: 'the address that the API listens on',
    type: is.host.default('127.0.0.1'),
  }),
  'serve.adminPort': option('--admin-port <port>', ['serve', ...inspectCommands], {
    help: 'the port of metrics and health; 0 picks a free one',
    type: is.port.default(9090),
  }),
  'serve.adminHost': option('--admin-host <address>', ['serve', ...inspectCommands], {
    help: 'the address that metrics and health listen on',
    type: is.host.default('127.0.0.1'),
  }),
  'serve.adminSocket': option('--admin-socket <file>', ['serve', ...inspectCommands], {
    help: 'a Unix socket for metrics and health, instead of the admin port',
    type: is.socketPath.exactOptional(),
  }),
  'serve.adminAllowedHosts': option('--admin-allowed-hosts <names>', ['serve'], {
    help: 'host names accepted for metrics and health besides addresses, comma-separated',
    type: z.array(is.host, 'a list of host names').default([]),
  }),
  'serve.adminTokenFile': fileOption('--admin-token-file <file>', ['serve', ...inspectCommands], {
    help: 'the file with the token for metrics and status; required beyond loopback',
  }),
  'serve.adminTokensFile': fileOption('--admin-tokens-file <file>', ['serve'], {
    help: 'a file with more tokens, one per line: role (viewer, analyst, admin), name, token',
  }),
  'serve.console': option('--console <on|off>', ['serve'], {
    help: 'serve the web console at /console of the admin port: on or off',
    type: is.oneOf(['on', 'off']).default('on'),
  }),
  'serve.tlsCertFile': fileOption('--tls-cert-file <file>', ['serve', 'doctor'], {
    help: 'the certificate chain (PEM) of the API, which then accepts only TLS',
  }),
  'serve.tlsKeyFile': fileOption('--tls-key-file <file>', ['serve', 'doctor'], {
    help: 'the private key (PEM) of the certificate',
  }),
  'serve.tlsMinVersion': option('--tls-min-version <version>', ['serve', 'doctor'], {
    help: 'the oldest accepted TLS version: 1.2 or 1.3',
    type: is.oneOf(['1.2', '1.3']).default('1.2'),
  }),
  // Far above any machine, so that a typing error does not fork ten thousand processes.
  'serve.workers': option('--workers <n>', ['serve', 'doctor'], {
    help: 'number of worker processes; the number of cores by default',
    type: is.whole([1, 1024], 'processes').default(availableParallelism),
  }),
  // More than any machine has cores.
  'serve.poolThreads': option('--pool-threads <n>', ['serve'], {
    help: 'threads per process for insights and batches',
    type: is.whole([1, 256], 'threads').default(1),
  }),
  // A thread answers 128 insights in a tenth of a second. A batch holds up to 1 MiB of addresses:
  // 10,000 of them fill the memory of a large machine.
  'serve.poolQueue': option('--pool-queue <n>', ['serve'], {
    help: 'how many insights and batches each process accepts at once; more get 503',
    type: is.whole([1, 10_000], 'requests').default(128),
  }),
  // Far more than proxies and services keep open; 10,000 slow connections take about 100 MB, mostly
  // in the kernel. The maximum is a kernel's usual limit on descriptors.
  'serve.connections': option('--connections <n>', ['serve'], {
    help: 'how many connections each process holds at once; further ones are closed at accept',
    type: is.whole([1, 1_048_576], 'connections').default(10_000),
  }),
  'serve.connectionsPerAddress': option('--connections-per-address <n>', ['serve'], {
    help: 'how many of them one IPv4 address or IPv6 /64 may hold; 0, the default, means no limit',
    type: is.whole([0, 1_048_576], 'connections').default(0),
  }),
  'serve.gate': option('--gate <host:port>', ['serve'], {
    help: 'also listen here for reverse proxies, which check their visitors without a key',
    type: is.hostPort.exactOptional(),
  }),
  'serve.gatePeers': option('--gate-peers <ranges>', ['serve'], {
    help: 'the proxies that may use the gate, loopback by default: prefixes or presets, comma-separated',
    type: is.proxyRanges.exactOptional(),
  }),
  'serve.gateHeader': option('--gate-header <name>', ['serve'], {
    help: "the header in which those proxies send the visitor's address",
    type: is.oneOf(is.addressHeaders).default('x-forwarded-for'),
  }),
  'serve.gateTrust': option('--gate-trust <n|ranges>', ['serve'], {
    help: 'the number of proxies in front of the gate, or their prefixes and presets',
    type: is.proxyTrust.default(['1']),
  }),
  'serve.gateChallenge': option('--gate-challenge <pass|401>', ['serve'], {
    help: "the gate's answer to a challenge: pass (204 with a header) or 401",
    type: is.oneOf(['pass', '401']).default('pass'),
  }),
  'serve.docs': option('--docs <on|off>', ['serve'], {
    help: 'serve the API reference at /docs: on or off',
    type: is.oneOf(['on', 'off']).default('on'),
  }),
  // Orchestrators kill whatever drains for longer.
  'serve.drainSeconds': option('--drain-seconds <s>', ['serve'], {
    help: 'how long open requests may run after SIGTERM',
    type: is.whole([0, 3600], 'seconds').default(10),
  }),
  // By then, a load balancer that polls every ten seconds has seen /readyz fail three times.
  'serve.graceSeconds': option('--grace-seconds <s>', ['serve'], {
    help: 'how long /readyz answers 503 after SIGTERM before the port closes',
    type: is.whole([0, 300], 'seconds').default(0),
  }),
  // Below 300 ms, garbage collection may look like a hang. 500 ms is six missed heartbeats; with
  // its successor's start, a worker is replaced within a second.
  'serve.hangMs': option('--hang-ms <n>', ['serve'], {
    help: 'how long a process may miss heartbeats before it is killed and replaced',
    type: is.whole([300, 600_000], 'milliseconds').default(500),
  }),
  // A worker with a hundred thousand keys holds some 200 MiB; a leak passes this in time.
  'serve.workerMemoryMb': option('--worker-memory-mb <n>', ['serve'], {
    help: 'private memory at which a process is replaced, in MiB',
    type: is.whole([limits.workerMemoryMbMin, 1_048_576], 'MiB').default(2048),
  }),
  'serve.refreshEvery': option('--refresh-every <span>', ['serve'], {
    help: 'how often to fetch the feeds and build the table: 1h or off; 24h by default for start, off for serve',
    type: is.refreshSpan.exactOptional(),
  }),
  'serve.tableUrl': option('--table-url <url>', ['serve'], {
    help: 'where to pull published tables from: https://…, s3://bucket/prefix or file:///folder',
    type: is.tableSource.exactOptional(),
  }),
  'serve.tableTrust': option('--table-trust <keys>', ['serve'], {
    help: 'the public keys whose tables are trusted, comma-separated',
    type: is.trustedKeys.default([]),
  }),
  'serve.tablePlace': option('--table-place <name>', ['serve'], {
    help: 'the place name to accept, as signed by its publisher; by default that of the first manifest',
    type: is.placeName.exactOptional(),
  }),
  // A poll is one small request, nearly always "not modified".
  'serve.tablePollSeconds': option('--table-poll-seconds <s>', ['serve'], {
    help: 'how often to poll for a new table, give or take a fifth',
    type: is.whole([1, 86_400], 'seconds').default(15),
  }),
  'serve.machineName': option('--machine-name <name>', ['serve'], {
    help: 'the name by which stages select this machine; the host name by default',
    type: is.keyName.exactOptional(),
  }),
  'publish.to': option('--publish <place>', ['build', 'serve'], {
    help: 'where to publish the new table: a folder or s3://bucket/prefix',
    type: is.publishPlace.exactOptional(),
  }),
  'publish.placeName': option('--place-name <name>', publishCommands, {
    help: 'the place name signed with a table; the folder or s3://bucket/prefix by default',
    type: is.placeName.exactOptional(),
  }),
  'publish.signingKey': option(
    '--signing-key <file>',
    [...publishCommands, 'keys signing create'],
    {
      help: 'the private key that signs published tables',
      type: is.path.default('data/signing-key.pem'),
    },
  ),
  'publish.stage': option('--stage <stages>', publishCommands, {
    help: 'staged rollout, as shares of the machines: 10%,50%+1h,100%+4h; all at once by default',
    type: is.stages.default([]),
  }),
  'publish.keepDays': option('--keep-days <n>', publishCommands, {
    help: 'how long replaced tables and their parts stay published',
    type: is.whole([1, 3650], 'days').default(14),
  }),
  'invocation.rollbackTo': option('--rollback-to <id>', ['publish'], {
    help: 'publish nothing; roll servers back to this published table',
    type: is.textOf('the id of a table', (value) => value !== '').exactOptional(),
  }),
  'invocation.takeover': toggle('--takeover', ['serve'], {
    help: 'take over from the server on this port without refusing a connection',
  }),
  'serve.logLevel': option('--log-level <level>', ['serve'], {
    help: 'the lowest level to log',
    type: is.oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  }),
  'serve.logAddresses': toggle('--log-addresses', ['serve'], {
    help: 'log the addresses of callers and checks',
  }),
  'serve.logAddressForm': option('--log-address-form <form>', ['serve'], {
    help: 'how addresses are logged: full, short (/24 and /48) or keyed (a keyed hash)',
    type: is.oneOf(['full', 'short', 'keyed']).default('full'),
  }),
  'serve.logAddressKeyFile': fileOption('--log-address-key-file <file>', ['serve'], {
    help: 'the file with the key for --log-address-form keyed',
  }),
  'serve.decisionLog': option('--decision-log <file>', ['serve'], {
    help: 'write each answer and its decision as a line of JSON; - is standard output',
    type: is.outputPlace.exactOptional(),
  }),
  'serve.decisionLogShare': option('--decision-log-share <share>', ['serve'], {
    help: 'the share of answers to log, sampled at random; all by default',
    type: is.share.exactOptional(),
  }),
  // 100 MiB hold some 300,000 decisions.
  'serve.decisionLogMb': option('--decision-log-mb <n>', ['serve'], {
    help: 'the size at which the decision log is rotated to FILE.1, in MiB',
    type: is.whole([1, 1_048_576], 'MiB').default(100),
  }),
  'serve.decisionLogFiles': option('--decision-log-files <n>', ['serve'], {
    help: 'how many rotated files of the decision log to keep',
    type: is.whole([1, 1000], 'files').default(10),
  }),
  // The maximum is twice what is ever needed: of 100,000, one in fifty has an interval of 1.9 to
  // 2.1 %.
  'serve.sample': option('--sample <n>', ['serve'], {
    help: 'sample size of traffic for judging new tables; 0, the default, turns sampling off',
    type: is.whole([0, 200_000], 'addresses').default(0),
  }),
  'serve.swapFlipsMax': option('--swap-flips-max <share>', ['serve'], {
    help: 'the share of sampled addresses whose decision a new table may change; 2% by default',
    type: is.share.exactOptional(),
  }),
  // Half a year is long enough for judging weights.
  'serve.feedbackDays': option('--feedback-days <n>', ['serve'], {
    help: 'how many days to keep feedback',
    type: is.whole([1, 3650], 'days').default(180),
  }),
  'feedback.lists': toggle('--feedback-lists', ['serve'], {
    help: 'let outcomes add addresses to the own lists reported and reported-shared',
  }),
  // It wins over the mirror.
  'build.offline': toggle('--offline', ['build', 'start'], {
    help: 'use the stored snapshots, fetch nothing',
  }),
  'build.mirror': option('--mirror <url>', ['build', 'feeds fetch', 'start'], {
    help: 'download each feed from <url>/<feed-id>/<file>',
    type: is.webAddress.exactOptional(),
  }),
  // Less than 5 s is too short for a single feed.
  'build.fetchSeconds': option('--fetch-seconds <s>', ['build', 'feeds fetch'], {
    help: 'time limit for all downloads; feeds that miss it keep their stored snapshot',
    type: is.whole([5, 86_400], 'seconds').default(limits.fetchSecondsDefault),
  }),
  'build.asOf': option('--as-of <day>', ['build', 'history show'], {
    help: 'treat this day, YYYY-MM-DD, as today; later snapshots are clamped to it and listed in a warning',
    type: is.day.exactOptional(),
  }),
  'build.out': fileOption('--out <file>', ['build'], {
    help: 'the file to write the table to; the table file by default',
  }),
  'build.report': fileOption('--report <file>', ['build'], {
    help: 'the file to write the build report to; report.json next to the table by default',
  }),
  'build.snapshots': option(
    '--snapshots <folder>',
    ['build', 'explain', 'feeds list', 'feeds fetch'],
    { help: 'the folder for downloaded feeds', type: is.path.default('data/snapshots') },
  ),
  'invocation.at': option('--at <day>', ['explain'], {
    help: 'judge as of this past day, YYYY-MM-DD, with a table made from the history, not --table',
    type: is.day.exactOptional(),
  }),
  'build.history': option(
    '--history <folder>',
    ['build', 'explain', 'history import', 'history show'],
    { help: 'the folder for past observations', type: is.path.default('data/history') },
  ),
  'build.feedsFolder': fileOption(
    '--feeds-folder <folder>',
    ['build', 'explain', 'start', 'feeds list', 'feeds fetch', 'history import'],
    {
      help: 'a folder with your own feeds and changes to feeds: <id>.json, complete or only the members to change',
    },
  ),
  'build.allFeeds': toggle('--all-feeds', ['build', 'feeds list', 'feeds fetch'], {
    help: 'use every feed, even those off by default: read their licences first',
  }),
  // Only in the file; it wins over the catalogue and `allFeeds`.
  'build.feeds': { type: is.feedSwitches.default({}) },
  'build.networks': option('--networks <file...>', ['build'], {
    help: 'files that map addresses to networks, instead of the default ones',
    type: is.paths.default([]),
  }),
  'build.locations': option('--locations <file...>', ['build'], {
    help: 'files that map addresses to locations, instead of the default ones',
    type: is.paths.default([]),
  }),
  'build.flipsMaxPercent': option('--flips-max-percent <n>', ['build'], {
    help: 'the percentage of sampled verdicts that a new table may change before it is rejected',
    type: is.percent.default(changeThresholds.build),
  }),
  'invocation.needFeeds': toggle('--need-feeds', ['build'], {
    help: 'fail without building if no feed can be fetched',
  }),
  'invocation.keepDataSets': toggle('--keep-data-sets', ['build'], {
    help: 'do not fetch networks and locations; use the newest stored ones',
  }),
  'invocation.force': toggle('--force', forceCommands, {
    help: 'skip the acceptance check: of a new table, of imported days, or of a wide list entry',
  }),
  'invocation.json': toggle('--json', jsonCommands, { help: 'write JSON' }),
  'invocation.front': option('--front <url>', ['doctor'], {
    help: 'also test the proxy in front of the API, by its URL',
    type: is.webAddress.exactOptional(),
  }),
  'invocation.column': option('--column <column>', lineCommands, {
    help: 'the CSV column with the address: its name in the first line, or its number from 1',
    type: is.textOf('the name or number of a column', (value) => value !== '').exactOptional(),
  }),
  'invocation.jsonField': option('--json-field <path>', lineCommands, {
    help: 'the member of JSON lines with the address: client, or request.remote_ip',
    type: is.textOf('the path of a member', (value) => value !== '').exactOptional(),
  }),
  'invocation.log': option('--log <form>', lineCommands, {
    help: 'the log format; auto, the default, detects it from the first lines; docs/logs.md lists all',
    type: is.oneOf(logWords).exactOptional(),
  }),
  'invocation.delimiter': option('--delimiter <character>', lineCommands, {
    help: 'the CSV delimiter, a character or tab; by default the most frequent one in the first line',
    type: is
      .textOf('one character, or tab', (value) => /^(?:[!-~]|tab)$/.test(value))
      .exactOptional(),
  }),
  'invocation.trust': option('--trust <proxies>', lineCommands, {
    help: 'which of several addresses in a log line is the client: the number of proxies, or their addresses, prefixes and presets, comma-separated; by default the last public address',
    type: is.textOf('a number of proxies, or proxies', (value) => value !== '').exactOptional(),
  }),
  'invocation.since': option('--since <time>', lineCommands, {
    help: 'only log lines from this time on: 2026-08-22, 2026-08-22T10:00Z, or a span before now such as 24h',
    type: is.moment.exactOptional(),
  }),
  'invocation.until': option('--until <time>', lineCommands, {
    help: 'only log lines before this time',
    type: is.moment.exactOptional(),
  }),
  'invocation.by': option('--by <span>', ['summarize'], {
    help: 'also count the requests of a log by hour or day, in UTC',
    type: is.oneOf(timeSpans).exactOptional(),
  }),
  'invocation.format': option('--format <format>', ['check'], {
    help: 'json, csv or text; by default text on a terminal, else json',
    type: is.oneOf(checkFormats).exactOptional(),
  }),
  'invocation.exportFormat': option('--format <format>', ['export'], {
    help: `the format to write: ${exportFormats.join(', ')}`,
    type: is.oneOf(exportFormats).exactOptional(),
    variable: 'IPRISK_EXPORT_FORMAT',
  }),
  'invocation.exportFile': option('--out <file>', ['export'], {
    help: 'the file to write, with the NOTICE beside it; - is standard output',
    type: is.outputPlace.exactOptional(),
    // Not IPRISK_OUT, which names the table of `build`.
    variable: 'IPRISK_EXPORT_OUT',
  }),
  'invocation.where': option('--where <condition>', ['export'], {
    help: 'only addresses that match: signals.tor || risk_score >= 75',
    type: is.textOf('a condition in CEL', (value) => value !== '').exactOptional(),
  }),
  'invocation.allowEmpty': toggle('--allow-empty', ['export'], {
    help: 'write the file even if no address matches; loading an empty set clears the firewall',
  }),
  'invocation.layout': option('--layout <layout>', ['export'], {
    help: `the record layout for mmdb: iprisk by default, or GeoIP2's ${mmdbLayoutNames.slice(1).join(', ')}`,
    type: is.oneOf(mmdbLayoutNames).exactOptional(),
  }),
  'invocation.licences': option(
    '--licences <list>',
    ['build', 'publish', 'feeds list', 'feeds fetch', 'export'],
    {
      help: 'use only data under these licences, comma-separated or in a file; omitted data is listed',
      type: is
        .textOf('a list of licences or a file of them', (value) => value !== '')
        .exactOptional(),
    },
  ),
  'invocation.strict': toggle('--strict', [...bulkCommands, 'lists import'], {
    help: 'exit with 1 if any line has no address; import all lines or none',
  }),
  'invocation.fields': option('--fields <names>', ['check', 'export'], {
    help: 'the columns of CSV or the fields of an export, comma-separated, such as classification,asn,country_code',
    type: z
      .array(is.oneOf(checkFields), 'a list of columns')
      .min(1, 'a list of columns')
      .exactOptional(),
  }),
  'invocation.policy': option(
    '--policy <name>',
    ['check', 'explain', 'feedback report', 'policy test', 'replay'],
    {
      help: 'the policy in the file; by default the one named default',
      type: is.textOf('the name of a policy', (value) => value !== '').exactOptional(),
    },
  ),
  'invocation.userAgent': option('--user-agent <text>', ['explain'], {
    help: 'also report whether the address is in the ranges of the agent that this User-Agent names',
    type: is.textOf('a User-Agent', (value) => value !== '').exactOptional(),
  }),
  'invocation.enforce': toggle('--enforce', ['policy init'], {
    help: 'write rules that are enforced, not only observed',
  }),
  'invocation.against': option('--against <other>', ['policy test', 'replay'], {
    help: 'compare with this policy or policies file; for replay, with this table',
    type: is.textOf('a policy or a file', (value) => value !== '').exactOptional(),
  }),
  'invocation.sampled': toggle('--sampled', ['replay'], {
    help: 'replay what the server on --port has sampled (serve --sample), instead of files',
  }),
  'invocation.failOver': option('--fail-over <share>', ['policy test', 'replay'], {
    help: 'exit with 1 if more than this share changes: 0.5%',
    type: is.share.exactOptional(),
  }),
  'invocation.top': option('--top <n>', ['summarize', 'feedback report', 'policy test', 'replay'], {
    help: 'how many rows to show per list; 10 by default',
    type: is.whole([1, 100_000], 'rows').default(limits.topShown),
  }),
  'invocation.plan': option('--plan <plan>', ['keys create'], {
    help: 'the plan of the key',
    type: z.string().exactOptional(),
    suggested: Object.keys(defaultPlans),
  }),
  'invocation.test': toggle('--test', ['keys create'], {
    help: 'a test key: answers only for test addresses, ten a second',
  }),
  'invocation.name': option('--name <name>', ['keys create'], {
    help: 'a name to recognize it by',
    type: is.keyName.exactOptional(),
  }),
  'invocation.api': option('--api <apis>', ['keys create'], {
    help: 'the APIs the key may call, comma-separated: ip-risk (default), lists, bouncer; or none',
    type: is.keyApis.exactOptional(),
  }),
  'invocation.expires': option('--expires <day>', ['keys create'], {
    help: 'the day (UTC) the key stops working: YYYY-MM-DD, or days from today such as 90d',
    type: is.dayOrDays.exactOptional(),
  }),
  'invocation.rate': option('--rate <n>', ['keys create'], {
    help: "requests per second, instead of the plan's",
    type: is.perSecond.exactOptional(),
  }),
  'invocation.burst': option('--burst <n>', ['keys create'], {
    help: 'burst of requests; twice the rate by default',
    type: is.burst.exactOptional(),
  }),
  'invocation.quota': option('--quota <n>', ['keys create'], {
    help: "checks per calendar month, instead of the plan's",
    type: is.quota.exactOptional(),
  }),
  // Not IPRISK_POLICIES, which names the file of policies.
  'invocation.keyPolicies': option('--policies <names>', ['keys create'], {
    help: 'the policies its requests may choose, comma-separated; the first is its default',
    type: is.policyNames.exactOptional(),
    variable: 'IPRISK_KEY_POLICIES',
  }),
  'invocation.graceHours': option('--grace-hours <n>', ['keys rotate'], {
    help: 'how long the old secret keeps working; a week by default, 0 ends it at once',
    type: is.whole([0, limits.rotationGraceHoursMax], 'hours').default(limits.rotationGraceHours),
  }),
  'invocation.replace': toggle('--replace', ['keys import', 'lists import'], {
    help: 'keys: overwrite existing keys that differ; lists: replace all existing entries',
  }),
  'invocation.yes': toggle('--yes', ['lists import'], { help: 'do not ask for confirmation' }),
  // The default fills a terminal. Acts are collected in memory, 1 KiB each.
  'invocation.last': option('--last <n>', ['keys audit'], {
    help: 'how many entries to show; 30 by default',
    type: is.whole([1, 100_000], 'acts').default(30),
  }),
  'invocation.effect': option('--effect <effect>', ['lists create'], {
    help: 'what the list does to the score: none, allow (0) or block (100); none by default',
    type: is.oneOf(listEffects).default('none'),
  }),
  'invocation.for': option('--for <span>', ['lists add'], {
    help: 'how long the entries last: 90m, 12h, 7d; permanent by default',
    type: is.listSpan.exactOptional(),
  }),
  'invocation.note': option('--note <text>', ['lists add'], {
    help: 'a one-line comment',
    type: z.string().exactOptional(),
  }),
  'invocation.lists': fileOption(
    '--lists <file>',
    ['check', 'explain', 'feedback report', 'policy test', 'replay'],
    { help: 'own lists to apply: a state folder, or a file written by "lists export"' },
  ),
}
