// Every command: its words, whose options it takes, one line of help, an example, and what runs it.
// What a command does stands in the file of its name, which is loaded when the command runs: all of
// them together take longer to load than many a command runs.

import type { Day } from '../base/day.ts'
import { type Command as CommandName, optionsOfCommand } from '../config/options.ts'
import type { Settings } from '../config/settings.ts'
import type { ControlRequest } from '../supervisor/sockets/control-socket.ts'
import type { ConfigSource } from '../serve/reload-config.ts'
import { type Io, exitCodes } from './terminal/io.ts'
import type { CommandIo } from './keys/key-session.ts'
import type { CompletedCommand } from './shell/completion.ts'

type RunCommand = (
  settings: Settings,
  args: readonly string[],
  io: Io,
  configuration: ConfigSource,
) => number | Promise<number>

export interface CommandEntry {
  /** The command whose options it takes. */
  readonly options: CommandName
  readonly help: string
  /** What follows `iprisk` in a call that does something useful. */
  readonly example: string
  /** It changes something, here or in a server: it says which configuration it obeys. */
  readonly changes?: boolean
  readonly run: RunCommand
}

/** Every command by its words, arguments as commander spells them. */
export const commandTable: Readonly<Record<string, CommandEntry>> = {
  start: {
    options: 'start',
    help: 'fetch the feeds and build a table if there is none, make a first key, serve',
    example: 'start --port 8080',
    changes: true,
    run: async (settings, _args, io, configuration) =>
      (await import('./server/start-command.ts')).startCommand(settings, configuration, io),
  },
  build: {
    options: 'build',
    help: 'fetch the feeds and compile the table',
    example: 'build --offline',
    changes: true,
    run: async (settings, _args, io) =>
      (await import('./compiler/build-command.ts')).buildCommand(settings, io),
  },
  'publish <place>': {
    options: 'publish',
    help: 'put the table where servers take it from: a folder or s3://bucket/prefix',
    example: 'publish s3://tables/world --stage 10%,100%+1h',
    changes: true,
    run: async (settings, [place = ''], io) =>
      (await import('./compiler/publish-command.ts')).publishCommand(settings, place, io),
  },
  serve: {
    options: 'serve',
    help: 'answer from the table',
    example: 'serve --workers 2 --refresh-every 6h',
    changes: true,
    run: async (settings, _args, io, configuration) =>
      (await import('./server/serve-command.ts')).serveCommand(settings, configuration, io),
  },
  reload: {
    options: 'reload',
    help: 'let the running server take in the table at its place',
    example: 'reload',
    changes: true,
    run: controlCommand(({ invocation: { force } }) => (force ? 'reload --force' : 'reload')),
  },
  rollback: {
    options: 'rollback',
    help: 'let the running server go back to the table before',
    example: 'rollback',
    changes: true,
    run: controlCommand(() => 'rollback'),
  },
  restart: {
    options: 'restart',
    help: 'let the running server replace its processes, one by one',
    example: 'restart',
    changes: true,
    run: controlCommand(() => 'restart'),
  },
  'check <address...>': {
    options: 'check',
    help: 'check addresses offline; a file is read line by line, - is standard input',
    example: 'check access.log.gz --log combined --format csv',
    run: async ({ table, policies, invocation: how }, args, io) =>
      (await import('./lines/check-command.ts')).checkCommand({ args, table, policies, how }, io),
  },
  'summarize <file...>': {
    options: 'summarize',
    help: 'say what the addresses of files are; - is standard input',
    example: 'summarize access.log --log combined --top 20',
    run: async ({ table, invocation: how }, inputs, io) =>
      (await import('./lines/summarize-command.ts')).summarizeCommand({ inputs, table, how }, io),
  },
  'policy init': {
    options: 'policy init',
    help: 'write a starter policies file whose rules only observe',
    example: 'policy init',
    changes: true,
    run: async ({ policies, invocation: { enforce } }, _args, io) =>
      (await import('./policy/policy-command.ts')).policyInit(policies, enforce, io),
  },
  'policy check <file>': {
    options: 'policy check',
    help: 'check a file of policies, and say what it decides or where it is wrong',
    example: 'policy check policies.json',
    run: async ({ invocation: { json } }, [file = ''], io) =>
      (await import('./policy/policy-command.ts')).policyCheck(file, json, io),
  },
  'policy test <file...>': {
    options: 'policy test',
    help: 'say what a policy would have done to the addresses of files; - is standard input',
    example: 'policy test access.log --log combined --against policies-before.json',
    run: async ({ table, policies, invocation: how }, inputs, io) =>
      (await import('./policy/policy-test-command.ts')).policyTest(
        { inputs, table, policies, how },
        io,
      ),
  },
  'replay [file...]': {
    options: 'replay',
    help: 'say what another table would have said of the addresses of files; - is standard input',
    example: 'replay access.log --log combined --table new.iprisk --against old.iprisk',
    run: async ({ table, policies, state, serve: { port }, invocation: how }, inputs, io) =>
      (await import('./policy/replay-command.ts')).replayCommand(
        { inputs, table, policies, state, port, how },
        io,
      ),
  },
  'explain <address>': {
    options: 'explain',
    help: 'say why an address is judged as it is',
    example: 'explain 185.220.101.33',
    run: async ({ table, policies, invocation: { json, lists, policy } }, [address = ''], io) => {
      const { explainCommand } = await import('./lines/explain-command.ts')
      return explainCommand({ address, table, json, lists, policies, policy }, io)
    },
  },
  'feedback import <file...>': {
    options: 'feedback import',
    help: 'keep outcomes from files of JSON lines: how addresses turned out',
    example: 'feedback import outcomes.jsonl',
    changes: true,
    run: async ({ state, invocation: { json } }, paths, io) =>
      (await import('./feedback/feedback-command.ts')).feedbackImport(paths, { state, json }, io),
  },
  'feedback report': {
    options: 'feedback report',
    help: 'say how well classes, levels, rules and feeds agree with the outcomes',
    example: 'feedback report',
    run: async ({ state, table, policies, invocation: how }, _args, io) =>
      (await import('./feedback/feedback-report-command.ts')).feedbackReportCommand(
        { state, table, policies, how },
        io,
      ),
  },
  'feedback export <folder>': {
    options: 'feedback export',
    help: 'write outcomes as Parquet, a file for each day on which they came in',
    example: 'feedback export outcomes',
    changes: true,
    run: async ({ state, invocation: { json } }, [folder = ''], io) =>
      (await import('./feedback/feedback-command.ts')).feedbackExport(folder, { state, json }, io),
  },
  'feedback erase <address>': {
    options: 'feedback erase',
    help: 'forget all outcomes of an address',
    example: 'feedback erase 192.0.2.1',
    changes: true,
    run: async ({ state, invocation: { json } }, [address = ''], io) =>
      (await import('./feedback/feedback-command.ts')).feedbackErase(address, { state, json }, io),
  },
  export: {
    options: 'export',
    help: 'write the table for other tools: MMDB, CSV, Parquet, nginx, HAProxy, ipset, nft',
    example: "export --format mmdb --out iprisk.mmdb --where 'signals.tor || risk_score >= 75'",
    run: async ({ table, invocation: how }, _args, io) =>
      (await import('./compiler/export-command.ts')).exportCommand({ table, how }, io),
  },
  'keys create': {
    options: 'keys create',
    help: 'make a key; its text is shown once',
    example: 'keys create --plan team --name shop --expires 90d',
    changes: true,
    run: keysCommand(async (...on) =>
      (await import('./keys/keys-command.ts')).keysCreate(on[0], on[2]),
    ),
  },
  'keys list': {
    options: 'keys list',
    help: 'list the keys, with what each used this month and when last',
    example: 'keys list --json',
    run: keysCommand(async (...on) => (await import('./keys/list-keys.ts')).keysList(on[0], on[2])),
  },
  'keys show <id>': {
    options: 'keys show',
    help: 'show the limits, usage and secrets of a key',
    example: 'keys show 0123456789Ab',
    run: keysCommand(async (...on) => (await import('./keys/list-keys.ts')).keysShow(...on)),
  },
  'keys revoke <id>': {
    options: 'keys revoke',
    help: 'end a key at once',
    example: 'keys revoke 0123456789Ab',
    changes: true,
    run: keysCommand(async (...on) => (await import('./keys/keys-command.ts')).keysRevoke(...on)),
  },
  'keys rotate <id>': {
    options: 'keys rotate',
    help: 'give a key a new secret; the old one lives on for a while',
    example: 'keys rotate 0123456789Ab --grace-hours 24',
    changes: true,
    run: keysCommand(async (...on) => (await import('./keys/keys-command.ts')).keysRotate(...on)),
  },
  'keys export': {
    options: 'keys export',
    help: 'write all keys as JSON: hashes, never secrets',
    example: 'keys export > keys.json',
    changes: true,
    run: keysCommand(async (...on) =>
      (await import('./keys/transfer-command.ts')).keysExport(on[0], on[2]),
    ),
  },
  'keys import <file>': {
    options: 'keys import',
    help: 'take in the keys of an export; - reads standard input',
    example: 'keys import keys.json',
    changes: true,
    run: keysCommand(async (...on) =>
      (await import('./keys/transfer-command.ts')).keysImport(...on),
    ),
  },
  'keys audit': {
    options: 'keys audit',
    help: 'show who did what to the keys',
    example: 'keys audit --last 10',
    run: keysCommand(async (...on) =>
      (await import('./keys/audit-command.ts')).keysAudit(on[0], on[2]),
    ),
  },
  'keys signing create': {
    options: 'keys signing create',
    help: 'make the key pair that tables are published with',
    example: 'keys signing create --signing-key data/signing-key.pem',
    changes: true,
    run: async (settings, _args, io) =>
      (await import('./keys/keys-command.ts')).signingCreate(settings, io),
  },
  'lists create <name>': {
    options: 'lists create',
    help: 'make a list of your own: of addresses, prefixes, ranges and AS numbers',
    example: 'lists create office --effect allow',
    changes: true,
    run: listsCommand(async (...on) =>
      (await import('./lists/lists-command.ts')).listsCreate(...on),
    ),
  },
  'lists add <name> <entry...>': {
    options: 'lists add',
    help: 'add entries to a list, for ever or for a while',
    example: 'lists add attackers 192.0.2.7 AS64496 --for 7d --note "login attempts"',
    changes: true,
    run: listsCommand(async (...on) => (await import('./lists/lists-command.ts')).listsAdd(...on)),
  },
  'lists remove <name> <entry...>': {
    options: 'lists remove',
    help: 'remove entries from a list',
    example: 'lists remove attackers 192.0.2.7',
    changes: true,
    run: listsCommand(async (...on) =>
      (await import('./lists/lists-command.ts')).listsRemove(...on),
    ),
  },
  'lists show <name>': {
    options: 'lists show',
    help: 'show the entries of a list',
    example: 'lists show attackers',
    run: listsCommand(async (...on) => (await import('./lists/show-lists.ts')).listsShow(...on)),
  },
  'lists list': {
    options: 'lists list',
    help: 'show which lists there are',
    example: 'lists list --json',
    run: listsCommand(async (settings, _args, io) =>
      (await import('./lists/show-lists.ts')).listsList(settings, io),
    ),
  },
  'lists import <file> [name]': {
    options: 'lists import',
    help: 'add the lines of a file to a list; - reads standard input',
    example: 'lists import blocked.txt attackers --replace',
    changes: true,
    run: listsCommand(async (...on) =>
      (await import('./lists/lists-command.ts')).listsImport(...on),
    ),
  },
  'lists export [name]': {
    options: 'lists export',
    help: 'write the entries of a list, or of all, as lists import takes them',
    example: 'lists export attackers > attackers.txt',
    run: listsCommand(async (...on) => (await import('./lists/show-lists.ts')).listsExport(...on)),
  },
  'lists undo [name]': {
    options: 'lists undo',
    help: 'undo the last act on a list, or on any',
    example: 'lists undo attackers',
    changes: true,
    run: listsCommand(async (...on) => (await import('./lists/lists-command.ts')).listsUndo(...on)),
  },
  'lists delete <name>': {
    options: 'lists delete',
    help: 'remove a list with all of its entries',
    example: 'lists delete attackers',
    changes: true,
    run: listsCommand(async (...on) =>
      (await import('./lists/lists-command.ts')).listsDelete(...on),
    ),
  },
  'state backup <file>': {
    options: 'state backup',
    help: 'copy keys, own lists and counters into a file, while servers run',
    example: 'state backup /backup/iprisk-state.jsonl',
    changes: true,
    run: listsCommand(async (...on) =>
      (await import('./lists/state-command.ts')).stateBackup(...on),
    ),
  },
  'state restore <file>': {
    options: 'state restore',
    help: 'put back what state backup has copied; what was revoked stays so',
    example: 'state restore /backup/iprisk-state.jsonl',
    changes: true,
    run: listsCommand(async (...on) =>
      (await import('./lists/state-command.ts')).stateRestore(...on),
    ),
  },
  'table info <file>': {
    options: 'table info',
    help: 'say what a table file holds',
    example: 'table info data/table/world.iprisk',
    run: async ({ invocation: { json } }, [file = ''], io) =>
      (await import('./compiler/table-command.ts')).tableInfo(file, json, io),
  },
  'table verify <file>': {
    options: 'table verify',
    help: 'check a table file whole',
    example: 'table verify data/table/world.iprisk',
    run: async ({ invocation: { json } }, [file = ''], io) =>
      (await import('./compiler/table-command.ts')).tableVerify(file, json, io),
  },
  'feeds list': {
    options: 'feeds list',
    help: 'list the feeds of the catalogue',
    example: 'feeds list --all-feeds',
    run: async (settings, _args, io) =>
      (await import('./compiler/feeds-command.ts')).feedsList(settings, io),
  },
  'history import <folder>': {
    options: 'history import',
    help: 'add past days: <folder>/<feed-id>/YYYY-MM-DD.txt.gz',
    example: 'history import past',
    changes: true,
    run: async ({ build: { history: store }, invocation }, [folder = ''], io) => {
      const { force, json } = invocation
      const what = { folder, store, force, json }
      return (await import('./compiler/history-command.ts')).historyImport(what, io)
    },
  },
  'history show <address>': {
    options: 'history show',
    help: 'show on which days each feed listed an address',
    example: 'history show 185.220.101.33',
    run: async ({ build, invocation: { json } }, [address = ''], io) => {
      const asked = { address, store: build.history, json, ...asOfOf(build) }
      return (await import('./compiler/history-command.ts')).historyShow(asked, io)
    },
  },
  info: {
    options: 'info',
    help: 'show the state of the running server and of its table',
    example: 'info --json',
    run: async (settings, _args, io) =>
      (await import('./server/info-command.ts')).infoCommand(settings, io),
  },
  doctor: {
    options: 'doctor',
    help: 'say what is wrong here, and what to do about it',
    example: 'doctor --front https://ip.example.org',
    run: async (settings, _args, io) =>
      (await import('./doctor/doctor-command.ts')).doctorCommand(settings, io),
  },
  'completion <shell>': {
    options: 'completion',
    help: 'write the script by which bash, zsh or fish completes iprisk and npx iprisk',
    example: 'completion bash > ~/.local/share/bash-completion/completions/iprisk',
    run: async (_settings, [shell = ''], io) => {
      const { completionScript } = await import('./shell/completion.ts')
      for (const line of completionScript(shell, completedCommands())) io.out(line)
      return exitCodes.done
    },
  },
  'feeds fetch': {
    options: 'feeds fetch',
    help: 'fetch the feeds that are on',
    example: 'feeds fetch --mirror https://mirror.example.org/feeds',
    changes: true,
    run: async (settings, _args, io) =>
      (await import('./compiler/feeds-command.ts')).feedsFetch(settings, io),
  },
}

