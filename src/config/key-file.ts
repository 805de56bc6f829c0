// A file of exported keys: hashes, never secrets. src/account/keys/key-transfer.ts imports them.
// Invariant: an unknown member is a problem.

import { z } from 'zod'
import { secretsLiveMax } from '../base/limits.ts'
import { repeatedFault } from '../base/text/repeated-members.ts'
import { parseJsonContent } from './json-content.ts'
import { type Plans, planNamed } from './plan.ts'
import { type SettingProblem, formatSettingValue, suggestName } from './setting-problem.ts'
import * as is from './setting-checks.ts'
import { valueAt } from './setting-tree.ts'

export const keyFileFormat = 'iprisk-keys'
export const keyFileVersion = 1

const instantForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const instant = is.textOf(
  'an instant such as 2026-08-22T12:00:00.000Z',
  (value) => instantForm.test(value) && new Date(value).getTime() >= 0,
)

const sha256 = is.textOf('64 hexadecimal digits in lower case', (value) =>
  /^[0-9a-f]{64}$/.test(value),
)

const secrets = `a list of 1 to ${secretsLiveMax} secrets, oldest first`

const key = z.strictObject(
  {
    id: is.textOf('12 letters and digits', (value) => /^[0-9A-Za-z]{12}$/.test(value)),
    name: is.keyName,
    plan: z.string('the name of a plan'),
    apis: is.apis,
    created_at: instant,
    expires: is.dayText.optional(),
    revoked_at: instant.optional(),
    limits: z
      .strictObject(
        {
          perSecond: is.perSecond.optional(),
          burst: is.burst.optional(),
          quotaPerMonth: is.quota.optional(),
        },
        'an object of perSecond, burst and quotaPerMonth',
      )
      .optional(),
    policies: is.policyNames.optional(),
    test: z.literal(true, 'true, or absent').optional(),
    secrets: z
      .array(
        z.strictObject(
          { sha256, created_at: instant, expires_at: instant.optional() },
          'an object of sha256, created_at and expires_at',
        ),
        secrets,
      )
      .min(1, secrets)
      .max(secretsLiveMax, secrets),
  },
  'an object of a key',
)

const keyFile = z.strictObject(
  {
    format: z.literal(keyFileFormat, `"${keyFileFormat}"`),
    version: z.literal(keyFileVersion, `${keyFileVersion}, the version this iprisk reads`),
    exported_at: instant,
    keys: z.array(key, 'a list of keys'),
  },
  'an object of format, version, exported_at and keys',
)

const keyRows = keyFile.extend({ keys: z.array(z.unknown(), 'a list of keys') })

export type KeyFile = z.infer<typeof keyFile>
export type KeyFileEntry = KeyFile['keys'][number]

function problemsOf(issue: z.core.$ZodIssue, content: unknown, origin: string): SettingProblem[] {
  const { path } = issue
  const name = (more: readonly PropertyKey[]): string =>
    [...path, ...more].map(String).join('.') || 'content'
  if (issue.code === 'unrecognized_keys') {
    const allowed = 'unknown member in this version'
    return issue.keys.map((member) => ({ name: name([member]), origin, allowed }))
  }
  const value = valueAt(content, path)
  const missing = value === undefined
  // A secret mistaken for its hash must not stay in a terminal's history.
  const shown = missing || path.includes('secrets') ? undefined : formatSettingValue(value)
  const allowed = `${missing ? 'missing; ' : ''}must be ${issue.message}`
  return [{ name: name([]), value: shown, origin, allowed }]
}

function crossProblems(keys: readonly KeyFileEntry[], plans: Plans, origin: string) {
  const problems: SettingProblem[] = []
  const places = new Map<string, number>()
  for (const [i, { id, plan }] of keys.entries()) {
    const first = places.get(id)
    places.set(id, first ?? i)
    if (first !== undefined) {
      const allowed = `must differ from the id of keys.${first}`
      problems.push({ name: `keys.${i}.id`, value: formatSettingValue(id), origin, allowed })
    }
    if (planNamed(plans, plan) === undefined) {
      const allowed = `unknown plan${suggestName(plan, Object.keys(plans))}`
      problems.push({ name: `keys.${i}.plan`, value: formatSettingValue(plan), origin, allowed })
    }
  }
  return problems
}

interface FileContext {
  readonly plans: Plans
  readonly origin: string
}

function parseContent<T extends z.ZodType>(
  schema: T,
  written: string,
  origin: string,
): { readonly data: z.output<T> } | readonly SettingProblem[] {
  const read = parseJsonContent(written)
  if ('failure' in read) {
    const { failure: allowed, name = 'content' } = read
    return [{ name, origin, allowed }]
  }
  const { content, repeated } = read
  if (repeated.length > 0) {
    return repeated.map((one) => ({ name: one.path, origin, allowed: repeatedFault(one) }))
  }
  const { data, error } = schema.safeParse(content)
  if (error === undefined) return { data }
  return error.issues.flatMap((issue) => problemsOf(issue, content, origin))
}

/** Returns every problem if there is one. */
export function parseKeyFile(
  written: string,
  { plans, origin }: FileContext,
): KeyFile | readonly SettingProblem[] {
  const parsed = parseContent(keyFile, written, origin)
  if (!('data' in parsed)) return parsed
  const problems = crossProblems(parsed.data.keys, plans, origin)
  return problems.length > 0 ? problems : parsed.data
}

export function readKeyFileRows(written: string, { plans, origin }: FileContext) {
  const parsed = parseContent(keyRows, written, origin)
  if (!('data' in parsed)) return parsed
  const { keys } = parsed.data
  const sound: KeyFileEntry[] = []
  /** `id` is the place if the key has none; `why` is a clause. */
  const unsound: { readonly id: string; readonly why: string }[] = []
  const ids = keys.map((row) => valueAt(row, ['id']))
  const seen = new Set<unknown>()
  const repeated = new Set<unknown>()
  for (const id of ids) (seen.has(id) ? repeated : seen).add(id)
  for (const [i, row] of keys.entries()) {
    const { data, error } = key.safeParse(row)
    const [problem] =
      error === undefined
        ? crossProblems([data], plans, origin)
        : error.issues.flatMap((issue) => problemsOf(issue, row, origin))
    if (data !== undefined && problem === undefined && !repeated.has(ids[i])) {
      sound.push(data)
      continue
    }
    const why =
      problem === undefined
        ? 'the file contains this id more than once'
        : `${problem.name}: ${problem.allowed}`
    unsound.push({ id: key.shape.id.safeParse(ids[i]).data ?? `keys.${i}`, why })
  }
  return { sound, unsound }
}
