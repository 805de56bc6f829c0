// `iprisk keys …`: what it prints and keeps, on a real store.

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseKeyText } from '../../../src/account/keys/key-text.ts'
import { openLmdbKeyStore } from '../../../src/account/stores/lmdb/lmdb-stores.ts'
import { monthOf } from '../../../src/account/limits/quota-period.ts'
import type { KeyRecord } from '../../../src/account/keys/key-record.ts'
import { keysCreate, keysRevoke, keysRotate } from '../../../src/cli/keys/keys-command.ts'
import { withStores } from '../../../src/cli/keys/key-session.ts'
import { keysList, keysShow } from '../../../src/cli/keys/list-keys.ts'
import { renderLine } from '../../../src/cli/terminal/io.ts'
import { type Day, dayOf } from '../../../src/base/day.ts'
import type { Command } from '../../../src/config/options.ts'
import type { Settings } from '../../../src/config/settings.ts'
import { settingsFor } from '../settings-for.ts'

const now = Date.UTC(2026, 7, 22, 12)
let cwd = ''
const said: string[] = []
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'iprisk-cli-'))
})
afterEach(() => {
  rmSync(cwd, { recursive: true })
})

const settings = (command: Command, flags: Record<string, unknown>): Settings =>
  settingsFor(command, flags, cwd)
const output = async (run: (io: Parameters<typeof keysList>[1]) => Promise<void>, at = now) => {
  let text = ''
  await run({
    now: at,
    out: (line) => void (text += `${renderLine(line, false)}\n`),
    lines: (lines) =>
      Promise.resolve(void (text += lines.map((line) => `${renderLine(line, false)}\n`).join(''))),
    err: (line) => void said.push(renderLine(line, false)),
  })
  return text
}
const create = (flags: Record<string, unknown>): Promise<string> =>
  output((io) => keysCreate(settings('keys create', flags), io))
const list = (flags: Record<string, unknown> = {}): Promise<string> =>
  output((io) => keysList(settings('keys list', flags), io))
const show = (id: string, flags: Record<string, unknown> = {}): Promise<string> =>
  output((io) => keysShow(settings('keys show', flags), io, [id]))
const revoke = (id: string, flags: Record<string, unknown> = {}): Promise<string> =>
  output((io) => keysRevoke(settings('keys revoke', flags), io, [id]))
const rotate = (id: string, flags: Record<string, unknown> = {}, at = now): Promise<string> =>
  output((io) => keysRotate(settings('keys rotate', flags), io, [id]), at)

interface Created {
  readonly id: string
  readonly key: string
  readonly apis: readonly string[]
}
const createJson = async (flags: Record<string, unknown>): Promise<Created> =>
  JSON.parse(await create({ ...flags, json: true })) as Created
const kept = async (id: string): Promise<KeyRecord | undefined> => {
  const store = await openLmdbKeyStore(join(cwd, 'data/state'))
  const record = await store.get(id)
  await store.close()
  return record
}

