// The commands `iprisk keys create|revoke|rotate|export|import|signing`. Settings are already
// validated; what is left to check needs the clock. src/account makes and keeps keys; list-keys.ts
// lists them.
// A key's text goes to standard output once, before servers are notified, so that it is not lost
// if one does not answer. Its lines go out in one write: otherwise a reader that stops at the first
// (`| head -1`) would end this program before the servers know the key.

import type { ErrorCode } from '../../base/error-codes.ts'
import {
  createKey,
  type IssuedKey,
  newKeyOf,
  policiesCaution,
  revokeKey,
  rotateKey,
} from '../../account/keys/issue-key.ts'
import type { NewKey } from '../../account/keys/key-record.ts'
import {
  type KeyImportPlan,
  exportKeys,
  importKeys,
  planImport,
} from '../../account/keys/key-transfer.ts'
import { inputError, type IpriskError } from '../../base/coded-error.ts'
import { formatDay } from '../../base/day.ts'
import { keyFileBytesMax } from '../../base/limits.ts'
import { fewLines } from '../../base/text/shortened-list.ts'
import { formatTime } from '../../base/text/number-format.ts'
import { type KeyFile, parseKeyFile } from '../../config/key-file.ts'
import { planNamed, type Plans } from '../../config/plan.ts'
import { formatSettingProblem } from '../../config/setting-problem.ts'
import type { Invocation, Settings } from '../../config/settings.ts'
import { hasPolicies, policyPlace } from '../../policy/policy-place.ts'
import { createSigningKey } from '../../publish/form/signing-key.ts'
import { readInputFile } from '../terminal/input-file.ts'
import { printLines, printResult, warn } from '../terminal/io.ts'
import {
  apisText,
  checkKeyId,
  type CommandIo,
  type StoreCommand,
  runAudited,
  warnOfSkipped,
} from './key-session.ts'
import { notifyServers } from '../../supervisor/sockets/control-socket.ts'

const msPerHour = 3_600_000

/** Throws `usage` with every reason why the key cannot be made. */
function askedKey({ keyPolicies, ...wish }: Invocation, plans: Plans, now: number): NewKey {
  return newKeyOf({ ...wish, policies: keyPolicies }, plans, now)
}

/** Keys that can do less than expected. */
function warnings({ plan, apis }: IssuedKey['record'], plans: Plans): readonly string[] {
  const included = planNamed(plans, plan)?.apis ?? []
  if (included.length === 0) {
    const others = Object.keys(plans).filter((name) => plans[name]?.apis.length !== 0)
    const way = `--plan ${others.join('|')} creates one that works`
    return [`the plan ${plan} includes no API: every call with this key gets 403; ${way}`]
  }
  if (apis.length === 0) return ['with --api none every call with this key gets 403']
  return apis
    .filter((api) => !included.includes(api))
    .map((api) => `the plan ${plan} does not include the API ${api}: its calls get 403`)
}

/** As this command reads them; a server may use another file. */
async function policyNames(setting: string | undefined): Promise<readonly string[] | undefined> {
  const place = policyPlace(setting)
  if (!hasPolicies(place)) return undefined
  const { readPolicyFile } = await import('../../policy/policy-file.ts')
  try {
    const file = readPolicyFile(place)
    return file === undefined ? undefined : Object.keys(file.policies.policies)
  } catch {
    return undefined
  }
}

function issuedLines(issued: IssuedKey, more: Readonly<Record<string, string>>): readonly string[] {
  const { record, text } = issued
  const facts = {
    id: record.id,
    ...(record.name === '' ? {} : { name: record.name }),
    plan: record.plan,
    apis: apisText(record.apis),
    ...(record.policies === undefined ? {} : { policies: record.policies.join(', ') }),
    ...(record.test === true ? { judges: 'test addresses only (docs/client.md)' } : {}),
    expires: record.expires === undefined ? 'never' : `${formatDay(record.expires)} 00:00 UTC`,
    ...more,
  }
  const lines = Object.entries(facts).map(([name, value]) => `  ${name.padEnd(10)}${value}`)
  const once = 'This key is shown only once: only its hash is stored.'
  return [text, '', ...lines, '', once]
}

export async function keysCreate(settings: Settings, io: CommandIo): Promise<void> {
  const { invocation, plans } = settings
  const key = askedKey(invocation, plans, io.now)
  const issued = await runAudited(settings, io, { act: 'create' }, (store) =>
    createKey(store, key, io.now),
  )
  const { id, plan, apis, policies } = issued.record
  const known = policies === undefined ? undefined : await policyNames(settings.policies)
  const caution = policiesCaution(policies, known)
  const cautions = [...warnings(issued.record, plans), ...(caution === undefined ? [] : [caution])]
  for (const text of cautions) warn(io, `${text}.`)
  if (invocation.json) io.out(JSON.stringify({ id, key: issued.text, plan, apis, policies }))
  else await io.lines(issuedLines(issued, {}))
  await notifyServers(settings, 'keys', io.err)
}

