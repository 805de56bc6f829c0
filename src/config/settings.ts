// Settings in two steps: as written (setting-sources.ts), then validated and frozen. `readSettings` is the
// one way in. All problems are reported at once, never only the first.
//
// Precedence: flag, environment (`IPRISK_<OPTION>`, or `IPRISK_<OPTION>_FILE` for a file that holds
// the value), configuration file, default. Plans merge: a file may change one member of a default
// plan, and must give all members of a new one.
//
// Invariants: what is returned is deeply frozen plain data (it crosses to workers as it is), its
// paths are absolute, and the same sources give the same settings. Pure but for the files named.

import { flipsMaxPercentDefault } from '../base/limits.ts'
import { availableParallelism } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import type { Day } from '../base/day.ts'
import { parseDay } from '../base/day.ts'
import { IpriskError } from '../base/coded-error.ts'
import {
  connectionsDefault,
  hangMsDefault,
  poolQueueDefault,
  storeTimeoutMs,
  workerMemoryMbDefault,
} from '../base/limits.ts'
import { optionalMember } from '../base/optional-member.ts'
import { exposureProblems } from './exposure-rules.ts'
import type { CheckField, CheckFormat, AccessLogFormat } from './line-formats.ts'
import type { ApiName, Plan, PlanAsWritten, Plans } from './plan.ts'
import { defaultPlans } from './plan.ts'
import type { SettingProblem } from './setting-problem.ts'
import { formatSettingProblem, formatSettingValue, suggestName } from './setting-problem.ts'
import type {
  logAddressForms,
  logLevels,
  storePolicies,
  tlsVersions,
  ValidSettings,
} from './setting-checks.ts'
import { pathMembers, settingsSchema } from './setting-checks.ts'
import type { SettingSources } from './setting-sources.ts'
import { readConfigFile, readEnvironment, readFlags } from './setting-sources.ts'
import { parseStoreUrl } from './store-url.ts'
import type { SettingPath, SettingTree } from './setting-tree.ts'
import {
  createSettingTree,
  describeSettingOrigin,
  isSettingNode,
  settingOrigin,
  getSetting,
  setSetting,
} from './setting-tree.ts'

export interface ServeSettings {
  /** 0: a free one. */
  readonly port: number
  readonly host: string
  readonly adminPort: number
  readonly adminHost: string
  /** In place of host and port. */
  readonly adminSocket?: string
  readonly adminTokenFile?: string
  /** With both of these the API speaks TLS, and nothing else. */
  readonly tlsCertFile?: string
  readonly tlsKeyFile?: string
  readonly tlsMinVersion: (typeof tlsVersions)[number]
  readonly workers: number
  /** Of each worker's pool: threads, and requests that may be in it at once. */
  readonly poolThreads: number
  readonly poolQueue: number
  /** Of each worker: connections that it holds; 0 per address for no cap. */
  readonly connections: number
  readonly connectionsPerAddress: number
  readonly drainSeconds: number
  /** Between /readyz saying 503 and the port being closed. */
  readonly graceSeconds: number
  /** Silence of a worker after which it is killed and replaced. */
  readonly hangMs: number
  /** Of memory that it shares with nobody; a worker that holds more is replaced in good order. */
  readonly workerMemoryMb: number
  /** A span for `durationMs`, or `off`. */
  readonly refreshEvery: string
  readonly logLevel: (typeof logLevels)[number]
  readonly logAddresses: boolean
  readonly logAddressForm: (typeof logAddressForms)[number]
  readonly logAddressKeyFile?: string
}

/** Where keys and limits are kept. */
export interface StoreSettings {
  /** May hold a password: only `showStore` of it may be shown. Absent: the state folder. */
  readonly url?: string
  readonly passwordFile?: string
  readonly caFile?: string
  /** What becomes of a request that needs the store while it cannot be reached. */
  readonly policy: (typeof storePolicies)[number]
  readonly timeoutMs: number
  /** How many replicas must have a lease or a key before it counts. */
  readonly replicas: number
}

