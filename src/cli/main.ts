#!/usr/bin/env node
// The command line: one switch over the commands. What an option is called and where it goes stands
// in src/config/option-table.ts; what a command does stands in the file of its name, which is
// loaded when the command runs: all of them together take longer to load than many a command runs.

import { Command, CommanderError } from 'commander'
import { IpriskError, isDiskError, messageOf } from '../base/coded-error.ts'
import { optionalMember } from '../base/optional-member.ts'
import { packageVersion } from '../base/package-root.ts'
import { type Command as CommandName, configOption, optionsOfCommand } from '../config/options.ts'
import { configPathOf } from '../config/config-file.ts'
import { type ConfigListener, type Settings, readSettings } from '../config/settings.ts'
import type { SettingSources } from '../config/setting-sources.ts'
import type { ControlRequest } from '../supervisor/sockets/control-socket.ts'
import type { ConfigSource } from '../serve/reload-config.ts'
import { identityOrEmpty } from '../supervisor/tables/file-watch.ts'
import { type Io, exitCodes } from './terminal/io.ts'
import type { CommandIo } from './keys/key-session.ts'
import { processIo } from './terminal/process-io.ts'

type RunCommand = (
  settings: Settings,
  args: readonly string[],
  io: Io,
  configuration: ConfigSource,
) => number | Promise<number>

interface CommandEntry {
  /** The command whose options it takes. */
  readonly options: CommandName
  readonly help: string
  /** It changes something, here or in a server: it says which configuration it obeys. */
  readonly changes?: boolean
  readonly run: RunCommand
}

