// Every option of the command line, as one table: from it follow the flags, their environment
// variables and their places in the configuration file. The command line is built from it too, so
// that an option that exists is one that is validated. Not here: what values are allowed (that is
// setting-checks.ts).

import { keyOptions } from './key-options.ts'

/** The commands, subcommands spelled out. */
export const commands = [
  'build',
  'serve',
  'reload',
  'rollback',
  'restart',
  'check',
  'summarize',
  'explain',
  'keys create',
  'keys list',
  'keys show',
  'keys revoke',
  'keys rotate',
  'keys export',
  'keys import',
  'keys audit',
  'table info',
  'table verify',
  'feeds list',
  'feeds fetch',
  'history import',
  'history show',
  'info',
  'doctor',
] as const
export type Command = (typeof commands)[number]

export interface Option {
  /** The flag as commander spells it, `--admin-port <port>`; a switch has no `<…>`. */
  readonly flag: string
  /** How text becomes a value: a number, on or off, several texts, or as it is. */
  readonly form: 'number' | 'switch' | 'texts' | 'text'
  /**
   * The member of the settings, `['serve', 'port']`. What lies under `invocation` belongs to one
   * call: it has no place in the file.
   */
  readonly member: readonly [string, ...string[]]
  readonly commands: readonly Command[]
  /** One line of help. */
  readonly help: string
}

const keyCommands = [
  'keys create',
  'keys list',
  'keys show',
  'keys revoke',
  'keys rotate',
  'keys export',
  'keys import',
  'keys audit',
] as const
/** What looks at a running server from outside. */
const inspectCommands = ['info', 'doctor'] as const
/** What asks a running server finds it by its state folder and port. */
const serverCommands = ['reload', 'rollback', 'restart'] as const
/** They read files of lines. */
const bulkCommands = ['check', 'summarize'] as const