export interface BuildSettings {
  /** Nothing is fetched; it wins over `mirror`. */
  readonly offline: boolean
  /** Without a slash at its end. */
  readonly mirror?: string
  readonly asOf?: Day
  readonly out: string
  readonly report: string
  readonly snapshots: string
  /** Past observations. */
  readonly history: string
  readonly allFeeds: boolean
  /** Feeds that are on or off whatever the catalogue and `allFeeds` say. */
  readonly feeds: Readonly<Record<string, boolean>>
  /** Empty: the default data. */
  readonly networks: readonly string[]
  /** Empty: the default data. */
  readonly locations: readonly string[]
  /** Of a sample's verdicts, how many a new table may change, percent. */
  readonly flipsMaxPercent: number
}

/** What only this call of the command line says. */
export interface Invocation {
  readonly json: boolean
  /** A build goes live whatever the gate says, a reload whatever the canaries say. */
  readonly force: boolean
  /** An import takes the file's keys where they differ from those that are there. */
  readonly replace: boolean
  /** This server takes the place of the one that has its port. */
  readonly takeover: boolean
  /** How many acts of the audit log are shown. */
  readonly last: number
  /** The proxy in front of the API, without a slash at its end. */
  readonly front?: string
  readonly plan?: string
  readonly name?: string
  readonly api?: ApiName | 'none'
  readonly expires?: Day
  readonly rate?: number
  readonly burst?: number
  readonly quota?: number
  readonly graceHours: number
  /** Where the lines of a file have their address. */
  readonly column?: string
  readonly jsonField?: string
  readonly log?: AccessLogFormat
  /** What `check` writes. */
  readonly format?: CheckFormat
  readonly fields?: readonly CheckField[]
  /** Rows of each list of `summarize`. */
  readonly top: number
}

export interface Settings {
  readonly table: string
  readonly state: string
  readonly store: StoreSettings
  readonly serve: ServeSettings
  readonly build: BuildSettings
  readonly plans: Plans
  readonly invocation: Invocation
}

function writeDefaults(tree: SettingTree): void {
  const defaults = {
    table: 'data/table/world.iprisk',
    state: 'data/state',
    store: { policy: 'refuse', timeoutMs: storeTimeoutMs, replicas: 0 },
    serve: {
      port: 8080,
      host: '127.0.0.1',
      adminPort: 9090,
      adminHost: '127.0.0.1',
      workers: availableParallelism(),
      poolThreads: 1,
      poolQueue: poolQueueDefault,
      connections: connectionsDefault,
      connectionsPerAddress: 0,
      drainSeconds: 10,
      graceSeconds: 0,
      hangMs: hangMsDefault,
      workerMemoryMb: workerMemoryMbDefault,
      refreshEvery: 'off',
      logLevel: 'info',
      logAddresses: false,
      logAddressForm: 'full',
      tlsMinVersion: '1.2',
    },
    build: {
      offline: false,
      snapshots: 'data/snapshots',
      history: 'data/history',
      allFeeds: false,
      feeds: {},
      networks: [],
      locations: [],
      flipsMaxPercent: flipsMaxPercentDefault,
    },
    plans: defaultPlans,
    invocation: { json: false, force: false, replace: false, takeover: false },
  }
  for (const [member, value] of Object.entries(defaults)) {
    setSetting(tree, [member], value, { kind: 'default' })
  }
}

/** The members that an object at that place of the schema may have. */
function membersAt(path: SettingPath): readonly string[] {
  let schema: unknown = settingsSchema
  for (const member of path) {
    if (schema instanceof z.ZodUnion) schema = schema.options.at(-1)
    if (schema instanceof z.ZodObject) schema = schema.shape[String(member)] as unknown
    else if (schema instanceof z.ZodRecord) schema = schema.valueType
  }
  if (schema instanceof z.ZodUnion) schema = schema.options.at(-1)
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

/** The problems that one of zod's issues stands for. */
function problemsOf(
  issue: z.core.$ZodIssue,
  tree: SettingTree,
  under: SettingPath = [],
): SettingProblem[] {
  const path = [...under, ...issue.path]
  const value = getSetting(tree, path)
  const origin = describeSettingOrigin(settingOrigin(tree, path))
  // What one call says is known by its flag's name alone.
  const name = path
    .map(String)
    .join('.')
    .replace(/^invocation\./, '')
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      name: [...path, key].map(String).join('.'),
      value: formatSettingValue(getSetting(tree, [...path, key])),
      origin: describeSettingOrigin(settingOrigin(tree, [...path, key])),
      allowed: `there is no such member${suggestName(key, membersAt(path))}`,
    }))
  }
  // Of "none or an object", whoever wrote an object meant the object.
  if (issue.code === 'invalid_union' && isSettingNode(value)) {
    const inner = issue.errors.at(-1) ?? []
    return inner.flatMap((below) => problemsOf(below, tree, path))
  }
  if (issue.code === 'invalid_key') {
    const allowed = `its name must be ${issue.issues[0]?.message ?? 'another'}`
    return [{ name, origin, allowed }]
  }
  if (value === undefined) {
    return [{ name, origin, allowed: `it is missing, and must be ${issue.message}` }]
  }
  const allowed = `it must be ${issue.message}`
  // Whoever misspells a store's address may have its password anywhere in it.
  if (name === 'store.url') return [{ name, origin, allowed }]
  return [{ name, value: formatSettingValue(value), origin, allowed }]
}

