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

/** Its type has a default, or is `exactOptional`. What `serve` takes, `start` takes. */
function option<T extends z.ZodType>(
  flag: `--${string}`,
  commands: readonly Command[],
  row: {
    readonly help: string
    readonly type: T
    /** If not named after the flag. */
    readonly variable?: string
    /** For shells, where the type allows any text. */
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

/** Without a value; off by default. */
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
    {
      help: 'the table file',
      type: is.path.default('data/table/world.iprisk'),
    },
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
      help: 'the folder of keys and quotas, on a local disk',
      type: is.path.default('data/state'),
    },
  ),
  policies: fileOption(
    '--policies <file>',
    ['serve', 'check', 'explain', 'feedback report', ...policyCommands],
    {
      help: 'the file of policies; ./policies.json where that exists',
    },
  ),
  // It may hold a password: show only `redactStoreUrl` of it.
  'store.url': option('--store <url>', ['serve', ...storeCommands], {
    help: 'the Redis or Valkey that keeps keys and limits of many machines; the state folder by default',
    type: is.storeAddress.exactOptional(),
  }),
  'store.passwordFile': fileOption('--store-password-file <file>', ['serve', ...storeCommands], {
    help: 'the file that holds the password of the store',
  }),
  'store.caFile': fileOption('--store-ca-file <file>', ['serve', ...storeCommands], {
    help: 'the certificates (PEM) that vouch for the store; those of Node by default',
  }),
  'store.keysFile': fileOption('--keys-file <file>', ['serve'], {
    help: 'take the keys from this file, which keys export has written; it is read again when it changes',
  }),
  'store.policy': option('--store-policy <policy>', ['serve'], {
    help: 'while the store cannot be reached: refuse what needs it with 503, or serve it uncounted',
    type: is.oneOf(['refuse', 'serve']).default('refuse'),
  }),
  'store.timeoutMs': option('--store-timeout-ms <n>', ['serve', ...storeCommands], {
    help: 'how long the store may take for one answer',
    type: is.whole([10, limits.storeTimeoutMsMax], 'milliseconds').default(limits.storeTimeoutMs),
  }),
  // More replicas are not for safety.
  'store.replicas': option('--store-replicas <n>', ['serve', ...storeCommands], {
    help: 'how many replicas must have a lease or a key before it counts; needed where it fails over',
    type: is.whole([0, 16], 'replicas').default(0),
  }),
  'serve.port': option('--port <port>', ['serve', 'replay', ...serverCommands, 'doctor'], {
    help: 'the port of the API; 0 takes a free one',
    type: is.port.default(8080),
  }),
  'serve.host': option('--host <address>', ['serve', 'doctor'], {
    help: 'the address that the API listens on',
    type: is.host.default('127.0.0.1'),
  }),
  'serve.adminPort': option('--admin-port <port>', ['serve', ...inspectCommands], {
    help: 'the port of metrics and health; 0 takes a free one',
    type: is.port.default(9090),
  }),
  'serve.adminHost': option('--admin-host <address>', ['serve', ...inspectCommands], {
    help: 'the address that metrics and health listen on',
    type: is.host.default('127.0.0.1'),
  }),
  'serve.adminSocket': option('--admin-socket <file>', ['serve', ...inspectCommands], {
    help: 'a Unix socket for metrics and health, in place of the admin port',
    type: is.socketPath.exactOptional(),
  }),
  'serve.adminAllowedHosts': option('--admin-allowed-hosts <names>', ['serve'], {
    help: 'names by which metrics and health may be asked besides addresses, commas between',
    type: z.array(is.host, 'a list of host names').default([]),
  }),
  'serve.adminTokenFile': fileOption('--admin-token-file <file>', ['serve', ...inspectCommands], {
    help: 'the file of the token that metrics and status ask for; needed beyond loopback',
  }),
  'serve.adminTokensFile': fileOption('--admin-tokens-file <file>', ['serve'], {
    help: 'the file of more tokens, a line each: role (viewer, analyst, admin), name, token',
  }),
  'serve.console': option('--console <on|off>', ['serve'], {
    help: 'whether the admin port has the console, a page for people, at /console: on or off',
    type: is.oneOf(['on', 'off']).default('on'),
  }),
  'serve.tlsCertFile': fileOption('--tls-cert-file <file>', ['serve', 'doctor'], {
    help: 'the certificate chain (PEM) of the API, which then speaks TLS alone',
  }),
  'serve.tlsKeyFile': fileOption('--tls-key-file <file>', ['serve', 'doctor'], {
    help: 'the private key (PEM) of the certificate',
  }),
  'serve.tlsMinVersion': option('--tls-min-version <version>', ['serve', 'doctor'], {
    help: 'the oldest TLS that is spoken: 1.2 or 1.3',
    type: is.oneOf(['1.2', '1.3']).default('1.2'),
  }),
  // Far above any machine: a typing error must not fork ten thousand processes.
  'serve.workers': option('--workers <n>', ['serve', 'doctor'], {
    help: 'how many processes answer; the number of cores by default',
    type: is.whole([1, 1024], 'processes').default(availableParallelism),
  }),
  // More than any machine has cores.
  'serve.poolThreads': option('--pool-threads <n>', ['serve'], {
    help: 'threads of each process for insights and batches',
    type: is.whole([1, 256], 'threads').default(1),
  }),
  // 128 insights take a thread a tenth of a second. A batch holds up to 1 MiB of addresses: 10,000
  // are the memory of a large machine.
  'serve.poolQueue': option('--pool-queue <n>', ['serve'], {
    help: 'how many insights and batches each process takes at once; more get 503',
    type: is.whole([1, 10_000], 'requests').default(128),
  }),
  // Far more than proxies and services keep open; 10,000 slow connections are about 100 MB, mostly
  // the kernel's. The most is a kernel's usual bound of descriptors.
  'serve.connections': option('--connections <n>', ['serve'], {
    help: 'how many connections each process holds at once; more are closed at accept',
    type: is.whole([1, 1_048_576], 'connections').default(10_000),
  }),
  'serve.connectionsPerAddress': option('--connections-per-address <n>', ['serve'], {
    help: 'how many of them one IPv4 address or IPv6 /64 may hold; 0, the default, for all',
    type: is.whole([0, 1_048_576], 'connections').default(0),
  }),
  'serve.gate': option('--gate <host:port>', ['serve'], {
    help: 'also listen here for reverse proxies, which ask about their visitors without a key',
    type: is.hostPort.exactOptional(),
  }),
  'serve.gatePeers': option('--gate-peers <ranges>', ['serve'], {
    help: 'the proxies that may ask the gate (loopback): prefixes or presets, commas between',
    type: is.proxyRanges.exactOptional(),
  }),
  'serve.gateHeader': option('--gate-header <name>', ['serve'], {
    help: 'the one header in which those proxies name the visitor',
    type: is.oneOf(is.addressHeaders).default('x-forwarded-for'),
  }),
  'serve.gateTrust': option('--gate-trust <n|ranges>', ['serve'], {
    help: 'how many proxies stand in front of the gate, or their prefixes and presets',
    type: is.proxyTrust.default(['1']),
  }),
  'serve.gateChallenge': option('--gate-challenge <pass|401>', ['serve'], {
    help: 'the answer of the gate to a challenge: pass (204, the header says it) or 401',
    type: is.oneOf(['pass', '401']).default('pass'),
  }),
  'serve.docs': option('--docs <on|off>', ['serve'], {
    help: 'whether /docs has the reference of the API, for people: on or off',
    type: is.oneOf(['on', 'off']).default('on'),
  }),
  // Orchestrators kill what drains for longer.
  'serve.drainSeconds': option('--drain-seconds <s>', ['serve'], {
    help: 'how long open requests may take after SIGTERM',
    type: is.whole([0, 3600], 'seconds').default(10),
  }),
  // A load balancer that polls every ten seconds has seen /readyz fail three times by then twice.
  'serve.graceSeconds': option('--grace-seconds <s>', ['serve'], {
    help: 'how long after SIGTERM /readyz says 503 before the port is closed',
    type: is.whole([0, 300], 'seconds').default(0),
  }),
  // Below 300 ms garbage collection may look like a hang. 500 ms: five missed heartbeats, and the
  // sixth; with a successor's start a worker is replaced within a second.
  'serve.hangMs': option('--hang-ms <n>', ['serve'], {
    help: 'how long a process may be silent before it is killed and replaced',
    type: is.whole([300, 600_000], 'milliseconds').default(500),
  }),
  // A worker with a hundred thousand keys holds some 200 MiB; a leak comes to more in time.
  'serve.workerMemoryMb': option('--worker-memory-mb <n>', ['serve'], {
    help: 'how much memory of its own a process may hold before another takes its place, MiB',
    type: is.whole([limits.workerMemoryMbMin, 1_048_576], 'MiB').default(2048),
  }),
  'serve.refreshEvery': option('--refresh-every <span>', ['serve'], {
    help: 'how often to fetch the feeds and build the table: 1h or off; 24h by default for start, off for serve',
    type: is.refreshSpan.exactOptional(),
  }),
  'serve.tableUrl': option('--table-url <url>', ['serve'], {
    help: 'where published tables are taken from: https://…, s3://bucket/prefix or file:///folder',
    type: is.tableSource.exactOptional(),
  }),
  'serve.tableTrust': option('--table-trust <keys>', ['serve'], {
    help: 'the public keys whose tables are taken, commas between',
    type: is.trustedKeys.default([]),
  }),
  'serve.tablePlace': option('--table-place <name>', ['serve'], {
    help: 'the place whose tables are taken, as its publisher names it; by default that of the first manifest',
    type: is.placeName.exactOptional(),
  }),
  // A poll is one small request, nearly always "not modified".
  'serve.tablePollSeconds': option('--table-poll-seconds <s>', ['serve'], {
    help: 'how often to look for a new table there, give or take a fifth',
    type: is.whole([1, 86_400], 'seconds').default(15),
  }),
  'serve.machineName': option('--machine-name <name>', ['serve'], {
    help: 'the name by which stages choose this machine; its host name by default',
    type: is.keyName.exactOptional(),
  }),
  'publish.to': option('--publish <place>', ['build', 'serve'], {
    help: 'where a new table is published: a folder or s3://bucket/prefix',
    type: is.publishPlace.exactOptional(),
  }),
  'publish.placeName': option('--place-name <name>', publishCommands, {
    help: 'the name that is signed with a table; the folder or s3://bucket/prefix by default',
    type: is.placeName.exactOptional(),
  }),
  'publish.signingKey': option(
    '--signing-key <file>',
    [...publishCommands, 'keys signing create'],
    {
      help: 'the private key that published tables are signed with',
      type: is.path.default('data/signing-key.pem'),
    },
  ),
  'publish.stage': option('--stage <stages>', publishCommands, {
    help: 'which share of the machines may take the table when: 10%,50%+1h,100%+4h; all at once by default',
    type: is.stages.default([]),
  }),
  'publish.keepDays': option('--keep-days <n>', publishCommands, {
    help: 'how long replaced tables and their parts stay published',
    type: is.whole([1, 3650], 'days').default(14),
  }),
  'invocation.rollbackTo': option('--rollback-to <id>', ['publish'], {
    help: 'publish nothing, but let servers go back to this published table',
    type: is.textOf('the id of a table', (value) => value !== '').exactOptional(),
  }),
  'invocation.takeover': toggle('--takeover', ['serve'], {
    help: 'take the place of the server that has this port, without a refused connection',
  }),
  'serve.logLevel': option('--log-level <level>', ['serve'], {
    help: 'the least important lines to log',
    type: is.oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  }),
  'serve.logAddresses': toggle('--log-addresses', ['serve'], {
    help: 'log the addresses of callers and checks',
  }),
  'serve.logAddressForm': option('--log-address-form <form>', ['serve'], {
    help: 'how they are logged: full, short (/24 and /48) or keyed (a keyed hash)',
    type: is.oneOf(['full', 'short', 'keyed']).default('full'),
  }),
  'serve.logAddressKeyFile': fileOption('--log-address-key-file <file>', ['serve'], {
    help: 'the file of the key for --log-address-form keyed',
  }),
  'serve.decisionLog': option('--decision-log <file>', ['serve'], {
    help: 'write a JSON line for each answer and what was decided; - is standard output',
    type: is.outputPlace.exactOptional(),
  }),
  'serve.decisionLogShare': option('--decision-log-share <share>', ['serve'], {
    help: 'the share of answers that get a line, chosen by chance; all by default',
    type: is.share.exactOptional(),
  }),
  // 100 MiB hold some 300,000 decisions.
  'serve.decisionLogMb': option('--decision-log-mb <n>', ['serve'], {
    help: 'from which size on the decision log is renamed to FILE.1 and begun anew, MiB',
    type: is.whole([1, 1_048_576], 'MiB').default(100),
  }),
  'serve.decisionLogFiles': option('--decision-log-files <n>', ['serve'], {
    help: 'how many renamed files of the decision log are kept',
    type: is.whole([1, 1000], 'files').default(10),
  }),
  // The most is twice what anyone needs: of 100,000, one in fifty has an interval of 1.9 to 2.1 %.
  'serve.sample': option('--sample <n>', ['serve'], {
    help: 'sample up to <n> addresses of the traffic, to judge new tables by; 0, the default, none',
    type: is.whole([0, 200_000], 'addresses').default(0),
  }),
  'serve.swapFlipsMax': option('--swap-flips-max <share>', ['serve'], {
    help: 'share of the sampled addresses that a new table may decide otherwise; 2% by default',
    type: is.share.exactOptional(),
  }),
  // Half a year is long enough to judge weights by.
  'serve.feedbackDays': option('--feedback-days <n>', ['serve'], {
    help: 'how many days feedback is kept',
    type: is.whole([1, 3650], 'days').default(180),
  }),
  // It wins over the mirror.
  'build.offline': toggle('--offline', ['build', 'start'], {
    help: 'use the snapshots that are there, fetch nothing',
  }),
  'build.mirror': option('--mirror <url>', ['build', 'feeds fetch', 'start'], {
    help: 'take each feed from <url>/<feed-id>/<file>',
    type: is.webAddress.exactOptional(),
  }),
  // Less than 5 s is no time for one feed.
  'build.fetchSeconds': option('--fetch-seconds <s>', ['build', 'feeds fetch'], {
    help: 'how long fetching may take; a feed that has not come by then stays as it was stored',
    type: is.whole([5, 86_400], 'seconds').default(limits.fetchSecondsDefault),
  }),
  'build.asOf': option('--as-of <day>', ['build', 'history show'], {
    help: 'treat this day, YYYY-MM-DD, as today; later snapshots are clamped to it and listed in a warning',
    type: is.day.exactOptional(),
  }),
  'build.out': fileOption('--out <file>', ['build'], {
    help: 'where the table is written; the table file by default',
  }),
  'build.report': fileOption('--report <file>', ['build'], {
    help: 'where the build report is written; report.json next to the table by default',
  }),
  'build.snapshots': option('--snapshots <folder>', ['build', 'feeds list', 'feeds fetch'], {
    help: 'the folder of the downloaded feeds',
    type: is.path.default('data/snapshots'),
  }),
  'build.history': option('--history <folder>', ['build', 'history import', 'history show'], {
    help: 'the folder of past observations',
    type: is.path.default('data/history'),
  }),
  'build.feedsFolder': fileOption(
    '--feeds-folder <folder>',
    ['build', 'start', 'feeds list', 'feeds fetch', 'history import'],
    {
      help: 'your own feeds and switches: <id>.json, whole or with the members to change',
    },
  ),
  'build.allFeeds': toggle('--all-feeds', ['build', 'feeds list', 'feeds fetch'], {
    help: 'use every feed, also those that are off by default: read their licences first',
  }),
  // The file's alone; stronger than the catalogue and `allFeeds`.
  'build.feeds': { type: is.feedSwitches.default({}) },
  'build.networks': option('--networks <file...>', ['build'], {
    help: 'files that say which network announces an address, in place of the default ones',
    type: is.paths.default([]),
  }),
  'build.locations': option('--locations <file...>', ['build'], {
    help: 'files that say where an address is, in place of the default ones',
    type: is.paths.default([]),
  }),
  'build.flipsMaxPercent': option('--flips-max-percent <n>', ['build'], {
    help: 'how many verdicts of a sample a new table may change before it is rejected',
    type: is.percent.default(changeThresholds.build),
  }),
  'invocation.needFeeds': toggle('--need-feeds', ['build'], {
    help: 'fail, and build nothing, where not one feed can be fetched',
  }),
  'invocation.keepDataSets': toggle('--keep-data-sets', ['build'], {
    help: 'fetch no networks and places: use the newest that are here',
  }),
  'invocation.force': toggle('--force', forceCommands, {
    help: 'let the new table go live, the days in, or a wide entry, whatever the gate says',
  }),
  'invocation.json': toggle('--json', jsonCommands, {
    help: 'write JSON',
  }),
  'invocation.front': option('--front <url>', ['doctor'], {
    help: 'the address of the proxy in front of the API, to be tried as well',
    type: is.webAddress.exactOptional(),
  }),
  'invocation.column': option('--column <column>', lineCommands, {
    help: 'of CSV, the column of the address: its name in the first line, or its number from 1',
    type: is.textOf('the name or number of a column', (value) => value !== '').exactOptional(),
  }),
  'invocation.jsonField': option('--json-field <path>', lineCommands, {
    help: 'of JSON lines, the member of the address: client, or request.remote_ip',
    type: is.textOf('the path of a member', (value) => value !== '').exactOptional(),
  }),
  'invocation.log': option('--log <form>', lineCommands, {
    help: 'the form of a log: auto, by default, looks at its first lines; docs/logs.md names all',
    type: is.oneOf(logWords).exactOptional(),
  }),
  'invocation.delimiter': option('--delimiter <character>', lineCommands, {
    help: 'of CSV, what stands between columns, a character or tab; by default the most frequent in the first line',
    type: is
      .textOf('one character, or tab', (value) => /^(?:[!-~]|tab)$/.test(value))
      .exactOptional(),
  }),
  'invocation.trust': option('--trust <proxies>', lineCommands, {
    help: 'which of several addresses in a log is the client: the number of proxies, or their addresses, prefixes and presets, commas between; by default the last public one',
    type: is.textOf('a number of proxies, or proxies', (value) => value !== '').exactOptional(),
  }),
  'invocation.since': option('--since <time>', lineCommands, {
    help: 'only lines of a log from then on: 2026-08-22, 2026-08-22T10:00Z, or 24h for a span before now',
    type: is.moment.exactOptional(),
  }),
  'invocation.until': option('--until <time>', lineCommands, {
    help: 'only lines of a log before then',
    type: is.moment.exactOptional(),
  }),
  'invocation.by': option('--by <span>', ['summarize'], {
    help: 'count the requests of a log by hour or day, in UTC',
    type: is.oneOf(timeSpans).exactOptional(),
  }),
  'invocation.format': option('--format <format>', ['check'], {
    help: 'json, csv or text; by default text on a terminal, else json',
    type: is.oneOf(checkFormats).exactOptional(),
  }),
  'invocation.exportFormat': option('--format <format>', ['export'], {
    help: `what to write: ${exportFormats.join(', ')}`,
    type: is.oneOf(exportFormats).exactOptional(),
    variable: 'IPRISK_EXPORT_FORMAT',
  }),
  'invocation.exportFile': option('--out <file>', ['export'], {
    help: 'where it is written, with the NOTICE beside it; - is standard output',
    type: is.outputPlace.exactOptional(),
    // Not IPRISK_OUT, which names the table of `build`.
    variable: 'IPRISK_EXPORT_OUT',
  }),
  'invocation.where': option('--where <condition>', ['export'], {
    help: 'only addresses for which it is true: signals.tor || risk_score >= 75',
    type: is.textOf('a condition in CEL', (value) => value !== '').exactOptional(),
  }),
  'invocation.allowEmpty': toggle('--allow-empty', ['export'], {
    help: 'write the file even if no address matches; loading an empty set empties the firewall',
  }),
  'invocation.layout': option('--layout <layout>', ['export'], {
    help: `of mmdb, what its records say: iprisk by default, or ${mmdbLayoutNames.slice(1).join(', ')} as GeoIP2 has them`,
    type: is.oneOf(mmdbLayoutNames).exactOptional(),
  }),
  'invocation.licences': option(
    '--licences <list>',
    ['build', 'publish', 'feeds list', 'feeds fetch', 'export'],
    {
      help: 'use data under these licences alone, commas between, or a file of them; what is refused is named',
      type: is
        .textOf('a list of licences or a file of them', (value) => value !== '')
        .exactOptional(),
    },
  ),
  'invocation.strict': toggle('--strict', [...bulkCommands, 'lists import'], {
    help: 'fail, exit code 1, where a single line names no address; import all lines or none',
  }),
  'invocation.fields': option('--fields <names>', ['check', 'export'], {
    help: 'the columns of CSV, or the fields of an export, commas between: classification,asn,country_code and others',
    type: z
      .array(is.oneOf(checkFields), 'a list of columns')
      .min(1, 'a list of columns')
      .exactOptional(),
  }),
  'invocation.policy': option(
    '--policy <name>',
    ['check', 'explain', 'feedback report', 'policy test', 'replay'],
    {
      help: 'the policy of the file; the one named default by default',
      type: is.textOf('the name of a policy', (value) => value !== '').exactOptional(),
    },
  ),
  'invocation.enforce': toggle('--enforce', ['policy init'], {
    help: 'write rules that take effect at once',
  }),
  'invocation.against': option('--against <other>', ['policy test', 'replay'], {
    help: 'what to compare with: a policy or policies file, of replay a table',
    type: is.textOf('a policy or a file', (value) => value !== '').exactOptional(),
  }),
  'invocation.sampled': toggle('--sampled', ['replay'], {
    help: 'read what the server on --port has sampled (serve --sample), in place of files',
  }),
  'invocation.failOver': option('--fail-over <share>', ['policy test', 'replay'], {
    help: 'fail, exit code 1, where more than this share changes: 0.5%',
    type: is.share.exactOptional(),
  }),
  'invocation.top': option('--top <n>', ['summarize', 'feedback report', 'policy test', 'replay'], {
    help: 'how many rows each list has; 10 by default',
    type: is.whole([1, 100_000], 'rows').default(limits.topShown),
  }),
  'invocation.plan': option('--plan <plan>', ['keys create'], {
    help: 'the plan of the key',
    type: z.string().exactOptional(),
    suggested: Object.keys(defaultPlans),
  }),
  'invocation.test': toggle('--test', ['keys create'], {
    help: 'a key for tests: it judges test addresses only, ten a second',
  }),
  'invocation.name': option('--name <name>', ['keys create'], {
    help: 'a name for people',
    type: is.keyName.exactOptional(),
  }),
  'invocation.api': option('--api <apis>', ['keys create'], {
    help: 'what the key may call, commas between: ip-risk (default), bouncer; or none',
    type: is.keyApis.exactOptional(),
  }),
  'invocation.expires': option('--expires <day>', ['keys create'], {
    help: 'the first day, UTC, on which the key no longer works: YYYY-MM-DD, or days from today, 90d',
    type: is.dayOrDays.exactOptional(),
  }),
  'invocation.rate': option('--rate <n>', ['keys create'], {
    help: 'requests a second, in place of the plan',
    type: is.perSecond.exactOptional(),
  }),
  'invocation.burst': option('--burst <n>', ['keys create'], {
    help: 'requests at once; twice the rate by default',
    type: is.burst.exactOptional(),
  }),
  'invocation.quota': option('--quota <n>', ['keys create'], {
    help: 'checks a calendar month, in place of the plan',
    type: is.quota.exactOptional(),
  }),
  // Not IPRISK_POLICIES, which names the file of policies.
  'invocation.keyPolicies': option('--policies <names>', ['keys create'], {
    help: 'the policies that its requests may choose, commas between, the first by default',
    type: is.policyNames.exactOptional(),
    variable: 'IPRISK_KEY_POLICIES',
  }),
  'invocation.graceHours': option('--grace-hours <n>', ['keys rotate'], {
    help: 'how long the old secret still works; a week by default, 0 ends it at once',
    type: is.whole([0, limits.rotationGraceHoursMax], 'hours').default(limits.rotationGraceHours),
  }),
  'invocation.replace': toggle('--replace', ['keys import', 'lists import'], {
    help: 'take the key of the file where another is there; of lists, nothing but the file',
  }),
  'invocation.yes': toggle('--yes', ['lists import'], {
    help: 'do not ask on a terminal',
  }),
  // The default fills a terminal. Acts are gathered in memory, 1 KiB each.
  'invocation.last': option('--last <n>', ['keys audit'], {
    help: 'how many acts to show; 30 by default',
    type: is.whole([1, 100_000], 'acts').default(30),
  }),
  'invocation.effect': option('--effect <effect>', ['lists create'], {
    help: 'what the list does to the score: none, allow (0) or block (100); none by default',
    type: is.oneOf(listEffects).default('none'),
  }),
  'invocation.for': option('--for <span>', ['lists add'], {
    help: 'how long the entries count: 90m, 12h, 7d; for ever by default',
    type: is.listSpan.exactOptional(),
  }),
  'invocation.note': option('--note <text>', ['lists add'], {
    help: 'why, in a line, for people',
    type: z.string().exactOptional(),
  }),
  'invocation.lists': fileOption(
    '--lists <file>',
    ['check', 'explain', 'feedback report', 'policy test', 'replay'],
    {
      help: 'own lists to answer with: a state folder, or a file that "lists export" wrote',
    },
  ),
}