describe('create', () => {
  it('prints the key though the log cannot be written when it is made, and says what is missing', async () => {
    const log = join(cwd, 'data/state/audit.log')
    let looks = 0
    let text = ''
    await keysCreate(settings('keys create', { plan: 'team' }), {
      // Asked for twice: before the act, and in it.
      get now() {
        looks += 1
        if (looks === 2) {
          rmSync(log)
          symlinkSync('/dev/full', log)
        }
        return now
      },
      out: (line) => void (text += `${renderLine(line, false)}\n`),
      lines: (lines) =>
        Promise.resolve(void (text += lines.map((line) => renderLine(line, false)).join('\n'))),
      err: (line) => void said.push(renderLine(line, false)),
    })
    expect(looks).toBe(2)
    expect(await kept(parseKeyText(text.split('\n')[0] ?? '')?.id ?? '')).toBeDefined()
    expect(said.splice(0)).toEqual([
      expect.stringMatching(/second line of this act.*is a symbolic link/),
    ])
  })

  it('prints exactly the members of the contract as JSON', async () => {
    const json = await createJson({ plan: 'team' })
    expect(json).toEqual({
      id: parseKeyText(json.key)?.id,
      key: expect.stringMatching(/^irk_/),
      plan: 'team',
      apis: ['ip-risk'],
    })
  })

  it('keeps what the options say, and not the key', async () => {
    const flags = { plan: 'team', name: 'web', api: 'none', expires: '2026-08-23' }
    const { id, key } = await createJson({ ...flags, rate: '5', burst: '6', quota: '7' })
    const record = await kept(id)
    expect(record).toMatchObject({
      name: 'web',
      plan: 'team',
      apis: [],
      createdAt: now,
      limits: { perSecond: 5, burst: 6, quotaPerMonth: 7 },
    })
    expect(JSON.stringify(record)).not.toContain(parseKeyText(key)?.secret)
  })

  it('may call several APIs', async () => {
    const { id, apis } = await createJson({ plan: 'business', api: 'ip-risk,bouncer' })
    expect([apis, (await kept(id))?.apis]).toEqual([
      ['ip-risk', 'bouncer'],
      ['ip-risk', 'bouncer'],
    ])
  })

  it('says which policies the file does not have, and makes the key all the same', async () => {
    const path = join(cwd, 'policies.json')
    const none = { rules: [], otherwise: 'allow' }
    const policies = { default: none, login: none }
    writeFileSync(path, JSON.stringify({ policies }), { mode: 0o644 })
    const made = (names: string): Promise<string> => {
      said.length = 0
      const asked = settings('keys create', { plan: 'team', policies: names })
      return output((io) => keysCreate({ ...asked, policies: path }, io))
    }
    expect(await made('login,ghost')).toContain('irk_')
    expect(said.join()).toContain('the file has no policy ghost; it has default, login; until')
    expect(await made('login')).toContain('irk_')
    expect(said.join()).not.toContain('policy')
    writeFileSync(path, 'no JSON')
    expect(await made('ghost')).toContain('irk_')
  })

  it('tells people that the key is not shown again', async () => {
    const text = await create({ plan: 'team', name: 'web', expires: '2027-01-01' })
    const key = text.split('\n')[0] ?? ''
    expect(parseKeyText(key)).toBeDefined()
    expect(text).toContain('  name      web\n  plan      team\n  apis      ip-risk\n')
    expect(text).toContain('  expires   2027-01-01 00:00 UTC\n')
    expect(text).toContain('This key is shown only once')
    expect(text.split(key)).toHaveLength(2)
  })

  it.each([
    [{}, '--plan is missing; use one of free, team, business, enterprise, internal'],
    [{ plan: 'team', expires: '2026-08-22' }, 'must be a day after today, 2026-08-22 (UTC)'],
    [{ plan: 'internal', burst: '5' }, '--burst needs --rate: the plan internal has no rate limit'],
  ])('refuses %o', async (flags, words) => {
    await expect(create(flags)).rejects.toMatchObject({
      fault: 'usage',
      message: expect.stringContaining(words),
    })
    expect(await list({ json: true })).toBe('[]\n')
  })
})

describe('create says what it did', () => {
  it('for days in place of a day', async () => {
    const { id } = await createJson({ plan: 'team', expires: '90d' })
    expect((await kept(id))?.expires).toBe(dayOf(now) + 90)
    for (const expires of ['90', '0d', '90h', '2026-02-30', 'd']) {
      await expect(create({ plan: 'team', expires })).rejects.toThrow(
        'a day as YYYY-MM-DD, or days from today, such as 90d',
      )
    }
  })

  it.each([
    [{ plan: 'team' }, []],
    [
      { plan: 'free' },
      [
        'iprisk: warning: the plan free includes no API: every call with this key gets 403; ' +
          '--plan team|business|enterprise|internal creates one that works.',
      ],
    ],
    [
      { plan: 'team', api: 'none' },
      ['iprisk: warning: with --api none every call with this key gets 403.'],
    ],
  ])('and warns of a key that nothing answers: %o', async (flags, warnings) => {
    said.length = 0
    await create(flags)
    expect(said.splice(0)).toEqual(warnings)
  })
})

