// Every command: its words, help, an example, and its loader. Code is loaded only for the command
// that runs: loading all of it takes longer than many commands.

import { type Command as CommandName, optionsOfCommand } from '../config/options.ts'
import type { Settings } from '../config/settings.ts'
import type { ConfigSource } from '../serve/reload-config.ts'
import type { CompletedCommand } from './shell/completion.ts'
import { type Io, printLines } from './terminal/io.ts'

type RunCommand = (
  settings: Settings,
  io: Io,
  args: readonly string[],
  configuration: ConfigSource,
) => number | void | Promise<number | void>

export interface CommandEntry {
  readonly help: string
  readonly example: string
  /** It changes something, here or in a server, so it reports which configuration it uses. */
  readonly changes?: boolean
  readonly load: () => Promise<RunCommand>
}

/** `keys show <id>`: the command, and its arguments as commander spells them. */
type CommandWords = CommandName | `${CommandName} ${'<' | '['}${string}`

const commands = {
  start: {
    help: 'build a table and create a key if there is none, then serve',
    example: 'start --port 8080',
    changes: true,
    load: async () => (await import('./server/start-command.ts')).startCommand,
  },
  build: {
    help: 'fetch the feeds and compile the table',
    example: 'build --offline',
    changes: true,
    load: async () => (await import('./compiler/build-command.ts')).buildCommand,
  },
  'publish <place>': {
    help: 'publish the table for other servers, to a folder or s3://bucket/prefix',
    example: 'publish s3://tables/world --stage 10%,100%+1h',
    changes: true,
    load: async () => (await import('./compiler/publish-command.ts')).publishCommand,
  },
  serve: {
    help: 'serve the API from a table',
    example: 'serve --workers 2 --refresh-every 6h',
    changes: true,
    load: async () => (await import('./server/serve-command.ts')).serveCommand,
  },
  reload: {
    help: 'load the new table into the running server',
    example: 'reload',
    changes: true,
    load: async () => (await import('./server/server-command.ts')).reloadCommand,
  },
  rollback: {
    help: 'return the running server to its previous table',
    example: 'rollback',
    changes: true,
    load: async () => (await import('./server/server-command.ts')).rollbackCommand,
  },
  restart: {
    help: 'replace the processes of the running server one by one',
    example: 'restart',
    changes: true,
    load: async () => (await import('./server/server-command.ts')).restartCommand,
  },
  'check <address...>': {
    help: 'look up addresses offline; files are read line by line, - is standard input',
    example: 'check access.log.gz --log combined --format csv',
    load: async () => (await import('./lines/check-command.ts')).checkCommand,
  },
  'summarize <file...>': {
    help: 'count the addresses in files by class, network and country; - is standard input',
    example: 'summarize access.log --log combined --top 20',
    load: async () => (await import('./lines/summarize-command.ts')).summarizeCommand,
  },
  'policy init': {
    help: 'write a starter policies file whose rules only observe',
    example: 'policy init',
    changes: true,
    load: async () => (await import('./policy/policy-command.ts')).policyInit,
  },
  'policy check <file>': {
    help: 'validate a policies file and show what it decides',
    example: 'policy check policies.json',
    load: async () => (await import('./policy/policy-command.ts')).policyCheck,
  },
  'policy test <file...>': {
    help: 'show what a policy would have decided for the addresses in files; - is standard input',
    example: 'policy test access.log --log combined --against policies-before.json',
    load: async () => (await import('./policy/policy-test-command.ts')).policyTest,
  },
  'replay [file...]': {
    help: 'compare two tables on your own traffic; - is standard input',
    example: 'replay access.log --log combined --table new.iprisk --against old.iprisk',
    load: async () => (await import('./policy/replay-command.ts')).replayCommand,
  },
  'explain <address>': {
    help: 'explain why an address gets its verdict; - is standard input, lines or a log',
    example: 'explain 185.220.101.33',
    load: async () => (await import('./lines/explain-command.ts')).explainCommand,
  },
  'feedback import <file...>': {
    help: 'import outcomes (how logins turned out) from JSON lines or CSV; - is standard input',
    example: 'feedback import outcomes.jsonl',
    changes: true,
    load: async () => (await import('./feedback/feedback-command.ts')).feedbackImport,
  },
  'feedback report': {
    help: 'show how well classes, levels, rules and feeds match the outcomes',
    example: 'feedback report',
    load: async () => (await import('./feedback/feedback-report-command.ts')).feedbackReportCommand,
  },
  'feedback export <folder>': {
    help: 'export outcomes as Parquet, one file per day of arrival',
    example: 'feedback export outcomes',
    changes: true,
    load: async () => (await import('./feedback/feedback-command.ts')).feedbackExport,
  },
  'feedback erase <address>': {
    help: 'erase an address, in every form, from outcomes, notes and the traffic sample',
    example: 'feedback erase 192.0.2.1',
    changes: true,
    load: async () => (await import('./feedback/feedback-command.ts')).feedbackErase,
  },
  export: {
    help: 'export the table for other tools: MMDB, CSV, Parquet, nginx, HAProxy, ipset, nft, CrowdSec',
    example: "export --format mmdb --out iprisk.mmdb --where 'signals.tor || risk_score >= 75'",
    load: async () => (await import('./compiler/export-command.ts')).exportCommand,
  },
  'keys create': {
    help: 'create a key and show it once',
    example: 'keys create --plan team --name shop --expires 90d',
    changes: true,
    load: async () => (await import('./keys/keys-command.ts')).keysCreate,
  },
  'keys list': {
    help: 'list the keys with their usage this month and their last use',
    example: 'keys list --json',
    load: async () => (await import('./keys/list-keys.ts')).keysList,
  },
  'keys show <id>': {
    help: 'show the limits, usage and secrets of a key',
    example: 'keys show 0123456789Ab',
    load: async () => (await import('./keys/list-keys.ts')).keysShow,
  },
  'keys revoke <id>': {
    help: 'revoke a key at once',
    example: 'keys revoke 0123456789Ab',
    changes: true,
    load: async () => (await import('./keys/keys-command.ts')).keysRevoke,
  },
  'keys rotate <id>': {
    help: 'give a key a new secret; the old one works until its grace period ends',
    example: 'keys rotate 0123456789Ab --grace-hours 24',
    changes: true,
    load: async () => (await import('./keys/keys-command.ts')).keysRotate,
  },
  'keys export': {
    help: 'export all keys as JSON: hashes, never secrets',
    example: 'keys export > keys.json',
    changes: true,
    load: async () => (await import('./keys/keys-command.ts')).keysExport,
  },
  'keys import <file>': {
    help: 'import keys from an export; - is standard input',
    example: 'keys import keys.json',
    changes: true,
    load: async () => (await import('./keys/keys-command.ts')).keysImport,
  },
  'keys audit': {
    help: 'show who changed which keys and lists, and when',
    example: 'keys audit --last 10',
    load: async () => (await import('./keys/audit-command.ts')).keysAudit,
  },
  'keys signing create': {
    help: 'create the key pair that signs published tables',
    example: 'keys signing create --signing-key data/signing-key.pem',
    changes: true,
    load: async () => (await import('./keys/keys-command.ts')).signingCreate,
  },
  'lists create <name>': {
    help: 'create a list of addresses, prefixes, ranges and AS numbers',
    example: 'lists create office --effect allow',
    changes: true,
    load: async () => (await import('./lists/lists-command.ts')).listsCreate,
  },
  'lists add <name> <entry...>': {
    help: 'add entries to a list, permanently or for a while',
    example: 'lists add attackers 192.0.2.7 AS64496 --for 7d --note "login attempts"',
    changes: true,
    load: async () => (await import('./lists/lists-command.ts')).listsAdd,
  },
  'lists remove <name> <entry...>': {
    help: 'remove entries from a list',
    example: 'lists remove attackers 192.0.2.7',
    changes: true,
    load: async () => (await import('./lists/lists-command.ts')).listsRemove,
  },
  'lists show <name>': {
    help: 'show the entries of a list',
    example: 'lists show attackers',
    load: async () => (await import('./lists/lists-command.ts')).listsShow,
  },
  'lists list': {
    help: 'list your own lists',
    example: 'lists list --json',
    load: async () => (await import('./lists/lists-command.ts')).listsList,
  },
  'lists import <file> [name]': {
    help: 'import the lines of a file into a list; - is standard input',
    example: 'lists import blocked.txt attackers --replace',
    changes: true,
    load: async () => (await import('./lists/lists-command.ts')).listsImport,
  },
  'lists export [name]': {
    help: 'export the entries of one list or all, in a form that lists import reads',
    example: 'lists export attackers > attackers.txt',
    load: async () => (await import('./lists/lists-command.ts')).listsExport,
  },
  'lists undo [name]': {
    help: 'undo the last change to a list, or to any list',
    example: 'lists undo attackers',
    changes: true,
    load: async () => (await import('./lists/lists-command.ts')).listsUndo,
  },
  'lists delete <name>': {
    help: 'delete a list with all its entries',
    example: 'lists delete attackers',
    changes: true,
    load: async () => (await import('./lists/lists-command.ts')).listsDelete,
  },
  'state backup <file>': {
    help: 'back up keys, own lists and counters to a file while servers run; - is standard output',
    example: 'state backup /backup/iprisk-state.jsonl',
    changes: true,
    load: async () => (await import('./lists/state-command.ts')).stateBackup,
  },
  'state restore <file>': {
    help: 'restore a state backup; revoked keys stay revoked; - is standard input',
    example: 'state restore /backup/iprisk-state.jsonl',
    changes: true,
    load: async () => (await import('./lists/state-command.ts')).stateRestore,
  },
  'table info <file>': {
    help: 'show what a table file holds',
    example: 'table info data/table/world.iprisk',
    load: async () => (await import('./compiler/table-command.ts')).tableInfo,
  },
  'table verify <file>': {
    help: 'verify every checksum of a table file',
    example: 'table verify data/table/world.iprisk',
    load: async () => (await import('./compiler/table-command.ts')).tableVerify,
  },
  'feeds list': {
    help: 'list the feeds of the catalogue, failing ones first',
    example: 'feeds list --all-feeds',
    load: async () => (await import('./compiler/feeds-command.ts')).feedsList,
  },
  'history import <folder>': {
    help: 'import past days from <folder>/<feed-id>/YYYY-MM-DD.txt.gz',
    example: 'history import past',
    changes: true,
    load: async () => (await import('./compiler/history-command.ts')).historyImport,
  },
  'history show <address>': {
    help: 'show on which days each feed listed an address',
    example: 'history show 185.220.101.33',
    load: async () => (await import('./compiler/history-command.ts')).historyShow,
  },
  info: {
    help: 'show the state of the running server and its table',
    example: 'info --json',
    load: async () => (await import('./server/info-command.ts')).infoCommand,
  },
  doctor: {
    help: 'find problems with this machine, its files and its server, and how to fix them',
    example: 'doctor --front https://ip.example.org',
    load: async () => (await import('./doctor/doctor-command.ts')).doctorCommand,
  },
  'completion <shell>': {
    help: 'print the completion script for bash, zsh or fish',
    example: 'completion bash > ~/.local/share/bash-completion/completions/iprisk',
    load: async () => {
      const { completionScript } = await import('./shell/completion.ts')
      return (_settings, io, [shell = '']) =>
        printLines(io, completionScript(shell, completedCommands()))
    },
  },
  'feeds fetch': {
    help: 'download the enabled feeds',
    example: 'feeds fetch --mirror https://mirror.example.org/feeds',
    changes: true,
    load: async () => (await import('./compiler/feeds-command.ts')).feedsFetch,
  },
} satisfies Partial<Record<CommandWords, CommandEntry>>

export const commandTable: Readonly<Record<string, CommandEntry>> = commands

function completedCommands(): readonly CompletedCommand[] {
  return Object.entries(commandTable).map(([words, { help }]) => {
    const { name } = splitWords(words)
    // `check` reads an address that is a file line by line.
    const takesFiles = /[<[](file|folder|address\.\.\.)/.test(words)
    return { words: name.split(' '), help, options: optionsOfCommand(name), takesFiles }
  })
}

/** `keys signing create` has the groups `keys` and `signing`. */
export function splitWords(words: string) {
  const all = words.split(' ')
  const named = all.filter((word) => !/^[<[]/.test(word))
  const groups = named.slice(0, -1)
  return { name: named.join(' ') as CommandName, groups, rest: all.slice(groups.length).join(' ') }
}
