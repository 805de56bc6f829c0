// The zod types of settings; option-table.ts says which has which. Each completes "must be …",
// which is all that a user reads: zod's own messages never show. Objects are strict; settings.ts
// suggests a member for a mistyped one.

import { isIP } from 'node:net'
import { z } from 'zod'
import { type Day, msPerDay, parseDay } from '../base/day.ts'
import { parseDays, parseDurationMs, parseMoment } from '../base/time-text.ts'
import * as limits from '../base/limits.ts'
import { trimEnd } from '../base/text/clean-text.ts'
import { parsePrefix } from '../ip/range.ts'
import { apiNames, insightsModes } from './plan.ts'
import { bouncerSetName, builtInSets } from '../model/published-sets.ts'
import {
  isPublishPlace,
  placeNameForm,
  isTableSource,
  parseStages,
  trustedKeyForm,
} from './values/publish-values.ts'
import { parseStoreUrl } from './values/store-url.ts'

/** Publishers of feeds would refuse a shorter one. */
const refreshMsMin = 60_000
const refreshMsMax = 2_592_000_000

const plansMax = 1000

/** The current and the next one, plus some for several builders. */
const trustedKeysMax = 8

/** `unit` follows it in the sentence, `or` comes before it. */
export function whole([min, max]: readonly [number, number], unit?: string, or = '') {
  const number = `a whole number${unit === undefined ? '' : ` of ${unit}`}`
  const allowed = `${or}${number} from ${min} to ${max}`
  return z.int(allowed).min(min, allowed).max(max, allowed)
}

export function oneOf<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, `one of ${values.join(', ')}`)
}

export function textOf(allowed: string, test: (value: string) => boolean) {
  return z.string(allowed).refine(test, allowed)
}

const hostName = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i
// An invalid IPv4 address would pass as a host name.
const dotted = /^[\d.]+$/

/** Credentials would end up in logs and reports. */
function isPlainWebAddress(value: string): boolean {
  if (!URL.canParse(value)) return false
  const url = new URL(value)
  const plain = url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return plain && (url.protocol === 'http:' || url.protocol === 'https:')
}

const isPath = (value: string): boolean => value !== '' && !value.includes('\0')

const keyAllowed =
  'public keys ed25519:… as "iprisk keys signing create" prints them, comma-separated'
const stagesAllowed =
  'growing shares of machines with delays after publication, such as 10%,50%+1h,100%+4h'

export const onOff = z.boolean('true or false')
export const port = whole([0, 65_535])
export const host = textOf(
  'an address or a host name',
  (value) => isIP(value) !== 0 || (hostName.test(value) && !dotted.test(value)),
)
export const webAddress = textOf(
  'an http or https URL without user, query and fragment',
  isPlainWebAddress,
).transform((value) => trimEnd(value, '/'))
export const storeAddress = textOf(
  'redis://host:port/db, redis+sentinel://host:port,host:port/master or ' +
    'redis+cluster://host:port,host:port, with rediss for TLS',
  (value) => parseStoreUrl(value) !== undefined,
)
export const tableSource = textOf(
  'https://…, http://…, s3://bucket/prefix or file:///folder, without user, query and fragment',
  isTableSource,
).transform((value) => trimEnd(value, '/'))
/** A folder is relative to the working directory. */
export const publishPlace = textOf('a folder or s3://bucket/prefix', isPublishPlace)
export const placeName = textOf('printable text of 1 to 1,024 characters', (value) =>
  placeNameForm.test(value),
)
export const trustedKeys = z
  .array(z.string().regex(trustedKeyForm, keyAllowed), keyAllowed)
  .max(trustedKeysMax, `at most ${trustedKeysMax} keys`)
export const stages = z
  .array(z.string(), stagesAllowed)
  .max(limits.manifestStagesMax, stagesAllowed)
  .refine((texts) => parseStages(texts) !== undefined, stagesAllowed)
export const path = textOf('the path of a file or folder', isPath)
/** `-` is not made absolute. */
export const outputPlace = textOf('the path of a file, or - for standard output', isPath)
export const paths = z.array(path, 'a list of paths')