/** What two settings together must not be. */
function crossProblems(tree: SettingTree): SettingProblem[] {
  const problems: SettingProblem[] = []
  const port = getSetting(tree, ['serve', 'port'])
  const path = ['serve', 'adminPort']
  if (typeof port === 'number' && port !== 0 && getSetting(tree, path) === port) {
    const allowed = 'it must be another port than serve.port'
    const origin = describeSettingOrigin(settingOrigin(tree, path))
    problems.push({ name: path.join('.'), value: formatSettingValue(port), origin, allowed })
  }
  const takeover = getSetting(tree, ['invocation', 'takeover'])
  if (takeover === true && port === 0) {
    const origin = describeSettingOrigin(settingOrigin(tree, ['serve', 'port']))
    const allowed = 'it must be the port of the server that is taken over'
    problems.push({ name: 'serve.port', value: formatSettingValue(port), origin, allowed })
  }
  const plan = getSetting(tree, ['invocation', 'plan'])
  const plans = getSetting(tree, ['plans'])
  if (typeof plan === 'string' && isSettingNode(plans) && !Object.hasOwn(plans, plan)) {
    const origin = describeSettingOrigin(settingOrigin(tree, ['invocation', 'plan']))
    const allowed = `it must be one of ${Object.keys(plans).join(', ')}`
    problems.push({ name: 'plan', value: formatSettingValue(plan), origin, allowed })
  }
  problems.push(...storeProblems(tree), ...exposureProblems(tree))
  return problems
}

/** Files of a store that is not there, or that has no use for them. */
function storeProblems(tree: SettingTree): SettingProblem[] {
  const url = getSetting(tree, ['store', 'url'])
  const parts = typeof url === 'string' ? parseStoreUrl(url) : undefined
  const problem = (member: string, allowed: string): readonly SettingProblem[] => {
    const path = ['store', member]
    const value = getSetting(tree, path)
    if (value === undefined) return []
    const origin = describeSettingOrigin(settingOrigin(tree, path))
    return [{ name: path.join('.'), value: formatSettingValue(value), origin, allowed }]
  }
  if (url === undefined) {
    const allowed = 'it is of use only with store.url'
    return [...problem('passwordFile', allowed), ...problem('caFile', allowed)]
  }
  return [
    ...(parts?.password === undefined
      ? []
      : problem('passwordFile', 'store.url has a password already')),
    ...(parts?.tls === false
      ? problem('caFile', 'it is of use only with TLS, which is rediss in store.url')
      : []),
  ]
}