describe('list', () => {
  it('says how to begin where there is nothing', async () => {
    expect(await list()).toContain('iprisk keys create')
  })

  it('aligns its columns and tells each state', async () => {
    const live = await createJson({ plan: 'enterprise', name: 'the web shop' })
    const old = await createJson({ plan: 'team', api: 'none', expires: '2026-08-23' })
    const gone = await createJson({ plan: 'free' })
    await revoke(gone.id)
    const text = await output((io) => keysList(settings('keys list', {}), io), now + 86_400_000)
    const lines = text.trimEnd().split('\n')
    expect(lines).toHaveLength(4)
    const header =
      'ID            STATE    PLAN        APIS     CREATED     EXPIRES     USED 2026-08  LAST USED  NAME'
    expect(lines[0]).toBe(header)
    const rest = (id: string): string =>
      lines.find((line) => line.startsWith(id))?.slice(id.length) ?? ''
    expect(rest(live.id)).toBe(
      '  live     enterprise  ip-risk  2026-08-22  never       0             never      the web shop',
    )
    expect(rest(old.id)).toBe(
      '  expired  team        none     2026-08-22  2026-08-23  0             never',
    )
    expect(rest(gone.id)).toBe(
      '  revoked  free        ip-risk  2026-08-22  never       -             never',
    )
  })

  it('never shows a secret or its hash', async () => {
    const { id, key } = await createJson({ plan: 'team' })
    const texts = (await list()) + (await list({ json: true }))
    expect(texts).toContain(id)
    expect(texts).not.toContain(parseKeyText(key)?.secret)
    expect(texts).not.toContain((await kept(id))?.secrets[0]?.hash)
  })

  it('gives as JSON what there is to know', async () => {
    const { id } = await createJson({ plan: 'team', name: 'n', quota: '7' })
    expect(JSON.parse(await list({ json: true }))).toEqual([
      {
        id,
        name: 'n',
        plan: 'team',
        apis: ['ip-risk'],
        state: 'live',
        created_at: '2026-08-22T12:00:00Z',
        expires: null,
        revoked_at: null,
        secrets: 1,
        rate: null,
        burst: null,
        quota: 7,
        policies: null,
        usage: { month: '2026-08', units_at_most: 0 },
        last_used: null,
      },
    ])
  })
})

/** What a worker does for requests of a key: leases units, gives some back, notes the days. */
async function use(id: string, limit: number, days: readonly number[]): Promise<void> {
  const month = monthOf(now)
  await withStores(settings('keys list', {}), async ({ ledger, uses }) => {
    await ledger.lease({ keyId: id, month, limit, want: 1234, need: 1234 })
    await ledger.returnUnits(id, month, 34)
    // Of another month, and not of this one's usage.
    await ledger.charge(id, monthOf(now - 31 * 86_400_000), 500)
    for (const day of days) await uses.note(id, (dayOf(now) + day) as Day)
  })
}

