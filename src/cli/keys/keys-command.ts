// The commands `iprisk keys create|revoke|rotate`: what they say and in which form. The options
// have been validated as settings; what is left to judge here needs the clock. How keys are made
// and kept is src/account's; listings are list-keys.ts's.
//
// A key's text goes to standard output once and nowhere else; before the servers are told, so that
// it is not lost where one does not answer. All lines with it go out at once: a reader that wants
// the first one alone (`| head -1`) leaves after that, and would end this program before the servers
// know the key.

import {
  createKey,
  type IssuedKey,
  newKeyOf,
  policiesCaution,
  revokeKey,
  rotateKey,
} from '../../account/keys/issue-key.ts'
import type { NewKey } from '../../account/keys/key-record.ts'
import { formatDay } from '../../base/day.ts'
import { formatTime } from '../../base/text/number-format.ts'
import { planNamed, type Plans } from '../../config/plan.ts'
import type { Invocation, Settings } from '../../config/settings.ts'
import { hasPolicies, policyPlace } from '../../policy/policy-place.ts'
import { createSigningKey } from '../../publish/form/signing-key.ts'
import { exitCodes, type Io } from '../terminal/io.ts'
import { apisText, checkKeyId, type CommandIo, runAudited } from './key-session.ts'
import { tellServers } from './tell-servers.ts'

const msPerHour = 3_600_000

/** The key that the options describe; throws `usage` with every reason why it cannot be made. */
function askedKey({ keyPolicies, ...wish }: Invocation, plans: Plans, now: number): NewKey {
  return newKeyOf({ ...wish, policies: keyPolicies }, plans, now)
}

/** What a key may do less than whoever makes it may think. */
function warnings({ plan, apis }: IssuedKey['record'], plans: Plans): readonly string[] {
  const included = planNamed(plans, plan)?.apis ?? []
  if (included.length === 0) {
    const others = Object.keys(plans).filter((name) => plans[name]?.apis.length !== 0)
    const way = `--plan ${others.join('|')} makes one that is answered`
    return [`the plan ${plan} includes no API: every call with this key gets 403; ${way}`]
  }
  if (apis.length === 0) return ['with --api none every call with this key gets 403']
  return []
}

/** Of the file that commands here would decide by; a server may have another one. */
async function policyNames(setting: string | undefined): Promise<readonly string[] | undefined> {
  const place = policyPlace(setting)
  if (!hasPolicies(place)) return undefined
  const { readPolicyFile } = await import('../../policy/policy-file.ts')
  try {
    const file = readPolicyFile(place)
    return file === undefined ? undefined : Object.keys(file.policies.policies)
  } catch {
    // What is wrong with the file is not this command's matter.
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
  const once = 'This key is not shown again: only a hash of it is kept.'
  return [text, '', ...lines, '', once]
}

/** `keys create`: makes a key and prints it, this once. */
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
  for (const text of cautions) io.err(`iprisk: warning: ${text}.`)
  if (invocation.json) io.out(JSON.stringify({ id, key: issued.text, plan, apis, policies }))
  else await io.lines(issuedLines(issued, {}))
  await tellServers(settings, io)
}

/** `keys revoke ID`: ends a key for good; revoking it again changes nothing. */
export async function keysRevoke(settings: Settings, id: string, io: CommandIo): Promise<void> {
  checkKeyId(id)
  const what = { act: 'revoke', keys: [id] } as const
  const record = await runAudited(settings, io, what, (store) => revokeKey(store, id, io.now))
  const at = formatTime(record.revokedAt ?? io.now)
  if (settings.invocation.json) io.out(JSON.stringify({ id, revoked_at: at }))
  else io.out(`The key ${id} is revoked since ${at}.`)
  await tellServers(settings, io)
}

/** `keys rotate ID`: a new secret for the same key; the old one works for the hours of grace. */
export async function keysRotate(settings: Settings, id: string, io: CommandIo): Promise<void> {
  checkKeyId(id)
  const when = { now: io.now, graceMs: settings.invocation.graceHours * msPerHour }
  const what = { act: 'rotate', keys: [id] } as const
  const issued = await runAudited(settings, io, what, (store) => rotateKey(store, id, when))
  const { plan, apis, secrets } = issued.record
  const old = secrets.at(-2)?.expiresAt
  const until = old === undefined ? null : formatTime(old)
  if (settings.invocation.json) {
    const json = { id, key: issued.text, plan, apis, old_secret_until: until }
    io.out(JSON.stringify(json))
  } else {
    const old = { 'old key': until === null ? 'ended now' : `until ${until}` }
    await io.lines(issuedLines(issued, old))
  }
  await tellServers(settings, io)
}

// `iprisk keys signing create`: a key pair for a publisher of tables.

/** Writes the private key; prints the public one as `--table-trust` takes it. */
export function signingCreate({ publish, invocation }: Settings, io: Io): number {
  const { signingKey: path } = publish
  const { text, id } = createSigningKey(path)
  if (invocation.json) io.out(JSON.stringify({ file: path, trust: text, id }))
  else {
    io.err(`The private key is in ${path}, for its owner alone. Servers trust it by:`)
    io.err('')
    io.out(`--table-trust ${text}`)
  }
  return exitCodes.done
}
