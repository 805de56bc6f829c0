// Reads the sources of settings into one tree, lowest precedence first: the configuration file, the
// environment, the flags. Text becomes numbers and switches here where it can; whether they are
// allowed is asked later. The only part of src/config that reads files.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '../base/coded-error.ts'
import { configBytesMax, valueFileBytesMax } from '../base/limits.ts'
import type { Command, Option } from './options.ts'
import { configOption, optionVariable, optionFlag, optionName, options } from './options.ts'
import type { SettingProblem } from './setting-problem.ts'
import { formatSettingValue, suggestName } from './setting-problem.ts'
import type { SettingOrigin, SettingTree } from './setting-tree.ts'
import { describeSettingOrigin, isSettingNode, setSetting } from './setting-tree.ts'

export interface SettingSources {
  readonly command: Command
  /** What commander's `opts()` gives. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

const defaultFile = 'iprisk.json'

const switches: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  yes: true,
  on: true,
  false: false,
  '0': false,
  no: false,
  off: false,
}

/** Text as the option's form has it; text that is none stays text, and is refused by the schema. */
function valueOf(option: Option, written: unknown): unknown {
  if (option.form === 'texts' && typeof written === 'string') return written.split(',')
  if (typeof written !== 'string') return written
  if (option.form === 'number' && /^-?\d+(\.\d+)?$/.test(written)) return Number(written)
  const flag = switches[written.toLowerCase()]
  return option.form === 'switch' && flag !== undefined ? flag : written
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
    return { failure: reasonOf(thrown) }
  }
}

/** The system's usual reasons in words that say what to do. */
function reasonOf(thrown: unknown): string {
  const { code } = thrown as NodeJS.ErrnoException
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EACCES') return 'this user may not read it, or a folder above it'
  return messageOf(thrown)
}

/** The value of one option in the environment, directly or by a file. */
function readVariable(
  name: string,
  sources: SettingSources,
  problems: SettingProblem[],
): { readonly value: string; readonly origin: SettingOrigin } | undefined {
  // An empty variable is how compose files say "not set".
  const direct = sources.environment[name] || undefined
  const fileVariable = `${name}_FILE`
  const named = sources.environment[fileVariable] || undefined
  if (named === undefined) {
    return direct === undefined
      ? undefined
      : { value: direct, origin: { kind: 'environment', name } }
  }
  const origin = `the environment variable ${fileVariable}`
  if (direct !== undefined) {
    const allowed = `${name} is set as well, and only one of the two may be`
    problems.push({ name: fileVariable, origin, allowed })
    return undefined
  }
  const path = resolve(sources.cwd, named)
  const read = readText(path, valueFileBytesMax)
  if ('failure' in read) {
    const allowed = `it must name a file that can be read: ${read.failure}`
    problems.push({ name: fileVariable, value: formatSettingValue(named), origin, allowed })
    return undefined
  }
  const value = read.text.replace(/\r?\n$/, '')
  if (value === '') {
    // Unlike an empty variable: a file that was mounted and is empty is a secret that went astray.
    const allowed = 'it must name a file that holds the value, and this one is empty'
    problems.push({ name: fileVariable, value: formatSettingValue(named), origin, allowed })
    return undefined
  }
  return { value, origin: { kind: 'value-file', name: fileVariable, path } }
}

/** Where the configuration file is, or would be. */
export function configPathOf(sources: SettingSources): string {
  return findFile(sources)?.path ?? resolve(sources.cwd, defaultFile)
}

/** Which file to read: the flag's, the variable's, else the default one where it exists. */
function findFile(
  sources: SettingSources,
): { readonly path: string; readonly origin: SettingOrigin } | undefined {
  const flag = sources.flags['config']
  if (typeof flag === 'string') {
    return { path: resolve(sources.cwd, flag), origin: { kind: 'flag', name: '--config' } }
  }
  const variable = sources.environment[configOption.environment] || undefined
  if (variable !== undefined) {
    const origin = { kind: 'environment', name: configOption.environment } as const
    return { path: resolve(sources.cwd, variable), origin }
  }
  const path = resolve(sources.cwd, defaultFile)
  return existsSync(path) ? { path, origin: { kind: 'default' } } : undefined
}

/** ` (line 3, column 7)` where the message of JSON.parse gives a position, else nothing. */
function lineOf(text: string, message: string): string {
  const position = /at position (\d+)/.exec(message)?.[1]
  if (position === undefined || message.includes('line ')) return ''
  const before = text.slice(0, Number(position)).split('\n')
  return ` (line ${before.length}, column ${(before.at(-1) ?? '').length + 1})`
}

/** Reads the configuration file, if there is one, into the tree. */
export function readConfigFile(
  sources: SettingSources,
  tree: SettingTree,
  problems: SettingProblem[],
): void {
  const found = findFile(sources)
  if (found === undefined) return
  const { path } = found
  const origin = describeSettingOrigin(found.origin)
  const fail = (allowed: string): void => {
    problems.push({ name: 'config', value: formatSettingValue(path), origin, allowed })
  }
  const read = readText(path, configBytesMax)
  if ('failure' in read) {
    fail(`it must name a file that can be read: ${read.failure}`)
    return
  }
  let content: unknown
  try {
    content = JSON.parse(read.text)
  } catch (thrown) {
    fail(`it must be JSON: ${messageOf(thrown)}${lineOf(read.text, messageOf(thrown))}`)
    return
  }
  if (!isSettingNode(content)) {
    fail('it must be a JSON object of settings')
    return
  }
  for (const [member, value] of Object.entries(content)) {
    if (member === '$schema') continue
    if (member === 'invocation') {
      const allowed = 'there is no such member; it is given by flags alone'
      problems.push({ name: member, origin: `the file ${path}`, allowed })
      continue
    }
    setSetting(tree, [member], value, { kind: 'file', path })
  }
}

/** Variables that are not ours to judge: test settings, and what orchestrators set for links. */
const foreignVariable =
  /^IPRISK_(TEST_\w+|SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP)(_\w+)?)$/

/** Reads the environment into the tree, and finds variables that nobody knows. */
export function readEnvironment(
  sources: SettingSources,
  tree: SettingTree,
  problems: SettingProblem[],
): void {
  const known = new Set<string>([configOption.environment])
  for (const option of options) {
    const name = optionVariable(option)
    known.add(name)
    known.add(`${name}_FILE`)
    // Another command's option is not this call's business.
    if (option.member[0] === 'invocation' && !option.commands.includes(sources.command)) continue
    const variable = readVariable(name, sources, problems)
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
export function readFlags(
  sources: SettingSources,
  tree: SettingTree,
  problems: SettingProblem[],
): void {
  for (const [name, written] of Object.entries(sources.flags)) {
    if (written === undefined || name === 'config') continue
    const option = options.find((candidate) => optionName(candidate) === name)
    if (option === undefined || !option.commands.includes(sources.command)) {
      const allowed = `iprisk ${sources.command} has no such option`
      problems.push({
        name,
        value: formatSettingValue(written),
        origin: 'the command line',
        allowed,
      })
      continue
    }
    const origin = { kind: 'flag', name: optionFlag(option) } as const
    setSetting(tree, option.member, valueOf(option, written), origin)
  }
}
