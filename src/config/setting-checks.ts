// What every setting may be. Each check carries one sentence piece that completes "it must be …":
// it is the whole of what a person is told, so zod's own messages never show. Strict: a member that
// is not here is a mistake, and settings.ts says which one was probably meant.

import { isIP } from 'node:net'
import { z } from 'zod'
import { parseDay } from '../base/day.ts'
import { parseDurationMs } from '../base/duration.ts'
import {
  auditActsShown,
  auditActsShownMax,
  connectionsMax,
  drainSecondsMax,
  graceSecondsMax,
  hangMsMax,
  hangMsMin,
  keyNameCharsMax,
  plansMax,
  poolQueueMax,
  poolThreadsMax,
  quotaPerMonthMax,
  rateBurstMax,
  ratePerSecondMax,
  refreshMsMax,
  refreshMsMin,
  rotationGraceHours,
  rotationGraceHoursMax,
  socketPathBytesMax,
  storeReplicasMax,
  storeTimeoutMsMax,
  storeTimeoutMsMin,
  topMax,
  topShown,
  workerMemoryMbMax,
  workerMemoryMbMin,
  workersMax,
} from '../base/limits.ts'
import { checkFields, checkFormats, accessLogFormats } from './line-formats.ts'
import { apiNames, insightsModes } from './plan.ts'
import { parseStoreUrl } from './store-url.ts'

/** What to do with a request that needs a store which cannot be reached. */
export const storePolicies = ['refuse', 'serve'] as const

export const tlsVersions = ['1.2', '1.3'] as const

/** How an address is logged where addresses are wanted. */
export const logAddressForms = ['full', 'short', 'keyed'] as const

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** A whole number; `unit` follows it in the message, `or` comes before it. */
function whole(range: {
  readonly min: number
  readonly max: number
  readonly unit?: string
  readonly or?: string
}) {
  const { min, max, unit, or = '' } = range
  const number = `a whole number${unit === undefined ? '' : ` of ${unit}`}`
  const allowed = `${or}${number} from ${min} to ${max}`
  return z.int(allowed).min(min, allowed).max(max, allowed)
}

function oneOf<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, `one of ${values.join(', ')}`)
}

export function textSchema(allowed: string, test: (value: string) => boolean) {
  return z.string(allowed).refine(test, allowed)
}

const hostName = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i
// What looks like an IPv4 address and is none would otherwise pass as a host name.
const dotted = /^[\d.]+$/

/** An http or https address without credentials: those would end up in logs and reports. */
function isMirror(value: string): boolean {
  if (!URL.canParse(value)) return false
  const url = new URL(value)
  const plain = url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return plain && (url.protocol === 'http:' || url.protocol === 'https:')
}

const webAddress = textSchema('an http or https address without user, query and fragment', isMirror)

function isRefreshSpan(value: string): boolean {
  const ms = parseDurationMs(value)
  return ms === 0 || (ms >= refreshMsMin && ms <= refreshMsMax)
}

/** Printable text: a name goes to terminals and logs as it is. */
function isLabel(value: string): boolean {
  return value.length <= keyNameCharsMax && !/\p{C}/u.test(value)
}

const port = whole({ min: 0, max: 65_535 })
const host = textSchema(
  'an address or a host name',
  (value) => isIP(value) !== 0 || (hostName.test(value) && !dotted.test(value)),
)
const path = textSchema(
  'the path of a file or folder',
  (value) => value !== '' && !value.includes('\0'),
)
const socketPath = textSchema(
  `the path of a socket, at most ${socketPathBytesMax} bytes when absolute`,
  (value) =>
    value !== '' && !value.includes('\0') && Buffer.byteLength(value) <= socketPathBytesMax,
)
const paths = z.array(path, 'a list of paths')
const onOff = z.boolean('true or false')
export const daySchema = textSchema('a day as YYYY-MM-DD', (value) => parseDay(value) !== undefined)
export const perSecondSchema = whole({ min: 1, max: ratePerSecondMax, unit: 'requests a second' })
export const burstSchema = whole({ min: 1, max: rateBurstMax, unit: 'requests' })
const percent = 'a number from 0 to 100'
const quotaRange = { min: 1, max: quotaPerMonthMax, unit: 'checks a month' }
export const quotaSchema = whole(quotaRange)
const quotaOrNone = whole({ ...quotaRange, or: '"none" or ' })

const identifier = (what: string) =>
  z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,63}$/, `${what} of a–z, 0–9, _ and -, beginning with a letter`)

const rateAllowed = '"none" or an object of perSecond and burst'
/** Of a key, whatever it is called by. */
export const keyNameSchema = textSchema(
  `printable text of at most ${keyNameCharsMax} characters`,
  isLabel,
)

export const apisSchema = z
  .array(oneOf(apiNames), `a list of ${apiNames.join(', ')}; empty where none is included`)
  .refine((list) => new Set(list).size === list.length, 'a list that names each API once')

const plan = z.strictObject(
  {
    apis: apisSchema,
    rate: z.union(
      [
        z.literal('none'),
        z.strictObject({ perSecond: perSecondSchema, burst: burstSchema }, rateAllowed),
      ],
      rateAllowed,
    ),
    quotaPerMonth: z.union(
      [z.literal('none'), quotaOrNone],
      '"none" or a whole number of checks a month',
    ),
    insights: oneOf(insightsModes),
  },
  'an object of apis, rate, quotaPerMonth and insights',
)

