// Reads the sources of settings into one tree, lowest precedence first: the configuration file, the
// environment, the flags. Text becomes numbers and switches here where it can; whether they are
// allowed is asked later. The only part of src/config that reads files.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { messageOf } from '../base/coded-error.ts'
import { configBytesMax, valueFileBytesMax } from '../base/limits.ts'
import {
  type Command,
  type Option,
  configOption,
  optionFlag,
  optionName,
  optionVariable,
  options,
} from './options.ts'
import { type SettingProblem, formatSettingValue, suggestName } from './setting-problem.ts'
import {
  type SettingOrigin,
  type SettingTree,
  defaultOrigin,
  isSettingNode,
  setSetting,
} from './setting-tree.ts'

export interface SettingSources {
  readonly command: Command
  /** What commander's `opts()` gives. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/** Sources that are being read: where their values go, and what is wrong with them so far. */
interface Reading {
  readonly sources: SettingSources
  readonly tree: SettingTree
  readonly problems: SettingProblem[]
}

const defaultFile = 'iprisk.json'

/** Text as the option's form has it; text that is none stays text, and is refused by the schema. */
function valueOf({ form }: Option, written: unknown): unknown {
  if (typeof written !== 'string') return written
  if (form === 'texts') return written.split(',')
  if (form === 'number' && /^-?\d+(\.\d+)?$/.test(written)) return Number(written)
  if (form === 'switch' && /^(true|1|yes|on)$/i.test(written)) return true
  if (form === 'switch' && /^(false|0|no|off)$/i.test(written)) return false
  return written
}

/** The system's usual reasons in words that say what to do. */
const readFailures: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it, or a folder above it',
}

/** A small text file, or why it cannot be read. */
function readText(path: string, bytesMax: number): { text: string } | { failure: string } {
  try {
    const stat = statSync(path)
    // Secrets are often pipes or links, so only folders are refused by their type.
    if (stat.isDirectory()) return { failure: 'it is a folder' }
    if (stat.size > bytesMax) return { failure: `it has more than ${bytesMax} bytes` }
    return { text: readFileSync(path, 'utf8').replace(/^\uFEFF/, '') }
  } catch (thrown) {
    const { code = '' } = thrown as NodeJS.ErrnoException
    return { failure: readFailures[code] ?? messageOf(thrown) }
  }
}

/** The value of one option in the environment, directly or by a file. */
function readVariable(
  name: string,
  { sources, problems }: Reading,
): { readonly value: string; readonly origin: SettingOrigin } | undefined {
  // An empty variable is how compose files say "not set".
  const direct = sources.environment[name] || undefined
  const fileVariable = `${name}_FILE`
  const named = sources.environment[fileVariable] || undefined
  if (named === undefined) {
    const words = `the environment variable ${name}`
    return direct === undefined ? undefined : { value: direct, origin: { words } }
  }
  const fail = (allowed: string, value?: string): undefined => {
    const origin = `the environment variable ${fileVariable}`
    const shown = value === undefined ? {} : { value: formatSettingValue(value) }
    problems.push({ name: fileVariable, ...shown, origin, allowed })
  }
  if (direct !== undefined) return fail(`${name} is set as well, and only one of the two may be`)
  const path = resolve(sources.cwd, named)
  const read = readText(path, valueFileBytesMax)
  if ('failure' in read) {
    return fail(`it must name a file that can be read: ${read.failure}`, named)
  }
  const value = read.text.replace(/\r?\n$/, '')
  // Unlike an empty variable: a file that was mounted and is empty is a secret that went astray.
  if (value === '') {
    return fail('it must name a file that holds the value, and this one is empty', named)
  }
  return { value, origin: { words: `the file ${path} that ${fileVariable} names` } }
}

/** Where the configuration file is, or would be. */
export function configPathOf(sources: SettingSources): string {
  return findFile(sources)?.path ?? resolve(sources.cwd, defaultFile)
}