export const options: readonly Option[] = [
  {
    flag: '--table <file>',
    form: 'text',
    member: ['table'],
    commands: ['serve', 'check', 'summarize', 'explain', ...inspectCommands],
    help: 'the table file',
  },
  {
    flag: '--state <folder>',
    form: 'text',
    member: ['state'],
    commands: ['serve', ...serverCommands, ...keyCommands, ...inspectCommands],
    help: 'the folder of keys and quotas, on a local disk',
  },
  {
    flag: '--store <url>',
    form: 'text',
    member: ['store', 'url'],
    commands: ['serve', ...keyCommands],
    help: 'the Redis or Valkey that keeps keys and limits of many machines; the state folder by default',
  },
  {
    flag: '--store-password-file <file>',
    form: 'text',
    member: ['store', 'passwordFile'],
    commands: ['serve', ...keyCommands],
    help: 'the file that holds the password of the store',
  },
  {
    flag: '--store-ca-file <file>',
    form: 'text',
    member: ['store', 'caFile'],
    commands: ['serve', ...keyCommands],
    help: 'the certificates (PEM) that vouch for the store; those of Node by default',
  },
  {
    flag: '--store-policy <policy>',
    form: 'text',
    member: ['store', 'policy'],
    commands: ['serve'],
    help: 'while the store cannot be reached: refuse what needs it with 503, or serve it uncounted',
  },
  {
    flag: '--store-timeout-ms <n>',
    form: 'number',
    member: ['store', 'timeoutMs'],
    commands: ['serve', ...keyCommands],
    help: 'how long the store may take for one answer',
  },
  {
    flag: '--store-replicas <n>',
    form: 'number',
    member: ['store', 'replicas'],
    commands: ['serve', ...keyCommands],
    help: 'how many replicas must have a lease or a key before it counts; needed where it fails over',
  },
  {
    flag: '--port <port>',
    form: 'number',
    member: ['serve', 'port'],
    commands: ['serve', ...serverCommands, 'doctor'],
    help: 'the port of the API; 0 takes a free one',
  },
  {
    flag: '--host <address>',
    form: 'text',
    member: ['serve', 'host'],
    commands: ['serve', 'doctor'],
    help: 'the address that the API listens on',
  },
  {
    flag: '--admin-port <port>',
    form: 'number',
    member: ['serve', 'adminPort'],
    commands: ['serve', ...inspectCommands],
    help: 'the port of metrics and health; 0 takes a free one',
  },
  {
    flag: '--admin-host <address>',
    form: 'text',
    member: ['serve', 'adminHost'],
    commands: ['serve', ...inspectCommands],
    help: 'the address that metrics and health listen on',
  },
  {
    flag: '--admin-socket <file>',
    form: 'text',
    member: ['serve', 'adminSocket'],
    commands: ['serve', ...inspectCommands],
    help: 'a Unix socket for metrics and health, in place of the admin port',
  },
  {
    flag: '--admin-token-file <file>',
    form: 'text',
    member: ['serve', 'adminTokenFile'],
    commands: ['serve', ...inspectCommands],
    help: 'the file of the token that metrics and status ask for; needed beyond loopback',
  },
  {
    flag: '--tls-cert-file <file>',
    form: 'text',
    member: ['serve', 'tlsCertFile'],
    commands: ['serve', 'doctor'],
    help: 'the certificate chain (PEM) of the API, which then speaks TLS alone',
  },
  {
    flag: '--tls-key-file <file>',
    form: 'text',
    member: ['serve', 'tlsKeyFile'],
    commands: ['serve', 'doctor'],
    help: 'the private key (PEM) of the certificate',
  },
  {
    flag: '--tls-min-version <version>',
    form: 'text',
    member: ['serve', 'tlsMinVersion'],
    commands: ['serve', 'doctor'],
    help: 'the oldest TLS that is spoken: 1.2 or 1.3',
  },
  {
    flag: '--workers <n>',
    form: 'number',
    member: ['serve', 'workers'],
    commands: ['serve', 'doctor'],
    help: 'how many processes answer; the number of cores by default',
  },
  {
    flag: '--pool-threads <n>',
    form: 'number',
    member: ['serve', 'poolThreads'],
    commands: ['serve'],
    help: 'threads of each process for insights and batches',
  },
  {
    flag: '--pool-queue <n>',
    form: 'number',
    member: ['serve', 'poolQueue'],
    commands: ['serve'],
    help: 'how many insights and batches each process takes at once; more get 503',
  },
  {
    flag: '--connections <n>',
    form: 'number',
    member: ['serve', 'connections'],
    commands: ['serve'],
    help: 'how many connections each process holds at once; more are closed at accept',
  },
  {
    flag: '--connections-per-address <n>',
    form: 'number',
    member: ['serve', 'connectionsPerAddress'],
    commands: ['serve'],
    help: 'how many of them one IPv4 address or IPv6 /64 may hold; 0, the default, for all',
  },
  {
    flag: '--drain-seconds <s>',
    form: 'number',
    member: ['serve', 'drainSeconds'],
    commands: ['serve'],
    help: 'how long open requests may take after SIGTERM',
  },
  {
    flag: '--grace-seconds <s>',
    form: 'number',
    member: ['serve', 'graceSeconds'],
    commands: ['serve'],
    help: 'how long after SIGTERM /readyz says 503 before the port is closed',
  },
  {
    flag: '--hang-ms <n>',
    form: 'number',
    member: ['serve', 'hangMs'],
    commands: ['serve'],
    help: 'how long a process may be silent before it is killed and replaced',
  },
  {
    flag: '--worker-memory-mb <n>',
    form: 'number',
    member: ['serve', 'workerMemoryMb'],
    commands: ['serve'],
    help: 'how much memory of its own a process may hold before another takes its place, MiB',
  },
  {
    flag: '--refresh-every <span>',
    form: 'text',
    member: ['serve', 'refreshEvery'],
    commands: ['serve'],
    help: 'how often to fetch the feeds and build the table, 1h for example; off by default',
  },
  {
    flag: '--takeover',
    form: 'switch',
    member: ['invocation', 'takeover'],
    commands: ['serve'],
    help: 'take the place of the server that has this port, without a refused connection',
  },
  {
    flag: '--log-level <level>',
    form: 'text',
    member: ['serve', 'logLevel'],
    commands: ['serve'],
    help: 'the least important lines to log',
  },
  {
    flag: '--log-addresses',
    form: 'switch',
    member: ['serve', 'logAddresses'],
    commands: ['serve'],
    help: 'log the addresses of callers and checks',
  },
  {
    flag: '--log-address-form <form>',
    form: 'text',
    member: ['serve', 'logAddressForm'],
    commands: ['serve'],
    help: 'how they are logged: full, short (/24 and /48) or keyed (a keyed hash)',
  },
  {
    flag: '--log-address-key-file <file>',
    form: 'text',
    member: ['serve', 'logAddressKeyFile'],
    commands: ['serve'],
    help: 'the file of the key for --log-address-form keyed',
  },
  {
    flag: '--offline',
    form: 'switch',
    member: ['build', 'offline'],
    commands: ['build'],
    help: 'use the snapshots that are there, fetch nothing',
  },
  {
    flag: '--mirror <url>',
    form: 'text',
    member: ['build', 'mirror'],
    commands: ['build', 'feeds fetch'],
    help: 'take each feed from <url>/<feed-id>/<file>',
  },
  {
    flag: '--as-of <day>',
    form: 'text',
    member: ['build', 'asOf'],
    commands: ['build', 'history show'],
    help: 'the day that counts as today, YYYY-MM-DD',
  },
  {
    flag: '--out <file>',
    form: 'text',
    member: ['build', 'out'],
    commands: ['build'],
    help: 'where the table is written; the table file by default',
  },
  {
    flag: '--report <file>',
    form: 'text',
    member: ['build', 'report'],
    commands: ['build'],
    help: 'where the build report is written; report.json next to the table by default',
  },
  {
    flag: '--snapshots <folder>',
    form: 'text',
    member: ['build', 'snapshots'],
    commands: ['build', 'feeds list', 'feeds fetch'],
    help: 'the folder of the downloaded feeds',
  },
  {
    flag: '--history <folder>',
    form: 'text',
    member: ['build', 'history'],
    commands: ['build', 'history import', 'history show'],
    help: 'the folder of past observations',
  },
  {
    flag: '--all-feeds',
    form: 'switch',
    member: ['build', 'allFeeds'],
    commands: ['build', 'feeds list', 'feeds fetch'],
    help: 'use every feed, also those that are off by default: read their licences first',
  },
  {
    flag: '--networks <file...>',
    form: 'texts',
    member: ['build', 'networks'],
    commands: ['build'],
    help: 'files that say which network announces an address, in place of the default ones',
  },
  {
    flag: '--locations <file...>',
    form: 'texts',
    member: ['build', 'locations'],
    commands: ['build'],
    help: 'files that say where an address is, in place of the default ones',
  },
  {
    flag: '--flips-max-percent <n>',
    form: 'number',
    member: ['build', 'flipsMaxPercent'],
    commands: ['build'],
    help: 'how many verdicts of a sample a new table may change before it is rejected',
  },
  {
    flag: '--force',
    form: 'switch',
    member: ['invocation', 'force'],
    commands: ['build', 'reload', 'history import'],
    help: 'let the new table go live, or the days in, whatever the gate says',
  },
  {
    flag: '--json',
    form: 'switch',
    member: ['invocation', 'json'],
    commands: ['check', 'summarize', 'explain', 'history show', ...keyCommands, ...inspectCommands],
    help: 'write JSON',
  },
  {
    flag: '--front <url>',
    form: 'text',
    member: ['invocation', 'front'],
    commands: ['doctor'],
    help: 'the address of the proxy in front of the API, to be tried as well',
  },
  {
    flag: '--column <column>',
    form: 'text',
    member: ['invocation', 'column'],
    commands: bulkCommands,
    help: 'of CSV, the column of the address: its name in the first line, or its number from 1',
  },
  {
    flag: '--json-field <path>',
    form: 'text',
    member: ['invocation', 'jsonField'],
    commands: bulkCommands,
    help: 'of JSON lines, the member of the address: client, or request.remote_ip',
  },
  {
    flag: '--log <form>',
    form: 'text',
    member: ['invocation', 'log'],
    commands: bulkCommands,
    help: 'of access logs, their form: common, combined or vhost_combined',
  },
  {
    flag: '--format <format>',
    form: 'text',
    member: ['invocation', 'format'],
    commands: ['check'],
    help: 'json, csv or text; by default text on a terminal, else json',
  },
  {
    flag: '--fields <names>',
    form: 'texts',
    member: ['invocation', 'fields'],
    commands: ['check'],
    help: 'the columns of CSV, commas between: ip,classification,asn,country_code and others',
  },
  {
    flag: '--top <n>',
    form: 'number',
    member: ['invocation', 'top'],
    commands: ['summarize'],
    help: 'how many rows each list has; 10 by default',
  },
  ...keyOptions,
]

/** The one option that is in every command and in no file: the file itself. */
export const configOption = {
  flag: '--config <file>',
  help: 'the configuration file; ./iprisk.json where that exists',
  environment: 'IPRISK_CONFIG',
} as const

/** `--admin-port`. */
export function optionFlag(option: Option): string {
  return option.flag.split(' ')[0] ?? option.flag
}

/** `adminPort`: the name under which commander hands over the option's value. */
export function optionName(option: Option): string {
  return optionFlag(option)
    .slice(2)
    .replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** `IPRISK_ADMIN_PORT`. */
export function optionVariable(option: Option): string {
  return `IPRISK_${optionFlag(option).slice(2).replaceAll('-', '_').toUpperCase()}`
}

/** The options of one command, in the order of the table. */
export function optionsOfCommand(command: Command): readonly Option[] {
  return options.filter((option) => option.commands.includes(command))
}