const serve = z.strictObject(
  {
    port,
    host,
    adminPort: port,
    adminHost: host,
    adminSocket: socketPath.optional(),
    adminTokenFile: path.optional(),
    tlsCertFile: path.optional(),
    tlsKeyFile: path.optional(),
    tlsMinVersion: oneOf(tlsVersions),
    workers: whole({ min: 1, max: workersMax, unit: 'processes' }),
    poolThreads: whole({ min: 1, max: poolThreadsMax, unit: 'threads' }),
    poolQueue: whole({ min: 1, max: poolQueueMax, unit: 'requests' }),
    connections: whole({ min: 1, max: connectionsMax, unit: 'connections' }),
    connectionsPerAddress: whole({ min: 0, max: connectionsMax, unit: 'connections' }),
    drainSeconds: whole({ min: 0, max: drainSecondsMax, unit: 'seconds' }),
    graceSeconds: whole({ min: 0, max: graceSecondsMax, unit: 'seconds' }),
    hangMs: whole({ min: hangMsMin, max: hangMsMax, unit: 'milliseconds' }),
    workerMemoryMb: whole({ min: workerMemoryMbMin, max: workerMemoryMbMax, unit: 'MiB' }),
    refreshEvery: textSchema('"off" or a span from 1m to 30d, such as 30m, 1h, 1d', isRefreshSpan),
    logLevel: oneOf(logLevels),
    logAddresses: onOff,
    logAddressForm: oneOf(logAddressForms),
    logAddressKeyFile: path.optional(),
  },
  'an object',
)

const build = z.strictObject(
  {
    offline: onOff,
    mirror: webAddress.optional(),
    asOf: daySchema.optional(),
    out: path.optional(),
    report: path.optional(),
    snapshots: path,
    history: path,
    allFeeds: onOff,
    feeds: z.record(
      identifier('the id of a feed'),
      onOff,
      'an object of feed ids, each true or false',
    ),
    networks: paths,
    locations: paths,
    flipsMaxPercent: z.number(percent).min(0, percent).max(100, percent),
  },
  'an object',
)

const storeForms =
  'redis://host:port/db, redis+sentinel://host:port,host:port/master or ' +
  'redis+cluster://host:port,host:port, with rediss for TLS'

const store = z.strictObject(
  {
    url: textSchema(storeForms, (value) => parseStoreUrl(value) !== undefined).optional(),
    passwordFile: path.optional(),
    caFile: path.optional(),
    policy: oneOf(storePolicies),
    timeoutMs: whole({ min: storeTimeoutMsMin, max: storeTimeoutMsMax, unit: 'milliseconds' }),
    replicas: whole({ min: 0, max: storeReplicasMax, unit: 'replicas' }),
  },
  'an object',
)

/** What belongs to one call of the command line. */
const invocation = z.strictObject({
  json: onOff,
  force: onOff,
  replace: onOff,
  front: webAddress.optional(),
  takeover: onOff,
  last: whole({ min: 1, max: auditActsShownMax, unit: 'acts' }).default(auditActsShown),
  plan: z.string().optional(),
  name: keyNameSchema.optional(),
  api: oneOf([...apiNames, 'none']).optional(),
  expires: daySchema.optional(),
  rate: perSecondSchema.optional(),
  burst: burstSchema.optional(),
  quota: quotaSchema.optional(),
  graceHours: whole({ min: 0, max: rotationGraceHoursMax, unit: 'hours' }).default(
    rotationGraceHours,
  ),
  column: textSchema('the name or number of a column', (value) => value !== '').optional(),
  jsonField: textSchema('the path of a member', (value) => value !== '').optional(),
  log: oneOf(accessLogFormats).optional(),
  format: oneOf(checkFormats).optional(),
  fields: z.array(oneOf(checkFields), 'a list of columns').min(1, 'a list of columns').optional(),
  top: whole({ min: 1, max: topMax, unit: 'rows' }).default(topShown),
})

export const settingsSchema = z.strictObject({
  table: path,
  state: path,
  store,
  serve,
  build,
  plans: z
    .record(identifier('the name of a plan'), plan, 'an object of plans')
    .refine((plans) => Object.keys(plans).length <= plansMax, `at most ${plansMax} plans`),
  invocation,
})

/** Settings as validated, before paths and defaults that depend on others are filled in. */
export type ValidSettings = z.infer<typeof settingsSchema>

/** The members that hold paths; a file's are relative to the file's own folder. */
export const pathMembers = [
  ['table'],
  ['state'],
  ['store', 'passwordFile'],
  ['store', 'caFile'],
  ['serve', 'adminSocket'],
  ['serve', 'adminTokenFile'],
  ['serve', 'tlsCertFile'],
  ['serve', 'tlsKeyFile'],
  ['serve', 'logAddressKeyFile'],
  ['build', 'out'],
  ['build', 'report'],
  ['build', 'snapshots'],
  ['build', 'history'],
  ['build', 'networks'],
  ['build', 'locations'],
] as const satisfies readonly (readonly string[])[]