/** Every command by its words, arguments as commander spells them. */
const commandTable: Readonly<Record<string, CommandEntry>> = {
  start: {
    options: 'serve',
    help: 'build a table if there is none, make a first key, serve',
    changes: true,
    run: async (settings, _args, io, configuration) =>
      (await import('./server/start-command.ts')).startCommand(settings, configuration, io),
  },
  build: {
    options: 'build',
    help: 'fetch the feeds and compile the table',
    changes: true,
    run: async (settings, _args, io) =>
      (await import('./compiler/build-command.ts')).buildCommand(settings, io),
  },
  serve: {
    options: 'serve',
    help: 'answer from the table',
    changes: true,
    run: async (settings, _args, io, configuration) =>
      (await import('./server/serve-command.ts')).serveCommand(settings, configuration, io),
  },
  reload: {
    options: 'reload',
    help: 'let the running server take in the table at its place',
    changes: true,
    run: controlCommand(({ invocation: { force } }) => (force ? 'reload --force' : 'reload')),
  },
  rollback: {
    options: 'rollback',
    help: 'let the running server go back to the table before',
    changes: true,
    run: controlCommand(() => 'rollback'),
  },
  restart: {
    options: 'restart',
    help: 'let the running server replace its processes, one by one',
    changes: true,
    run: controlCommand(() => 'restart'),
  },
  'check <address...>': {
    options: 'check',
    help: 'check addresses offline; a file is read line by line, - is standard input',
    run: async ({ table, invocation: how }, args, io) =>
      (await import('./lines/check-command.ts')).checkCommand({ args, table, how }, io),
  },
  'summarize <file...>': {
    options: 'summarize',
    help: 'say what the addresses of files are; - is standard input',
    run: async ({ table, invocation: how }, inputs, io) =>
      (await import('./lines/summarize-command.ts')).summarizeCommand({ inputs, table, how }, io),
  },
  'explain <address>': {
    options: 'explain',
    help: 'say why an address is judged as it is',
    run: async ({ table, invocation: { json } }, [address = ''], io) =>
      (await import('./lines/explain-command.ts')).explainCommand({ address, table, json }, io),
  },
  'keys create': {
    options: 'keys create',
    help: 'make a key; its text is shown once',
    changes: true,
    run: keysCommand(async (...on) =>
      (await import('./keys/keys-command.ts')).keysCreate(on[0], on[2]),
    ),
  },
  'keys list': {
    options: 'keys list',
    help: 'list the keys, with what each used this month and when last',
    run: keysCommand(async (...on) => (await import('./keys/list-keys.ts')).keysList(on[0], on[2])),
  },
  'keys show <id>': {
    options: 'keys show',
    help: 'show the limits, usage and secrets of a key',
    run: keysCommand(async (...on) => (await import('./keys/list-keys.ts')).keysShow(...on)),
  },
  'keys revoke <id>': {
    options: 'keys revoke',
    help: 'end a key at once',
    changes: true,
    run: keysCommand(async (...on) => (await import('./keys/keys-command.ts')).keysRevoke(...on)),
  },
  'keys rotate <id>': {
    options: 'keys rotate',
    help: 'give a key a new secret; the old one lives on for a while',
    changes: true,
    run: keysCommand(async (...on) => (await import('./keys/keys-command.ts')).keysRotate(...on)),
  },
  'keys export': {
    options: 'keys export',
    help: 'write all keys as JSON: hashes, never secrets',
    changes: true,
    run: keysCommand(async (...on) =>
      (await import('./keys/transfer-command.ts')).keysExport(on[0], on[2]),
    ),
  },
  'keys import <file>': {
    options: 'keys import',
    help: 'take in the keys of an export; - reads standard input',
    changes: true,
    run: keysCommand(async (...on) =>
      (await import('./keys/transfer-command.ts')).keysImport(...on),
    ),
  },
  'keys audit': {
    options: 'keys audit',
    help: 'show who did what to the keys',
    run: keysCommand(async (...on) =>
      (await import('./keys/audit-command.ts')).keysAudit(on[0], on[2]),
    ),
  },
  'table info <file>': {
    options: 'table info',
    help: 'say what a table file holds',
    run: async (_settings, [file = ''], io) =>
      (await import('./compiler/table-command.ts')).tableInfo(file, io),
  },
  'table verify <file>': {
    options: 'table verify',
    help: 'check a table file whole',
    run: async (_settings, [file = ''], io) =>
      (await import('./compiler/table-command.ts')).tableVerify(file, io),
  },
  'feeds list': {
    options: 'feeds list',
    help: 'list the feeds of the catalogue',
    run: async (settings, _args, io) =>
      (await import('./compiler/feeds-command.ts')).feedsList(settings, io),
  },
  'history import <folder>': {
    options: 'history import',
    help: 'add past days: <folder>/<feed-id>/YYYY-MM-DD.txt.gz',
    changes: true,
    run: async ({ build: { history: store }, invocation: { force } }, [folder = ''], io) =>
      (await import('./compiler/history-command.ts')).historyImport({ folder, store, force }, io),
  },
  'history show <address>': {
    options: 'history show',
    help: 'show on which days each feed listed an address',
    run: async ({ build, invocation: { json } }, [address = ''], io) => {
      const asked = { address, store: build.history, json, ...optionalMember('asOf', build.asOf) }
      return (await import('./compiler/history-command.ts')).historyShow(asked, io)
    },
  },
  info: {
    options: 'info',
    help: 'show the state of the running server and of its table',
    run: async (settings, _args, io) =>
      (await import('./server/info-command.ts')).infoCommand(settings, io),
  },
  doctor: {
    options: 'doctor',
    help: 'say what is wrong here, and what to do about it',
    run: async (settings, _args, io) =>
      (await import('./doctor/doctor-command.ts')).doctorCommand(settings, io),
  },
  'feeds fetch': {
    options: 'feeds fetch',
    help: 'fetch the feeds that are on',
    changes: true,
    run: async (settings, _args, io) =>
      (await import('./compiler/feeds-command.ts')).feedsFetch(settings, io),
  },
}

/** A command on the keys; each loads its file itself, for their store is needed by none other. */
function keysCommand(
  run: (settings: Settings, id: string, io: CommandIo) => Promise<void>,
): RunCommand {
  return async (settings, [id = ''], io) => {
    await run(settings, id, { out: io.out, err: io.err, now: Date.now() })
    return exitCodes.done
  }
}

/** A request to a running server. */
function controlCommand(request: (settings: Settings) => ControlRequest): RunCommand {
  return async (settings, _args, io) =>
    (await import('./server/server-command.ts')).serverCommand(request(settings), settings, io)
}