describe('what was used', () => {
  it('is listed with the last day', async () => {
    const busy = await createJson({ plan: 'team', name: 'web' })
    const idle = await createJson({ plan: 'team' })
    const free = await createJson({ plan: 'internal' })
    await use(busy.id, 1_000_000, [-1, -3])
    await withStores(settings('keys list', {}), ({ uses }) => uses.note(free.id, dayOf(now)))
    const lines = (await list()).split('\n')
    const rest = (id: string): string | undefined =>
      lines.find((line) => line.startsWith(id))?.slice(id.length)
    const [made, never] = ['ip-risk  2026-08-22  never', 'never']
    expect(rest(busy.id)).toBe(`  live   team      ${made}    <= 1,200      2026-08-21  web`)
    expect(rest(idle.id)).toBe(`  live   team      ${made}    0             ${never}`)
    expect(rest(free.id)).toBe(`  live   internal  ${made}    -             2026-08-22`)
    const listed = JSON.parse(await list({ json: true })) as Record<string, unknown>[]
    const of = (id: string): unknown => {
      const { usage, last_used: day } = listed.find((key) => key['id'] === id) ?? {}
      return [usage, day]
    }
    expect(of(busy.id)).toEqual([{ month: '2026-08', units_at_most: 1200 }, '2026-08-21'])
    expect(of(idle.id)).toEqual([{ month: '2026-08', units_at_most: 0 }, null])
    expect(of(free.id)).toEqual([null, '2026-08-22'])
  })

  it('is shown with the limits in force, and whose they are', async () => {
    const { id } = await createJson({ plan: 'team', rate: '5', quota: '2000' })
    await use(id, 2000, [0])
    const rows = new Map(
      (await show(id))
        .trimEnd()
        .split('\n')
        .map((line) => [line.slice(0, 12).trim(), line.slice(12).trim()] as const),
    )
    expect(rows.get('limits')).toBe('5/s, burst 10; 2,000 checks a month')
    expect(rows.get('plan')).toBe('50/s, burst 100; 1,000,000 checks a month')
    expect(rows.get('own')).toBe('rate 5, quota 2,000')
    expect(rows.get('used 2026-08')).toBe('<= 1,200')
    expect(rows.get('last used')).toBe('2026-08-22 UTC')
    expect(JSON.parse(await show(id, { json: true }))).toMatchObject({
      id,
      usage: { month: '2026-08', units_at_most: 1200 },
      last_used: '2026-08-22',
      limits: {
        in_force: { rate: 5, burst: 10, quota: 2000 },
        plan: { rate: 50, burst: 100, quota: 1_000_000 },
        own: { rate: 5, burst: null, quota: 2000 },
      },
    })
    const { id: free } = await createJson({ plan: 'internal' })
    expect(await show(free)).toMatch(/\nlimits +no rate limit; no quota\n/)
    expect(await show(free)).toMatch(/\nused 2026-08 +not counted: no quota\n/)
  })
})

describe('revoke and rotate', () => {
  it('revokes, also a second time', async () => {
    const { id } = await createJson({ plan: 'team' })
    expect(await revoke(id)).toBe(`Key ${id} was revoked at 2026-08-22T12:00:00Z.\n`)
    const json: unknown = JSON.parse(await revoke(id, { json: true }))
    expect(json).toEqual({ id, revoked_at: '2026-08-22T12:00:00Z' })
    await expect(rotate(id)).rejects.toMatchObject({ code: 'key_not_live' })
  })

  it('rotates: a new key under the old id, and says how long the old one works', async () => {
    const { id, key } = await createJson({ plan: 'team' })
    const rotated = JSON.parse(await rotate(id, { json: true })) as Created
    expect(rotated).toMatchObject({ id, plan: 'team', old_secret_until: '2026-08-29T12:00:00Z' })
    expect(rotated.key).not.toBe(key)
    expect((await kept(id))?.secrets).toHaveLength(2)
    expect(await rotate(id)).toContain('  old key   until 2026-08-29T12:00:00Z\n')
    expect(await rotate(id, { graceHours: '0' }, now + 1)).toContain('  old key   revoked now\n')
    expect((await kept(id))?.secrets).toHaveLength(1)
  })

  it.each(['', 'x', 'irk_aaaaaaaaaaaa_secret', '../../../etc'])(
    'refuses the id "%s"',
    async (id) => {
      await expect(revoke(id)).rejects.toMatchObject({ fault: 'usage' })
      await expect(rotate(id)).rejects.toMatchObject({ fault: 'usage' })
    },
  )

  it('says where a key is unknown', async () => {
    await expect(revoke('0'.repeat(12))).rejects.toMatchObject({ code: 'key_unknown' })
    await expect(rotate('0'.repeat(12))).rejects.toMatchObject({ code: 'key_unknown' })
  })
})