/** HOST:PORT, an IPv6 host in brackets; `undefined` for anything else. */
export function parseHostPort(value: string): { host: string; port: number } | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):([1-9]\d{0,4})$/.exec(value) ?? []
  const text = bracketed ?? plain ?? ''
  const number = Number(digits)
  const isHost = bracketed === undefined ? host.safeParse(text).success : isIP(text) === 6
  return isHost && number <= 65_535 ? { host: text, port: number } : undefined
}
export const hostPort = textOf(
  'an address or a host name with a port from 1 to 65535, such as 127.0.0.1:9191',
  (value) => parseHostPort(value) !== undefined,
)

/** Same words as the client's `header` and `trust` (src/client/address); a test compares them. */
export const addressHeaders = [
  'x-forwarded-for',
  'forwarded',
  'cf-connecting-ip',
  'true-client-ip',
  'x-real-ip',
  'fly-client-ip',
  'x-azure-clientip',
] as const
export const proxyPresetNames = ['loopback', 'private', 'cloudflare', 'fastly', 'aws-alb'] as const
const rangesAllowed = `addresses, prefixes or presets (${proxyPresetNames.join(', ')}), comma-separated`
const presetNames: ReadonlySet<string> = new Set(proxyPresetNames)
function isProxyRange(value: string): boolean {
  return presetNames.has(value) || isIP(value) !== 0 || parsePrefix(value) !== undefined
}
export const proxyRanges = z
  .array(textOf(rangesAllowed, isProxyRange), rangesAllowed)
  .min(1, rangesAllowed)
const trustAllowed = `the number of proxies (1 to 16), or ${rangesAllowed}`
export const proxyTrust = z
  .array(z.string(trustAllowed), trustAllowed)
  .refine(
    (values) =>
      (values.length === 1 && /^([1-9]|1[0-6])$/.test(values[0]!)) ||
      (values.length > 0 && values.every(isProxyRange)),
    trustAllowed,
  )
export const socketPath = textOf(
  `the path of a socket, at most ${limits.socketPathBytesMax} bytes when absolute`,
  (value) => isPath(value) && Buffer.byteLength(value) <= limits.socketPathBytesMax,
)
/** Paths in a file are relative to its folder. */
export const pathTypes: ReadonlySet<unknown> = new Set([path, outputPlace, paths, socketPath])

export const dayText = textOf('a day as YYYY-MM-DD', (value) => parseDay(value) !== undefined)
export const day = dayText.transform((value) => parseDay(value) as Day)
/** Days from today depend on the clock. */
export const dayOrDays = textOf(
  'a day as YYYY-MM-DD, or days from today, such as 90d',
  (value) => parseDay(value) !== undefined || parseDays(value) !== undefined,
).transform((value) => {
  const days = parseDays(value)
  return days === undefined
    ? { kind: 'day' as const, day: parseDay(value) as Day }
    : { kind: 'days' as const, days }
})
export const refreshSpan = textOf(
  '"off" or a span from 1m to 30d, such as 30m, 1h, 1d',
  (value) => {
    const ms = parseDurationMs(value)
    return ms === 0 || (ms >= refreshMsMin && ms <= refreshMsMax)
  },
)
/** Milliseconds. */
export const listSpan = textOf(
  `a span from 1s to ${limits.listDaysMax}d, such as 90m, 12h, 7d`,
  (value) => {
    const ms = parseDurationMs(value)
    return ms > 0 && ms <= limits.listDaysMax * msPerDay
  },
).transform(parseDurationMs)
export const moment = textOf(
  'a day as YYYY-MM-DD, a time with a zone such as 2026-08-22T10:00Z, or a time ago such as 24h',
  (value) => parseMoment(value, 0) !== undefined,
)
const percentAllowed = 'a number from 0 to 100'
export const percent = z.number(percentAllowed).min(0, percentAllowed).max(100, percentAllowed)