function completedCommands(): readonly CompletedCommand[] {
  return Object.entries(commandTable).map(([words, { help, options }]) => ({
    words: words.split(' ').filter((word) => /^[a-z]/.test(word)),
    help,
    options: optionsOfCommand(options),
  }))
}

function asOfOf({ asOf }: Settings['build']): { readonly asOf?: Day } {
  return asOf === undefined ? {} : { asOf }
}

function commandIo({ out, lines, err }: Io): CommandIo {
  return { out, lines, err, now: Date.now() }
}

/** A command on the keys; each loads its file itself, for their store is needed by none other. */
function keysCommand(
  run: (settings: Settings, id: string, io: CommandIo) => Promise<void>,
): RunCommand {
  return async (settings, [id = ''], io) => {
    await run(settings, id, commandIo(io))
    return exitCodes.done
  }
}

/** A command on own lists. */
function listsCommand(
  run: (settings: Settings, args: readonly string[], io: CommandIo) => Promise<void>,
): RunCommand {
  return async (settings, args, io) => {
    // An argument that may be left out is `undefined` then.
    const given = args.filter((arg) => typeof arg === 'string')
    await run(settings, given, commandIo(io))
    return exitCodes.done
  }
}

/** A request to a running server. */
function controlCommand(request: (settings: Settings) => ControlRequest): RunCommand {
  return async (settings, _args, io) =>
    (await import('./server/server-command.ts')).serverCommand(request(settings), settings, io)
}

/**
 * Of `keys show <id>`, the group `keys` and the rest of the words; of `keys signing create`, the
 * groups `keys` and `signing`.
 */
export function splitWords(words: string): {
  readonly groups: readonly string[]
  readonly rest: string
} {
  const all = words.split(' ')
  const count = all.filter((word) => !/^[<[]/.test(word)).length
  return { groups: all.slice(0, count - 1), rest: all.slice(count - 1).join(' ') }
}
