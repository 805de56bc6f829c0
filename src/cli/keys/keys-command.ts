// The commands `iprisk keys create|revoke|rotate`: what they say and in which form. The options
// have been validated as settings; what is left to judge here needs the clock. How keys are made
// and kept is src/account's; listings are list-keys.ts's.
//
// A key's text goes to standard output once and nowhere else; before the servers are told, so that
// it is not lost where one does not answer.

import type { IssuedKey } from '../../account/keys/issue-key.ts'
import { createKey, revokeKey, rotateKey } from '../../account/keys/issue-key.ts'
import type { NewKey } from '../../account/keys/key-record.ts'
import { dayOf, formatDay } from '../../base/day.ts'
import { formatTime } from '../../base/number-format.ts'
import type { Plans } from '../../config/plan.ts'
import { apiNames, planNamed } from '../../config/plan.ts'
import type { Settings } from '../../config/settings.ts'
import { type CommandIo, runAudited, apisText, checkKeyId, usageError } from './key-session.ts'
import { tellServers } from './tell-servers.ts'

const msPerHour = 3_600_000

/** The key that the options describe, or every reason why it cannot be made. */
function newKeyOf(invocation: Settings['invocation'], plans: Plans, now: number): NewKey {
  const { plan, name = '', api, expires, rate, burst, quota } = invocation
  const found = plan === undefined ? undefined : planNamed(plans, plan)
  const problems: string[] = []
  if (found === undefined) {
    problems.push(`--plan is needed: one of ${Object.keys(plans).join(', ')}`)
  }
  if (expires !== undefined && expires <= dayOf(now)) {
    const today = formatDay(dayOf(now))
    problems.push(`--expires ${formatDay(expires)} must be a day after today, ${today} (UTC)`)
  }
  if (burst !== undefined && rate === undefined && found !== undefined && !found.rate) {
    problems.push(`--burst needs --rate: the plan ${found.name} has no rate limit`)
  }
  if (found === undefined || problems.length > 0) {
    throw usageError(
      'The key was not made:',
      problems.map((text) => `  ${text}`),
    )
  }
  const limits = {
    ...(rate === undefined ? {} : { perSecond: rate }),
    ...(burst === undefined ? {} : { burst }),
    ...(quota === undefined ? {} : { quotaPerMonth: quota }),
  }
  // Without --api a key may call every API; whether the plan includes one is the plan's matter.
  const apis = api === undefined ? apiNames : api === 'none' ? [] : [api]
  return {
    name,
    plan: found.name,
    apis,
    ...(expires === undefined ? {} : { expires }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  }
}

function issuedLines(issued: IssuedKey, more: Readonly<Record<string, string>>): readonly string[] {
  const { record, text } = issued
  const facts = {
    id: record.id,
    ...(record.name === '' ? {} : { name: record.name }),
    plan: record.plan,
    apis: apisText(record.apis),
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
  const key = newKeyOf(invocation, plans, io.now)
  const issued = await runAudited(settings, io, { act: 'create' }, (store) =>
    createKey(store, key, io.now),
  )
  const { id, plan, apis } = issued.record
  if (invocation.json) io.out(JSON.stringify({ id, key: issued.text, plan, apis }))
  else for (const line of issuedLines(issued, {})) io.out(line)
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
    for (const line of issuedLines(issued, old)) io.out(line)
  }
  await tellServers(settings, io)
}