/** The names of policies, as policies files allow them (src/policy/policy-schema.ts). */
export const policyNameForm = /^[a-z][a-z0-9-]{0,31}$/
export const policyNameAllowed = 'a–z, 0–9 and -, beginning with a letter, at most 32 characters'
const policyNamesAllowed = `a list of 1 to ${limits.policiesMax} different policy names`
export const policyNames = z
  .array(
    textOf(policyNameAllowed, (value) => policyNameForm.test(value)),
    policyNamesAllowed,
  )
  .min(1, policyNamesAllowed)
  .max(limits.policiesMax, policyNamesAllowed)
  .refine((list) => new Set(list).size === list.length, policyNamesAllowed)

export const share = textOf(
  'a share from 0% to 100%, such as 0.5%',
  (value) => /^\d{1,3}(\.\d{1,6})?%$/.test(value) && parseFloat(value) <= 100,
).transform((value) => parseFloat(value))

/** Shown on terminals and in logs as it is. */
export const keyName = textOf(
  `printable text of at most ${limits.keyNameCharsMax} characters`,
  (value) => value.length <= limits.keyNameCharsMax && !/\p{C}/u.test(value),
)
export const perSecond = whole([1, limits.ratePerSecondMax], 'requests a second')
export const burst = whole([1, limits.rateBurstMax], 'requests')
const quotaBounds = [1, limits.quotaPerMonthMax] as const
export const quota = whole(quotaBounds, 'checks a month')

export const apis = z
  .array(oneOf(apiNames), `a list of ${apiNames.join(', ')}, empty for none`)
  .refine((list) => new Set(list).size === list.length, 'a list that names each API once')

export const keyApis = z
  .array(oneOf([...apiNames, 'none']))
  .refine(
    (list) => new Set(list).size === list.length && (list.length === 1 || !list.includes('none')),
    'different APIs, or only none',
  )

const identifier = (what: string) =>
  z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,63}$/, `${what} of a–z, 0–9, _ and -, beginning with a letter`)

export const feedSwitches = z.record(
  identifier('the id of a feed'),
  onOff,
  'an object of feed ids, each true or false',
)

const rateAllowed = '"none" or an object of perSecond and burst'

const plan = z.strictObject(
  {
    apis,
    rate: z.union(
      [z.literal('none'), z.strictObject({ perSecond, burst }, rateAllowed)],
      rateAllowed,
    ),
    quotaPerMonth: z.union(
      [z.literal('none'), whole(quotaBounds, 'checks a month', '"none" or ')],
      '"none" or a whole number of checks a month',
    ),
    insights: oneOf(insightsModes),
  },
  'an object of apis, rate, quotaPerMonth and insights',
)

export const plans = z
  .record(identifier('the name of a plan'), plan, 'an object of plans')
  .refine((named) => Object.keys(named).length <= plansMax, `at most ${plansMax} plans`)

const setsMax = 100

/** Contract 6.3: published sets. Conditions are checked where they are compiled. */
export const publishedLists = z.strictObject(
  {
    published: z
      .record(
        z
          .string()
          .regex(
            /^[a-z][a-z0-9-]{0,30}$/,
            'a letter a–z, then letters, digits and -, at most 31 in all',
          )
          .refine(
            (name) => name !== bouncerSetName && !Object.hasOwn(builtInSets, name),
            'different from the built-in sets',
          ),
        textOf(
          `a condition of at most ${limits.conditionCharsMax} characters`,
          (value) => value !== '' && value.length <= limits.conditionCharsMax,
        ),
        'an object that maps set names to conditions',
      )
      .refine((named) => Object.keys(named).length <= setsMax, `at most ${setsMax} sets`)
      .default({}),
  },
  'an object of published',
)

const webHost = textOf(
  'a host such as shop.example or shop.example:8443',
  (value) => host.safeParse(value).success || parseHostPort(value) !== undefined,
).transform((value) => value.toLowerCase())
const webHosts = z.array(webHost, 'a list of hosts').max(64, 'at most 64 hosts').default([])

/** Contract 6.6: the operator's own host names, and the hosts whose directories of keys count. */
export const agents = z.strictObject(
  { authorities: webHosts, directories: webHosts },
  'an object of authorities and directories',
)