/** An orchestrator's service links collide with IPRISK_PORT; say so to whoever meets it. */
function explainServiceLink(problem: SettingProblem): SettingProblem {
  if (!/^"(tcp|udp):\/\//.test(problem.value ?? '')) return problem
  const link = 'this is an orchestrator’s service link: set enableServiceLinks to false, '
  return { ...problem, allowed: `${problem.allowed}; ${link}or name the service otherwise` }
}

/** Makes the paths of the tree absolute: a file's by its folder, all others by `cwd`. */
function resolvePaths(tree: SettingTree, cwd: string): void {
  for (const path of pathMembers) {
    const value = getSetting(tree, path)
    const origin = settingOrigin(tree, path)
    const base = origin.kind === 'file' ? dirname(origin.path) : cwd
    const absolute = (text: unknown): unknown =>
      typeof text === 'string' && text !== '' ? resolve(base, text) : text
    if (Array.isArray(value)) setSetting(tree, path, value.map(absolute), origin)
    else if (typeof value === 'string') setSetting(tree, path, absolute(value), origin)
  }
}

function planOf(name: string, written: PlanAsWritten): Plan {
  const { apis, rate, quotaPerMonth, insights } = written
  return {
    name,
    apis,
    ...(rate === 'none' ? {} : { rate }),
    ...(quotaPerMonth === 'none' ? {} : { quotaPerMonth }),
    insights,
  }
}

function dayOrNone(text: string | undefined): Day | undefined {
  return text === undefined ? undefined : parseDay(text)
}

/** Without the members that nobody has given. */
function serveOf(valid: ValidSettings['serve']): ServeSettings {
  const { adminSocket, adminTokenFile, logAddressKeyFile, ...rest } = valid
  const { tlsCertFile, tlsKeyFile, ...always } = rest
  return {
    ...always,
    ...optionalMember('adminSocket', adminSocket),
    ...optionalMember('adminTokenFile', adminTokenFile),
    ...optionalMember('tlsCertFile', tlsCertFile),
    ...optionalMember('tlsKeyFile', tlsKeyFile),
    ...optionalMember('logAddressKeyFile', logAddressKeyFile),
  }
}

function settingsOf(valid: ValidSettings): Settings {
  const { table, state, store, serve, build, plans, invocation } = valid
  const { mirror, asOf, out = table, report = join(dirname(out), 'report.json'), ...rest } = build
  const { url, passwordFile, caFile, policy, timeoutMs, replicas } = store
  const { plan, name, api, expires, rate, burst, quota, front, ...rested } = invocation
  const { column, jsonField, log, format, fields, ...always } = rested
  return {
    table,
    state,
    store: {
      policy,
      timeoutMs,
      replicas,
      ...optionalMember('url', url),
      ...optionalMember('passwordFile', passwordFile),
      ...optionalMember('caFile', caFile),
    },
    serve: serveOf(serve),
    build: {
      ...rest,
      out,
      report,
      ...optionalMember('mirror', mirror?.replace(/\/+$/, '')),
      ...optionalMember('asOf', dayOrNone(asOf)),
    },
    plans: Object.fromEntries(
      Object.entries(plans).map(([planName, written]) => [planName, planOf(planName, written)]),
    ),
    invocation: {
      ...always,
      ...optionalMember('front', front?.replace(/\/+$/, '')),
      ...optionalMember('plan', plan),
      ...optionalMember('name', name),
      ...optionalMember('api', api),
      ...optionalMember('expires', dayOrNone(expires)),
      ...optionalMember('rate', rate),
      ...optionalMember('burst', burst),
      ...optionalMember('quota', quota),
      ...optionalMember('column', column),
      ...optionalMember('jsonField', jsonField),
      ...optionalMember('log', log),
      ...optionalMember('format', format),
      ...optionalMember('fields', fields),
    },
  }
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) freeze(inner)
    Object.freeze(value)
  }
  return value
}

/** Settings, or every problem that stands in their way. */
export function validateSettings(sources: SettingSources): Settings | readonly SettingProblem[] {
  const tree = createSettingTree()
  const problems: SettingProblem[] = []
  writeDefaults(tree)
  readConfigFile(sources, tree, problems)
  readEnvironment(sources, tree, problems)
  readFlags(sources, tree, problems)
  resolvePaths(tree, sources.cwd)
  const parsed = settingsSchema.safeParse(tree.root)
  for (const issue of parsed.error?.issues ?? []) problems.push(...problemsOf(issue, tree))
  problems.push(...crossProblems(tree))
  if (problems.length > 0 || parsed.data === undefined) return problems.map(explainServiceLink)
  return freeze(settingsOf(parsed.data))
}

/**
 * The settings of one call. Fails with `settings_invalid`, whose message has one line a problem.
 */
export function readSettings(sources: SettingSources): Settings {
  const judged = validateSettings(sources)
  if (!('length' in judged)) return judged
  const count = judged.length === 1 ? 'A setting' : `${judged.length} settings`
  const lines = judged.map((problem) => `  ${formatSettingProblem(problem)}`)
  const message = [`${count} cannot be used:`, ...lines].join('\n')
  throw new IpriskError({ code: 'settings_invalid', message, fault: 'usage' })
}
