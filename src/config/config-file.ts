// The configuration file: which one it is, whether it may be used, and its content as written.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '../base/coded-error.ts'
import { decodeText } from '../base/text/byte-order-mark.ts'
import { repeatedMessage } from '../base/text/repeated-members.ts'
import { type TrustedFile, readTrustedFile } from '../base/system/trusted-file.ts'
import { parseJsonContent } from './json-content.ts'
import { configOption } from './options.ts'
import { type SettingProblem, formatSettingValue } from './setting-problem.ts'
import { type SettingNode, defaultOrigin, isSettingNode } from './setting-tree.ts'

/** A configuration file larger than this is another file: a thousand plans are 200 KiB. */
const configBytesMax = 1_048_576

const defaultFile = 'iprisk.json'
const flag = '--config'

export interface ConfigPlace {
  readonly flags: Readonly<Record<string, unknown>>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

export interface ConfigFile {
  readonly path: string
  /** Why it would not be used without being named. */
  readonly distrust: string | undefined
  readonly content: SettingNode
  readonly repeated: readonly string[]
}

/** `named`: by flag or environment variable. */
export function configPathOf({ flags, environment, cwd }: ConfigPlace) {
  const given = flags['config']
  if (typeof given === 'string') {
    return { path: resolve(cwd, given), origin: `the flag ${flag}`, named: true }
  }
  const variable = environment[configOption.environment] || undefined
  if (variable !== undefined) {
    const origin = `the environment variable ${configOption.environment}`
    return { path: resolve(cwd, variable), origin, named: true }
  }
  return { path: resolve(cwd, defaultFile), origin: defaultOrigin.words, named: false }
}

export function readConfigFile(place: ConfigPlace): ConfigFile | SettingProblem | undefined {
  const { path, origin, named } = configPathOf(place)
  if (!named && !existsSync(path)) return undefined
  const problem = (allowed: string): SettingProblem => {
    return { name: 'config', value: formatSettingValue(path), origin, allowed }
  }
  let file: TrustedFile
  try {
    file = readTrustedFile(path, { bytesMax: configBytesMax, named, flag })
  } catch (thrown) {
    const rule = named ? 'must name a readable file' : 'it cannot be used'
    return problem(`${rule}: ${messageOf(thrown)}`)
  }
  const parsed = parseJsonContent(decodeText(file.bytes))
  if ('failure' in parsed) {
    const { failure, name } = parsed
    if (name === undefined) return problem(failure)
    return { name, origin: `the file ${path}`, allowed: failure }
  }
  const { content } = parsed
  const repeated = parsed.repeated.map(repeatedMessage)
  if (!isSettingNode(content)) return problem('must be a JSON object of settings')
  return { path, content, repeated, distrust: file.distrust }
}
