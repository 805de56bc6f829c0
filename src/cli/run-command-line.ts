// The command line: sets up commander, and turns errors into exit codes. Commands are in
// command-table.ts, options in src/config/option-table.ts.

import { accessSync, constants } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { IpriskError, isDiskError, messageOf } from '../base/coded-error.ts'
import { packageVersion } from '../base/package-root.ts'
import { configPathOf } from '../config/config-file.ts'
import { configOption, type Option, optionsOfCommand, optionVariable } from '../config/options.ts'
import type { SettingSources } from '../config/setting-sources.ts'
import { type ConfigListener, readSettings } from '../config/settings.ts'
import { identityOrEmpty } from '../base/system/file-watch.ts'
import { type CommandEntry, commandTable, splitWords } from './command-table.ts'
import { exitCodes, type Io, printLines, warn } from './terminal/io.ts'

/** Returns the exit code. Never throws. */
export async function runCommandLine(args: readonly string[], io: Io): Promise<number> {
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
    .description('Classify IP addresses and score their risk from public feeds, offline.')
    .version(packageVersion)
    .showHelpAfterError('(iprisk --help lists the commands)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => printLines(io, text.trimEnd().split('\n')),
      writeErr: (text) => printLines({ out: io.err }, text.trimEnd().split('\n')),
      outputError: (text) => printUsageError(text, io),
    })
  const groups = new Map<string, Command>()
  for (const [words, entry] of Object.entries(commandTable)) {
    const { name, groups: names, rest } = splitWords(words)
    const parent = groupOf(program, groups, names)
    const command = parent
      .command(rest)
      .description(entry.help)
      .option(configOption.flag, configHelp)
      .addHelpText('after', `\nExample:\n  $ iprisk ${entry.example}`)
    for (const option of optionsOfCommand(name)) {
      command.option(option.flag, optionHelp(option))
    }
    command.action(async (...given: unknown[]) => {
      // Commander passes the arguments, the options and the command.
      const flags = given.at(-2) as Readonly<Record<string, unknown>>
      const sources: SettingSources = {
        command: name,
        creates: entry.changes === true,
        flags,
        environment: process.env,
        cwd: process.cwd(),
      }
      const place = configPathOf(sources)
      const configuration = {
        ...place,
        identity: identityOrEmpty(place.path),
        read: (onFile?: ConfigListener) => readSettings(sources, onFile),
      }
      const settings = readSettings(sources, configurationListener(entry, io))
      const args = given.slice(0, -2).flat() as string[]
      const run = await entry.load()
      done((await run(settings, io, args, configuration)) ?? exitCodes.done)
    })
  }
  for (const group of groups.values()) {
    group.summary(group.commands.map((command) => command.name()).join(', '))
  }
  return program
}

/** Reports which file is used, if that matters, and warns of one that others can write. */
function configurationListener(
  { changes = false }: Pick<CommandEntry, 'changes'>,
  io: Io,
): ConfigListener {
  return ({ path, distrust, repeated }) => {
    if (changes) io.err(`iprisk: settings from ${path}`)
    for (const one of repeated) warn(io, `${path}: ${one}`)
    if (distrust !== undefined) warn(io, `${path} is used because it was named, but ${distrust}`)
  }
}

function groupOf(
  program: Command,
  groups: Map<string, Command>,
  names: readonly string[],
): Command {
  const last = names.at(-1)
  if (last === undefined) return program
  const path = names.join(' ')
  const known = groups.get(path)
  if (known !== undefined) return known
  const parent = groupOf(program, groups, names.slice(0, -1))
  const group = parent.command(last)
  groups.set(path, group)
  return group
}

/** Commander quotes arguments; its advice goes to a separate line. */
function printUsageError(text: string, io: Io): void {
  const advice = /\n\(Did you mean [a-z, -]+\?\)$/.exec(text.trimEnd())?.[0] ?? ''
  io.err(text.trimEnd().slice(0, -advice.length || undefined))
  if (advice !== '') io.err(advice.trimStart())
}

/** Skips the message, which may contain anything. */
function stackLines(error: unknown): readonly string[] {
  const stack = error instanceof Error ? error.stack : undefined
  return stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? []
}

/** The fault decides the exit code; only a bug shows its stack. */
function explainFailure(error: unknown, io: Io): number {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  }
  const [first = '', ...details] = error instanceof IpriskError ? error.lines : [messageOf(error)]
  if (error instanceof IpriskError && error.fault !== 'bug') {
    printLines({ out: io.err }, [`iprisk: ${first}`, ...details])
    return error.fault === 'usage' ? exitCodes.usage : exitCodes.failed
  }
  const refused = refusedAccess(error)
  if (refused !== undefined) {
    io.err(`iprisk: ${refused}: ${first}.`)
    return exitCodes.failed
  }
  if (isDiskError(error)) {
    io.err(`iprisk: the disk failed: ${first}. Free or repair it, then try again.`)
    return exitCodes.failed
  }
  const lines = [`iprisk: internal error: ${first}`, ...details, ...stackLines(error)]
  printLines({ out: io.err }, lines)
  return exitCodes.failed
}

/** Meaning, default, environment variable, and member of iprisk.json. */
export function optionHelp(option: Option): string {
  const { help, defaultText, member } = option
  // The help may already state it.
  const isSaid = defaultText === undefined || /\bdefault\b/.test(help)
  const facts = [
    ...(isSaid ? [] : [`default: ${defaultText}`]),
    `env: ${optionVariable(option)}`,
    ...(member[0] === 'invocation' ? [] : [`file: ${member.join('.')}`]),
  ]
  return `${help} (${facts.join(', ')})`
}

export const configHelp = `${configOption.help} (env: ${configOption.environment})`

// Refused access, which no retry changes. For full or broken disks: isDiskError
// (src/base/coded-error.ts).

const codes: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS'])
const readingCalls: ReadonlySet<string> = new Set(['scandir', 'stat', 'lstat', 'read', 'readlink'])

/** `this user may not write /srv/table`; `undefined` for any other error. */
export function refusedAccess(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, path, dest, syscall } = error as NodeJS.ErrnoException & { readonly dest?: string }
  const place = dest ?? path
  if (!codes.has(code ?? '') || place === undefined) return undefined
  const reads = readingCalls.has(syscall ?? '') || (syscall === 'open' && isUnreadable(place))
  return `this user may not ${reads ? 'read' : 'write'} ${place}`
}

/** The error does not say whether the file was opened for reading. */
function isUnreadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES'
  }
}