/** Which file to read, and what names it: the flag, the variable, else the default. */
function findFile({
  flags,
  environment,
  cwd,
}: SettingSources): { readonly path: string; readonly origin: string } | undefined {
  const flag = flags['config']
  if (typeof flag === 'string') return { path: resolve(cwd, flag), origin: 'the flag --config' }
  const variable = environment[configOption.environment] || undefined
  if (variable !== undefined) {
    const origin = `the environment variable ${configOption.environment}`
    return { path: resolve(cwd, variable), origin }
  }
  const path = resolve(cwd, defaultFile)
  return existsSync(path) ? { path, origin: defaultOrigin.words } : undefined
}

/** ` (line 3, column 7)` where the message of JSON.parse gives a position, else nothing. */
function lineOf(text: string, message: string): string {
  const position = /at position (\d+)/.exec(message)?.[1]
  if (position === undefined || message.includes('line ')) return ''
  const before = text.slice(0, Number(position)).split('\n')
  return ` (line ${before.length}, column ${(before.at(-1) ?? '').length + 1})`
}

/** Reads the configuration file, if there is one, into the tree. */
function readConfigFile({ sources, tree, problems }: Reading): void {
  const found = findFile(sources)
  if (found === undefined) return
  const { path, origin } = found
  const fail = (allowed: string): void => {
    problems.push({ name: 'config', value: formatSettingValue(path), origin, allowed })
  }
  const read = readText(path, configBytesMax)
  if ('failure' in read) return fail(`it must name a file that can be read: ${read.failure}`)
  let content: unknown
  try {
    content = JSON.parse(read.text)
  } catch (thrown) {
    const message = messageOf(thrown)
    return fail(`it must be JSON: ${message}${lineOf(read.text, message)}`)
  }
  if (!isSettingNode(content)) return fail('it must be a JSON object of settings')
  const words = `the file ${path}`
  for (const [member, value] of Object.entries(content)) {
    if (member === '$schema') continue
    if (member === 'invocation') {
      const allowed = 'there is no such member; it is given by flags alone'
      problems.push({ name: member, origin: words, allowed })
      continue
    }
    setSetting(tree, [member], value, { words, folder: dirname(path) })
  }
}

/** Variables that are not ours to judge: test settings, and what orchestrators set for links. */
const foreignVariable =
  /^IPRISK_(TEST_\w+|SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP)(_\w+)?)$/

/** Reads the environment into the tree, and finds variables that are no option's. */
function readEnvironment(reading: Reading): void {
  const { sources, tree, problems } = reading
  const known = new Set<string>([configOption.environment])
  for (const option of options) {
    const name = optionVariable(option)
    known.add(name)
    known.add(`${name}_FILE`)
    // Another command's option is not this call's business.
    if (option.member[0] === 'invocation' && !option.commands.includes(sources.command)) continue
    const variable = readVariable(name, reading)
    if (variable === undefined) continue
    setSetting(tree, option.member, valueOf(option, variable.value), variable.origin)
  }
  for (const name of Object.keys(sources.environment)) {
    if (!name.startsWith('IPRISK_') || known.has(name) || foreignVariable.test(name)) continue
    const allowed = `there is no such setting${suggestName(name, [...known])}`
    problems.push({ name, origin: 'the environment', allowed })
  }
}

/** Reads the flags into the tree, and finds those that the command has not. */
function readFlags({ sources: { command, flags }, tree, problems }: Reading): void {
  for (const [name, written] of Object.entries(flags)) {
    if (written === undefined || name === 'config') continue
    const option = options.find((candidate) => optionName(candidate) === name)
    if (option === undefined || !option.commands.includes(command)) {
      const allowed = `iprisk ${command} has no such option`
      const value = formatSettingValue(written)
      problems.push({ name, value, origin: 'the command line', allowed })
      continue
    }
    const words = `the flag ${optionFlag(option)}`
    setSetting(tree, option.member, valueOf(option, written), { words })
  }
}

/** Reads all sources into the tree; gives what is wrong with the sources themselves. */
export function readSources(sources: SettingSources, tree: SettingTree): SettingProblem[] {
  const reading: Reading = { sources, tree, problems: [] }
  readConfigFile(reading)
  readEnvironment(reading)
  readFlags(reading)
  return reading.problems
}
