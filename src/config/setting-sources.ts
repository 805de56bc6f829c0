// Reads the sources of settings into one tree, lowest precedence first: the configuration file, the
// environment, the flags. Text becomes numbers and switches where possible.

import { dirname, resolve } from 'node:path'
import { messageOf } from '../base/coded-error.ts'
import { decodeText } from '../base/text/byte-order-mark.ts'
import { readBoundedFile, secretFile } from '../base/system/bounded-file.ts'
import { type ConfigFile, type ConfigPlace, readConfigFile } from './config-file.ts'
import type { Command, Option } from './options.ts'
import { configOption, optionFlag, optionName, optionVariable, options } from './options.ts'
import { type SettingProblem, formatSettingValue, suggestName } from './setting-problem.ts'
import { type SettingTree, setSetting } from './setting-tree.ts'

/** For an `IPRISK_…_FILE`; a path has at most 4 KiB. */
const valueFileBytesMax = 16_384

/** `flags` are commander's `opts()`. */
export interface SettingSources extends ConfigPlace {
  readonly command: Command
  readonly creates?: boolean
}

interface Reading {
  readonly sources: SettingSources
  readonly tree: SettingTree
  readonly problems: SettingProblem[]
}

/** Other text stays text, and the schema rejects it. */
function valueOf({ form }: Option, written: unknown): unknown {
  if (typeof written !== 'string') return written
  if (form === 'texts') return written.split(',')
  if (form === 'number' && /^-?\d+(\.\d+)?$/.test(written)) return Number(written)
  if (form === 'switch' && /^(true|1|yes|on)$/i.test(written)) return true
  if (form === 'switch' && /^(false|0|no|off)$/i.test(written)) return false
  return written
}

/** Directly, or from a file. */
function readVariable(name: string, { sources, problems }: Reading) {
  // Compose files pass "not set" this way.
  const direct = sources.environment[name] || undefined
  const fileVariable = `${name}_FILE`
  const named = sources.environment[fileVariable] || undefined
  if (named === undefined) {
    const words = `the environment variable ${name}`
    return direct === undefined ? undefined : { value: direct, origin: { words } }
  }
  const fail = (allowed: string, value?: string): undefined => {
    const origin = `the environment variable ${fileVariable}`
    const shown = value === undefined ? undefined : formatSettingValue(value)
    problems.push({ name: fileVariable, value: shown, origin, allowed })
  }
  if (direct !== undefined) return fail(`${name} is set as well; set only one of the two`)
  const path = resolve(sources.cwd, named)
  let text: string
  try {
    const { bytes } = readBoundedFile(path, { ...secretFile, bytesMax: valueFileBytesMax })
    text = decodeText(bytes)
  } catch (thrown) {
    return fail(`must name a readable file: ${messageOf(thrown)}`, named)
  }
  const value = text.replace(/\r?\n$/, '')
  // An empty mounted file is a lost secret.
  if (value === '') {
    return fail('must name a file with the value; this one is empty', named)
  }
  return { value, origin: { words: `the file ${path} that ${fileVariable} names` } }
}

function readFile({ tree, problems }: Reading, { path, content }: ConfigFile): void {
  const words = `the file ${path}`
  for (const [member, value] of Object.entries(content)) {
    if (member === '$schema') continue
    if (member === 'invocation') {
      const allowed = 'unknown member; use flags for options of a single call'
      problems.push({ name: member, origin: words, allowed })
      continue
    }
    setSetting(tree, [member], value, { words, folder: dirname(path) })
  }
}

/** Variables of others: test settings, an application's key and URL, and orchestrators' links. */
const foreignVariable =
  /^IPRISK_(TEST_\w+|KEY|URL|SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP)(_\w+)?)$/

/** Also reports variables that match no option. */
function readEnvironment(reading: Reading): void {
  const { sources, tree, problems } = reading
  const known = new Set<string>([configOption.environment])
  for (const option of options) {
    const name = optionVariable(option)
    known.add(name)
    known.add(`${name}_FILE`)
    // Options of other commands do not matter to this call.
    if (option.member[0] === 'invocation' && !option.commands.includes(sources.command)) continue
    const variable = readVariable(name, reading)
    if (variable === undefined) continue
    setSetting(tree, option.member, valueOf(option, variable.value), variable.origin)
  }
  for (const name of Object.keys(sources.environment)) {
    if (!name.startsWith('IPRISK_') || known.has(name) || foreignVariable.test(name)) continue
    const allowed = `unknown setting${suggestName(name, [...known])}`
    problems.push({ name, origin: 'the environment', allowed })
  }
}

/** Also reports flags that the command does not have. */
function readFlags({ sources: { command, flags }, tree, problems }: Reading): void {
  for (const [name, written] of Object.entries(flags)) {
    if (written === undefined || name === 'config') continue
    // Two commands may have the same flag for different things.
    const named = options.filter((candidate) => optionName(candidate) === name)
    const option = named.find(({ commands }) => commands.includes(command)) ?? named[0]
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

export function readSources(sources: SettingSources, tree: SettingTree) {
  const problems: SettingProblem[] = []
  const reading: Reading = { sources, tree, problems }
  const found = readConfigFile(sources)
  const file = found !== undefined && 'content' in found ? found : undefined
  if (file !== undefined) readFile(reading, file)
  else if (found !== undefined && 'allowed' in found) problems.push(found)
  readEnvironment(reading)
  readFlags(reading)
  return { problems, file }
}
