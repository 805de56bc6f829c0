// Settings in two steps: as written (setting-sources.ts), then validated and frozen by
// `readSettings`, which reports all problems at once. A file may change one member of a default
// plan, and must give all members of a new one.
//
// Invariants: the result is deeply frozen plain data for workers; its paths are absolute. Reads
// only the files named, and the owners of default places (untrusted-defaults.ts).

import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { IpriskError } from '../base/coded-error.ts'
import type { ConfigFile } from './config-file.ts'
import type { Command, Option } from './options.ts'
import { optionFlag, options, pathMembers, settingsSchema } from './options.ts'
import { type Plan, type Plans, defaultPlans } from './plan.ts'
import { type SettingProblem, formatSettingProblem, suggestName } from './setting-problem.ts'
import { brokenRules } from './setting-rules.ts'
import { untrustedDefaults } from './untrusted-defaults.ts'
import { type SettingSources, readSources } from './setting-sources.ts'
import {
  type SettingNode,
  type SettingPath,
  type SettingTree,
  defaultOrigin,
  isSettingNode,
  problemAt,
  setSetting,
  settingOrigin,
  valueAt,
} from './setting-tree.ts'

/** Before dependent defaults are filled in. */
type ValidSettings = z.output<typeof settingsSchema>

type Frozen<T> = T extends string | number | boolean
  ? T
  : T extends readonly (infer Element)[]
    ? readonly Frozen<Element>[]
    : { readonly [Member in keyof T]: Frozen<T[Member]> }

export type Settings = Frozen<
  Omit<ValidSettings, 'build' | 'plans' | 'serve'> & {
    build: ValidSettings['build'] & { out: string; report: string }
    serve: ValidSettings['serve'] & { refreshEvery: string }
    plans: Plans
    stateNamed: boolean
  }
>
export type ServeSettings = Settings['serve']
export type StoreSettings = Settings['store']
export type Invocation = Settings['invocation']

function writeDefaults(tree: SettingTree): void {
  const none = {
    store: {},
    serve: {},
    feedback: {},
    build: {},
    publish: {},
    plans: {},
    lists: {},
    agents: {},
    invocation: {},
  }
  const defaults = { ...settingsSchema.parse(none), plans: defaultPlans }
  for (const [member, value] of Object.entries(defaults)) {
    setSetting(tree, [member], value, defaultOrigin)
  }
}

/** By its flag or name, in any form. */
function memberMeant(written: string): string | undefined {
  const plain = (name: string): string => name.replace(/[-_.]/g, '').toLowerCase()
  const names = options.filter(({ member }) => member[0] !== 'invocation')
  const named = (of: (option: Option) => string) =>
    names.find((option) => plain(of(option)) === plain(written))
  return (named(optionFlag) ?? named(({ member }) => member.at(-1)!))?.member.join('.')
}

function membersAt(path: SettingPath): readonly string[] {
  let schema: unknown = settingsSchema
  for (const member of path) {
    if (schema instanceof z.ZodUnion) schema = schema.options.at(-1)
    if (schema instanceof z.ZodObject) schema = schema.shape[String(member)] as unknown
    else if (schema instanceof z.ZodRecord) schema = schema.valueType
  }
  if (schema instanceof z.ZodUnion) schema = schema.options.at(-1)
  const members = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  // Options of a single call have no place in the file.
  return members.filter((member) => member !== 'invocation')
}

function problemsOf(
  issue: z.core.$ZodIssue,
  tree: SettingTree,
  under: SettingPath = [],
): readonly SettingProblem[] {
  const path = [...under, ...issue.path]
  const value = valueAt(tree.root, path)
  if (issue.code === 'unrecognized_keys') {
    const known = membersAt(path)
    return issue.keys.map((key) => {
      const meant = path[0] === 'plans' ? undefined : memberMeant(key)
      const hint = meant === undefined ? suggestName(key, known) : `; did you mean ${meant}?`
      return problemAt(tree, [...path, key], `unknown member${hint}`)
    })
  }
  // For "none or an object": a written object is meant as an object.
  if (issue.code === 'invalid_union' && isSettingNode(value)) {
    return (issue.errors.at(-1) ?? []).flatMap((below) => problemsOf(below, tree, path))
  }
  if (issue.code === 'invalid_key') {
    const { name, origin } = problemAt(tree, path, '')
    return [
      { name, origin, allowed: `its name must be ${issue.issues[0]?.message ?? 'different'}` },
    ]
  }
  const missing = value === undefined ? 'missing; ' : ''
  return [problemAt(tree, path, `${missing}must be ${issue.message}`)]
}