export const keysRevoke: StoreCommand = async (settings, io, [id = '']) => {
  checkKeyId(id)
  const what = { act: 'revoke', keys: [id] } as const
  const record = await runAudited(settings, io, what, (store) => revokeKey(store, id, io.now))
  const at = formatTime(record.revokedAt ?? io.now)
  printResult(io, settings.invocation.json, { id, revoked_at: at }, () => [
    `Key ${id} was revoked at ${at}.`,
  ])
  await notifyServers(settings, 'keys', io.err)
}

/** The old secret works for the hours of grace. */
export const keysRotate: StoreCommand = async (settings, io, [id = '']) => {
  checkKeyId(id)
  const when = { now: io.now, graceMs: settings.invocation.graceHours * msPerHour }
  const what = { act: 'rotate', keys: [id] } as const
  const issued = await runAudited(settings, io, what, (store) => rotateKey(store, id, when))
  const { plan, apis, secrets } = issued.record
  const old = secrets.at(-2)?.expiresAt
  const until = old === undefined ? null : formatTime(old)
  if (settings.invocation.json) {
    io.out(JSON.stringify({ id, key: issued.text, plan, apis, old_secret_until: until }))
  } else {
    const old = { 'old key': until === null ? 'revoked now' : `until ${until}` }
    await io.lines(issuedLines(issued, old))
  }
  await notifyServers(settings, 'keys', io.err)
}

/** A key pair for a publisher of tables: saves the private key, prints the public one. */
export function signingCreate({ publish, invocation }: Settings, io: CommandIo): void {
  const { signingKey: path } = publish
  const { text, id } = createSigningKey(path)
  if (invocation.json) io.out(JSON.stringify({ file: path, trust: text, id }))
  else {
    io.err(`The private key is in ${path}, readable only by its owner. Servers trust it with:`)
    io.err('')
    io.out(`--table-trust ${text}`)
  }
}

const conflictsShownMax = 50

/** Prints JSON even without `--json`. */
export async function keysExport(settings: Settings, io: CommandIo): Promise<void> {
  const file = await runAudited(
    settings,
    io,
    { act: 'export' },
    async (store) => {
      const rows = await store.list()
      warnOfSkipped(rows.skipped, io)
      return exportKeys(rows, io.now)
    },
    'refuse',
  )
  // JSON escapes line breaks inside texts, so these are only its own.
  printLines(io, JSON.stringify(file, null, 2).split('\n'))
}

function nothingImported(code: ErrorCode, details: readonly string[]): IpriskError {
  return inputError(code, 'Nothing was imported:', { details })
}

async function readKeyFile(path: string, { plans }: Settings): Promise<KeyFile> {
  const origin = path === '-' ? 'standard input' : `the file ${path}`
  const text = await readInputFile(path, {
    bytesMax: keyFileBytesMax,
    code: 'keys_file',
    what: `The file of keys ${path}`,
    takesPipes: true,
  })
  const judged = parseKeyFile(text, { plans, origin })
  if (!('length' in judged)) return judged
  const lines = judged.map((problem) => `  ${formatSettingProblem(problem)}`)
  throw nothingImported('keys_file', lines)
}

function refuseConflicts({ conflicts }: KeyImportPlan, replace: boolean): void {
  const standing = replace ? conflicts.filter(({ revoked }) => revoked) : conflicts
  if (standing.length === 0) return
  const lines = standing.map(({ id, members, revoked }) => {
    const why = revoked ? '; it is revoked here and stays revoked' : ''
    return `  ${id} already exists and differs in ${members.join(', ')}${why}`
  })
  const way = '--replace overwrites existing keys that are not revoked.'
  const details = [...fewLines(lines, conflictsShownMax), ...(replace ? [] : [way])]
  throw nothingImported('keys_conflict', details)
}

/** All or nothing; repeating it changes nothing. */
export const keysImport: StoreCommand = async (settings, io, [path = '']) => {
  const { invocation } = settings
  const file = await readKeyFile(path, settings)
  const keys = file.keys.map(({ id }) => id)
  const plan = await runAudited(settings, io, { act: 'import', keys }, async (store) => {
    const plan = await planImport(store, file)
    refuseConflicts(plan, invocation.replace)
    await importKeys(store, plan, invocation.replace)
    return plan
  })
  const { fresh, replacements, unchanged } = plan
  const counts = { created: fresh.length, replaced: replacements.length, unchanged }
  printResult(io, invocation.json, counts, () => [
    `Imported: ${counts.created} new, ${counts.replaced} replaced, ${unchanged} unchanged.`,
  ])
  await notifyServers(settings, 'keys', io.err)
}