/** Runs one command line; gives the exit code. Never throws. */
export async function main(args: readonly string[], io: Io): Promise<number> {
  let code: number = exitCodes.done
  const program = newProgram(io, (exit) => {
    code = exit
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    return explainFailure(error, io)
  }
}

function newProgram(io: Io, done: (code: number) => void): Command {
  const program = new Command('iprisk')
    .description('Says what kind of network an IP address is, from public feeds, offline.')
    .version(packageVersion)
    .showHelpAfterError('(iprisk --help lists the commands)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => printHelp(text, io.out),
      writeErr: (text) => printHelp(text, io.err),
      outputError: (text) => printUsageError(text, io),
    })
  const groups = new Map<string, Command>()
  for (const [words, entry] of Object.entries(commandTable)) {
    const [first = '', ...rest] = words.split(' ')
    const grouped = rest.length > 0 && !rest[0]?.startsWith('<')
    const parent = grouped ? groupOf(program, groups, first) : program
    const command = parent
      .command(grouped ? rest.join(' ') : words)
      .description(entry.help)
      .option(configOption.flag, configOption.help)
    for (const option of optionsOfCommand(entry.options)) command.option(option.flag, option.help)
    command.action(async (...given: unknown[]) => {
      // Commander hands over the arguments, then the options, then the command.
      const flags = given.at(-2) as Readonly<Record<string, unknown>>
      const sources: SettingSources = {
        command: entry.options,
        flags,
        environment: process.env,
        cwd: process.cwd(),
      }
      const { path, named } = configPathOf(sources)
      const identity = identityOrEmpty(path)
      const configuration = { path, named, identity, read: () => readSettings(sources) }
      const settings = readSettings(sources, configurationTeller(entry, io))
      const args = given.slice(0, -2).flat() as string[]
      done(await entry.run(settings, args, io, configuration))
    })
  }
  return program
}

/** Says which file decides, where that matters, and warns of one that others can write. */
function configurationTeller(
  { changes = false }: Pick<CommandEntry, 'changes'>,
  io: Io,
): ConfigListener {
  return ({ path, distrust }) => {
    if (changes) io.err(`iprisk: settings from ${path}`)
    if (distrust === undefined) return
    io.err(`iprisk: warning: ${path} is obeyed because it was named, but ${distrust}`)
  }
}

function groupOf(program: Command, groups: Map<string, Command>, name: string): Command {
  const known = groups.get(name)
  if (known !== undefined) return known
  const group = program.command(name).description(`${name}: see iprisk ${name} --help`)
  groups.set(name, group)
  return group
}

/** Commander's own text, of the table above alone. */
function printHelp(text: string, print: (line: string) => void): void {
  for (const line of text.trimEnd().split('\n')) print(line)
}

/** What Commander says of arguments, which it quotes; behind them, in a line of its own, advice. */
function printUsageError(text: string, io: Io): void {
  const advice = /\n\(Did you mean [a-z, -]+\?\)$/.exec(text.trimEnd())?.[0] ?? ''
  io.err(text.trimEnd().slice(0, -advice.length || undefined))
  if (advice !== '') io.err(advice.trimStart())
}

/** Where an error was thrown; its message, which stands before that, may be anything. */
function stackLines(error: unknown): readonly string[] {
  const stack = error instanceof Error ? error.stack : undefined
  return stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? []
}

/** Whose fault it was decides the exit code; only a bug shows its stack. */
function explainFailure(error: unknown, io: Io): number {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  }
  const [first = '', ...details] = error instanceof IpriskError ? error.lines : [messageOf(error)]
  if (error instanceof IpriskError && error.fault !== 'bug') {
    for (const line of [`iprisk: ${first}`, ...details]) io.err(line)
    return error.fault === 'usage' ? exitCodes.usage : exitCodes.failed
  }
  if (isDiskError(error)) {
    io.err(`iprisk: the disk refuses: ${first}. What was live stays; run it again.`)
    return exitCodes.failed
  }
  for (const line of [`iprisk: unexpected: ${first}`, ...details, ...stackLines(error)]) {
    io.err(line)
  }
  return exitCodes.failed
}

process.exitCode = await main(process.argv.slice(2), processIo())