/** Service links of orchestrators collide with IPRISK_PORT. */
function explainServiceLink(problem: SettingProblem): SettingProblem {
  if (!/^"(tcp|udp):\/\//.test(problem.value ?? '')) return problem
  const link = 'this is a service link of the orchestrator: set enableServiceLinks to false '
  return { ...problem, allowed: `${problem.allowed}; ${link}or rename the service` }
}

/** Relative to its folder for a file's, to `cwd` for all others. */
function resolvePaths(tree: SettingTree, cwd: string): void {
  for (const path of pathMembers) {
    const value = valueAt(tree.root, path)
    const origin = settingOrigin(tree, path)
    const absolute = (text: unknown): unknown =>
      typeof text === 'string' && text !== '' && text !== '-'
        ? resolve(origin.folder ?? cwd, text)
        : text
    if (Array.isArray(value)) setSetting(tree, path, value.map(absolute), origin)
    else if (typeof value === 'string') setSetting(tree, path, absolute(value), origin)
  }
}

function planOf(name: string, written: ValidSettings['plans'][string]): Plan {
  const { apis, rate, quotaPerMonth, insights } = written
  return {
    name,
    apis,
    rate: rate === 'none' ? undefined : rate,
    quotaPerMonth: quotaPerMonth === 'none' ? undefined : quotaPerMonth,
    insights,
  }
}

function settingsOf(valid: ValidSettings, command: Command): Omit<Settings, 'stateNamed'> {
  const { out = valid.table, report = join(dirname(out), 'report.json') } = valid.build
  const isFed = command === 'start' && !valid.build.offline
  const { refreshEvery = isFed ? '24h' : 'off' } = valid.serve
  const plans = Object.entries(valid.plans).map(([name, plan]) => [name, planOf(name, plan)])
  return {
    ...valid,
    build: { ...valid.build, out, report },
    serve: { ...valid.serve, refreshEvery },
    plans: Object.fromEntries(plans) as Plans,
  }
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) freeze(inner)
    Object.freeze(value)
  }
  return value
}

export type ConfigListener = (file: Omit<ConfigFile, 'content'>) => void

/** Returns every problem if there is one. */
export function validateSettings(
  sources: SettingSources,
  onFile: ConfigListener = () => undefined,
): Settings | readonly SettingProblem[] {
  const tree: SettingTree = { root: Object.create(null) as SettingNode, origins: new Map() }
  writeDefaults(tree)
  const { problems, file } = readSources(sources, tree)
  if (file !== undefined) onFile(file)
  resolvePaths(tree, sources.cwd)
  const parsed = settingsSchema.safeParse(tree.root)
  for (const issue of parsed.error?.issues ?? []) problems.push(...problemsOf(issue, tree))
  problems.push(...brokenRules(tree), ...untrustedDefaults(tree, sources))
  if (problems.length > 0 || parsed.data === undefined) return problems.map(explainServiceLink)
  const stateNamed = settingOrigin(tree, ['state']) !== defaultOrigin
  return freeze({ ...settingsOf(parsed.data, sources.command), stateNamed })
}

/** Throws `settings_invalid`, with a line for each problem. */
export function readSettings(sources: SettingSources, onFile?: ConfigListener): Settings {
  const judged = validateSettings(sources, onFile)
  if (!('length' in judged)) return judged
  const count = judged.length === 1 ? 'Invalid setting' : `${judged.length} invalid settings`
  throw new IpriskError({
    code: 'settings_invalid',
    message: `${count}:`,
    details: judged.map((problem) => `  ${formatSettingProblem(problem)}`),
    fault: 'usage',
  })
}
