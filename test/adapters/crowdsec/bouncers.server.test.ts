// CrowdSec's bouncers against a real server, in the forms that they have documented: live decisions,
// the stream with its differences, over a restart, and who is refused.

import { once } from 'node:events'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../../bench/harness/free-port.ts'
import { makeCertificate } from '../../account/stores/redis/redis-servers.ts'
import { runProgram } from '../../cli/program.ts'
import { eventually } from '../../eventually.ts'
import { type Server, makeKey, newState, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'

const folder = newState()
const state = join(folder, 'state')
const file = join(folder, 'policies.json')
const rules = [
  { name: 'attackers', condition: '"attackers" in lists', action: 'block' },
  { name: 'tor', condition: 'signals.tor', action: 'block' },
  { name: 'vpn', condition: 'signals.vpn && version == 4', action: 'challenge' },
  { name: 'private', condition: 'signals.bogon', action: 'block' },
]
const table = writeSmallTable()
let server: Server
let port = 0
const keys = { first: '', second: '', third: '', api: '', limited: '', test: '' }

const start = async (): Promise<void> => {
  const args = ['--port', String(port), '--policies', file, '--decision-log', `${folder}/trail`]
  server = await startServer({ table, state, workers: 2, args })
}
const lists = async (...args: readonly string[]): Promise<void> => {
  const ended = await runProgram(['lists', ...args, '--state', state], { cwd: folder })
  if (ended.code !== 0) throw new Error(ended.err)
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

async function ask(path: string, key: string, init: RequestInit = {}): Promise<Answer> {
  const headers = { 'X-Api-Key': key, ...(init.headers as Record<string, string> | undefined) }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

interface Pull {
  readonly new: readonly { readonly value: string; readonly type: string }[] | null
  readonly deleted: readonly { readonly value: string }[] | null
}
const valuesOf = (list: Pull['new' | 'deleted']): readonly string[] | null =>
  list?.map(({ value }) => value) ?? null

async function pull(key: string, startup = false, more = '') {
  const { status, text } = await ask(`/v1/decisions/stream?startup=${startup}${more}`, key)
  const { new: came, deleted } = JSON.parse(text) as Pull
  return { status, came: valuesOf(came), gone: valuesOf(deleted) }
}

/** Pulls until nothing comes: the cursor moves once the answer has gone. */
const nothingMore = (key: string) =>
  eventually(async () => {
    const { came, gone } = await pull(key)
    return came === null && gone === null ? true : undefined
  }, 30_000)

/** Pulls until something comes: the pull that finds a change has the set made. */
const difference = (key: string) =>
  eventually(async () => {
    const found = await pull(key)
    return found.came === null ? undefined : found
  }, 30_000)

beforeAll(async () => {
  writeFileSync(file, JSON.stringify({ policies: { default: { rules, otherwise: 'allow' } } }), {
    mode: 0o644,
  })
  // A running server learns of a key a moment after it was made.
  keys.first = await makeKey(state, { apis: ['bouncer'] })
  keys.second = await makeKey(state, { apis: ['bouncer', 'ip-risk'] })
  keys.third = await makeKey(state, { apis: ['bouncer'] })
  keys.api = await makeKey(state, {})
  keys.test = await makeKey(state, { apis: ['bouncer'], test: true })
  const limits = { perSecond: 1, burst: 2, quotaPerMonth: 1 }
  keys.limited = await makeKey(state, { apis: ['bouncer'], limits })
  port = await freePort()
  await start()
  await lists('create', 'attackers')
})
afterAll(async () => {
  await server.stop()
})

describe('a live decision', () => {
  it.each([
    // https://docs.crowdsec.net/u/bouncers/nginx: lua-cs-bouncer, live mode.
    [
      'OpenResty',
      '/v1/decisions?ip=9.1.2.3',
      { 'User-Agent': 'crowdsec-openresty-bouncer/v1.0.1' },
    ],
    // maxlerebourg/crowdsec-bouncer-traefik-plugin, crowdsecMode live.
    [
      'Traefik',
      '/v1/decisions?ip=9.1.2.3&banned=true',
      { 'User-Agent': 'Crowdsec-Bouncer-Traefik' },
    ],
    // crowdsecurity/php-lapi-client: getFilteredDecisions.
    ['PHP', '/v1/decisions?ip=9.1.2.3', { Accept: 'application/json' }],
  ])('is that of the policy, for %s', async (_, path, headers) => {
    const { status, text } = await ask(path, keys.first, { headers })
    expect([status, JSON.parse(text)]).toEqual([
      200,
      [
        {
          id: 1,
          origin: 'lists:iprisk',
          type: 'ban',
          scope: 'Ip',
          value: '9.1.2.3',
          duration: '0h5m0s',
          scenario: 'iprisk/tor',
        },
      ],
    ])
  })

  it('is null where the policy allows', async () => {
    expect((await ask('/v1/decisions?ip=9.5.5.5', keys.first)).text).toBe('null')
    expect((await ask('/v1/decisions?ip=9.200.1.1', keys.first)).text).toContain('"captcha"')
  })

  it('has no body for HEAD', async () => {
    const { status, headers, text } = await ask('/v1/decisions?ip=9.1.2.3', keys.first, {
      method: 'HEAD',
    })
    expect([status, text, headers.get('content-type')]).toEqual([200, '', 'application/json'])
  })

  it('of no address, a range or all is refused, in CrowdSec’s form and in ours', async () => {
    for (const query of ['', '?range=9.0.0.0/8', '?ip=9.0.0.0/8', '?scope=Range&value=9.0.0.0/8']) {
      const { status, text } = await ask(`/v1/decisions${query}`, keys.first)
      const { message, error } = JSON.parse(text) as { message: string; error: { param: string } }
      expect([status, error.param]).toEqual([400, 'ip'])
      expect(message).toContain('Name one address')
    }
  })

  it('spends rate and quota', async () => {
    const answers = []
    for (let i = 0; i < 3; i++) answers.push(await ask('/v1/decisions?ip=9.1.2.3', keys.limited))
    expect(answers.map(({ status }) => status)).toEqual([200, 429, 429])
    expect(answers.map(({ text }) => /[a-z]+_exceeded/.exec(text)?.[0])).toEqual([
      undefined,
      'quota_exceeded',
      'limit_exceeded',
    ])
  })

  it('is counted and logged with its source', async () => {
    const before = await server.metric('iprisk_answers_by_source_total', 'source="bouncer"')
    await ask('/v1/decisions?ip=9.1.2.3', keys.first)
    expect(await server.metric('iprisk_answers_by_source_total', 'source="bouncer"')).toBe(
      before + 1,
    )
    const [, id = ''] = keys.first.split('_')
    const line = await eventually(() =>
      readFileSync(join(folder, 'trail'), 'utf8')
        .split('\n')
        .find((one) => one.includes(id) && one.includes('"rule":"tor"')),
    )
    expect(JSON.parse(line)).toMatchObject({ source: 'bouncer', key_id: id, action: 'block' })
  })
})

describe('a key', () => {
  it.each([
    ['that is missing', () => ''],
    ['that is no key', () => 'irk_nonsense'],
    ['without the API bouncer', () => keys.api],
    ['for tests', () => keys.test],
  ])('%s gets 403 with a message', async (_, key) => {
    for (const path of ['/v1/decisions?ip=9.1.2.3', '/v1/decisions/stream', '/v1/usage-metrics']) {
      const method = path.includes('metrics') ? 'POST' : 'GET'
      const { status, text } = await ask(path, key(), { method })
      const { message } = JSON.parse(text) as { message?: string }
      expect([path, status, typeof message]).toEqual([path, 403, 'string'])
    }
  })

  it('in Authorization, or given twice, is none', async () => {
    const headers = { Authorization: `Bearer ${keys.first}` }
    expect((await ask('/v1/decisions?ip=9.1.2.3', '', { headers })).status).toBe(403)
    const twice = { 'x-api-key': `${keys.first}, ${keys.first}` }
    expect((await ask('/v1/decisions?ip=9.1.2.3', keys.first, { headers: twice })).status).toBe(403)
  })

  it('of bouncers alone may not check', async () => {
    const headers = { Authorization: `Bearer ${keys.first}` }
    const path = '/v1/intelligence/ip-risk/check'
    const check = await ask(path, '', { method: 'POST', headers, body: '{"ip":"9.1.2.3"}' })
    expect([check.status, check.text]).toEqual([403, expect.stringContaining('token_not_allowed')])
  })
})

describe('usage metrics', () => {
  it('are taken and thrown away', async () => {
    const body = JSON.stringify({ remediation_components: [{ type: 'x', metrics: [] }] })
    const taken = await ask('/v1/usage-metrics', keys.first, { method: 'POST', body })
    expect([taken.status, taken.text]).toEqual([201, 'null'])
    const method = await ask('/v1/usage-metrics', keys.first)
    expect([method.status, method.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

const first = ['9.1.2.3', '9.200.0.0/16', '11.1.1.1', '2a01:4f8::1']

describe('the stream', () => {
  it('has everything, then nothing, then what has changed', async () => {
    expect(await pull(keys.first, true)).toEqual({ status: 200, came: first, gone: null })
    await nothingMore(keys.first)
    await lists('add', 'attackers', '9.200.7.0/24', '12.0.0.5')
    expect(await difference(keys.first)).toEqual({
      status: 200,
      // The range is cut around the one that another rule stops.
      came: [
        '9.200.0.0/22',
        '9.200.4.0/23',
        '9.200.6.0/24',
        '9.200.7.0/24',
        '9.200.8.0/21',
        '9.200.16.0/20',
        '9.200.32.0/19',
        '9.200.64.0/18',
        '9.200.128.0/17',
        '12.0.0.5',
      ],
      gone: ['9.200.0.0/16'],
    })
    await lists('remove', 'attackers', '9.200.7.0/24')
    const back = await difference(keys.first)
    expect([back.came, back.gone?.length]).toEqual([['9.200.0.0/16'], 9])
  })

  it('is everything to a key that has pulled nothing yet, and HEAD moves no cursor', async () => {
    const path = '/v1/decisions/stream?startup=false'
    const { status, text } = await ask(path, keys.second, { method: 'HEAD' })
    expect([status, text]).toEqual([200, ''])
    expect((await pull(keys.second)).came).toEqual([
      ...first.slice(0, 3),
      '12.0.0.5',
      '2a01:4f8::1',
    ])
    await nothingMore(keys.second)
  })

  it('refuses filters, but for those that bouncers send of themselves', async () => {
    // crowdsecurity/php-lapi-client getStreamDecisions, go-cs-bouncer.
    expect((await pull(keys.third, true, '&scopes=ip,range')).came).toHaveLength(5)
    const refused = await ask('/v1/decisions/stream?origins=cscli', keys.third)
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('"origins"')])
  })

  it('goes on where it was after a restart', async () => {
    await nothingMore(keys.first)
    await server.stop()
    await start()
    expect(await pull(keys.first)).toEqual({ status: 200, came: null, gone: null })
    await lists('remove', 'attackers', '12.0.0.5')
    const { came, gone } = await eventually(async () => {
      const found = await pull(keys.first)
      return found.gone === null ? undefined : found
    }, 30_000)
    expect([came, gone]).toEqual([[], ['12.0.0.5']])
  })

  it('has everything again before half of its durations has passed, and then nothing', async () => {
    await nothingMore(keys.first)
    const cursors = join(state, 'sets', `bouncer-127.0.0.1-${port}`, 'cursors')
    const wasSent = (hoursAgo: number): void => {
      for (const name of readdirSync(cursors)) {
        const cursor = JSON.parse(readFileSync(join(cursors, name), 'utf8')) as object
        const fullMs = Date.now() - hoursAgo * 3_600_000
        writeFileSync(join(cursors, name), JSON.stringify({ ...cursor, fullMs }))
      }
    }
    wasSent(21)
    expect((await pull(keys.first)).came).toBeNull()
    wasSent(22)
    expect(await pull(keys.first)).toEqual({ status: 200, came: first, gone: null })
    await nothingMore(keys.first)
  })

  it('goes out whole over TLS', async () => {
    const own = newState()
    const key = await makeKey(own, { apis: ['bouncer'] })
    const { certFile, keyFile } = makeCertificate(own)
    const entries = Array.from({ length: 20_000 }, (_, i) => `13.${i >> 8}.${i & 255}.1`)
    const lines = join(own, 'entries.txt')
    writeFileSync(lines, entries.join('\n'))
    for (const args of [['create'], ['import', lines]])
      await runProgram(['lists', ...args, 'attackers', '--state', own], { cwd: folder })
    const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile]
    const tls = await startServer({ table, state: own, args: ['--policies', file, ...files] })
    const path = '/v1/decisions/stream?startup=true'
    const headers = { 'X-Api-Key': key }
    const request = get({ port: tls.port, path, headers, rejectUnauthorized: false })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const { new: came } = (await json(response)) as Pull
    expect(new Set(valuesOf(came))).toEqual(new Set([...first, ...entries]))
    await tls.stop()
  }, 60_000)
})
