// The client without a server: the same results as over HTTP, from a table file that is swapped.

import { copyFileSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { writeTable } from '../../build/write/write-table.ts'
import type { Client, Decision } from '../../src/client/core/check-result.ts'
import { type EmbeddedOptions, createEmbedded } from '../../src/embedded/embedded.ts'
import { eventually } from '../eventually.ts'
import { smallContent, writeSmallTable } from '../table/small-table.ts'

const clients: Client[] = []
afterEach(() => {
  for (const client of clients.splice(0)) client.close()
})
const embedded = (options: EmbeddedOptions): Client => {
  const client = createEmbedded({ watchMs: 10, onMisconfigured: () => undefined, ...options })
  clients.push(client)
  return client
}

it('answers as the server does, with insights where asked', async () => {
  const client = embedded({ table: writeSmallTable() })
  expect(await client.check('9.1.2.3')).toMatchObject({
    ok: true,
    answer: { classification: 'tor', ip: '9.1.2.3' },
    decision: undefined,
  })
  expect(await client.check('9.1.2.3', { insights: true })).toMatchObject({
    answer: { insights: { evidence: [{ kind: 'tor' }, { kind: 'blocklist' }] } },
  })
  expect(await client.checkBatch(['9.1.2.3', 'x'])).toMatchObject([
    { ok: true },
    { ok: false, reason: 'invalid_address', fallback: 'challenge' },
  ])
  expect(await client.check('', { noAddress: 'There is no peer.' })).toMatchObject({
    reason: 'misconfigured',
  })
  expect(client.counts()).toMatchObject({ checked: 3, invalid_address: 1, misconfigured: 1 })
})

it('says how far the user would have travelled, and decides by it', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'iprisk-embedded-')), 'policies.json')
  const rules = [{ name: 'fast', condition: 'travel.kmh > 1000', action: 'challenge' }]
  writeFileSync(file, JSON.stringify({ policies: { default: { rules, otherwise: 'allow' } } }), {
    mode: 0o600,
  })
  const client = embedded({ table: writeSmallTable(), policies: file })
  const previous = { ip: '11.5.0.1', at: new Date().toISOString() }
  const decided = async (ip: string, sent: unknown, insights = false) => {
    const result = await client.check(ip, { previous: sent as never, insights })
    if (!result.ok) throw new Error(result.reason)
    const { travel, context_errors: errors = [], prefix } = result.answer
    return [result.decision?.rule, travel?.km, errors.map(({ param }) => param).join(), prefix]
  }
  expect(await decided('9.5.0.1', previous)).toEqual(['fast', 17_556, '', undefined])
  expect(await decided('9.5.0.1', previous, true)).toEqual(['fast', 17_556, '', undefined])
  expect(await decided('2a00::1', { ip: '9.5.0.1', at: new Date() })).toEqual([
    '',
    0,
    '',
    undefined,
  ])
  for (const [sent, param] of [
    [null, 'previous'],
    [{ ip: 7n }, 'previous'],
    [{ ip: '::1', at: 'now' }, 'previous.at'],
  ]) {
    expect(await decided('9.5.0.1', sent)).toEqual(['', 0, param, undefined])
  }
  expect(await decided('9.5.0.1', undefined)).toEqual(['', undefined, '', expect.any(String)])
})

it('decides where the application has rules, and not by a score', async () => {
  const table = writeSmallTable()
  const told: unknown[] = []
  const mistaken = embedded({ table, onMisconfigured: (failure) => told.push(failure) })
  const mistake = { ok: false, reason: 'misconfigured' }
  expect(await mistaken.checkBatch(['9.1.2.3', '9.1.2.4'], { policy: 'login' })).toMatchObject([
    mistake,
    mistake,
  ])
  expect([mistaken.counts().misconfigured, told.length]).toEqual([2, 1])
  const client = embedded({
    table,
    decide: ({ signals }) => ({
      action: signals.tor ? 'block' : 'allow',
      rule: 'tor',
      policy: 'login',
    }),
  })
  expect(await client.check('9.1.2.3', { policy: 'login' })).toMatchObject({
    decision: { action: 'block' },
    answer: { decision: { action: 'block' } },
  })
})

it('has no answer where those rules give a decision without an action', async () => {
  const table = writeSmallTable()
  for (const decision of [null, 'allow', {}, { action: {} }, { action: '' }]) {
    const told: string[] = []
    const client = embedded({
      table,
      decide: () => decision as Decision | undefined,
      fallback: 'block',
      onMisconfigured: ({ message }) => told.push(message),
    })
    expect(await client.check('9.1.2.3', { policy: 'login' })).toEqual({
      ok: false,
      reason: 'misconfigured',
      fallback: 'block',
    })
    expect(told).toEqual([expect.stringContaining('`decide`')])
  }
})

it('takes feedback where the application has a place for it', async () => {
  const table = writeSmallTable()
  const outcomes = [{ ip: '9.1.2.3', outcome: 'abusive' }] as const
  expect(await embedded({ table }).feedback(outcomes)).toEqual({
    ok: false,
    reason: 'misconfigured',
  })
  const taken: unknown[] = []
  const client = embedded({ table, onFeedback: (rows) => taken.push(...rows) })
  expect(await client.feedback(outcomes)).toEqual({ ok: true, accepted: 1 })
  expect(taken).toEqual(outcomes)
})

it('swaps in a new table, and keeps the old one where the new one is none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-embedded-'))
  const table = join(folder, 'table.iprisk')
  const put = (write: (path: string) => void): void => {
    write(`${table}.new`)
    renameSync(`${table}.new`, table)
  }
  put((path) => copyFileSync(writeSmallTable(), path))
  const swaps: string[] = []
  const refused: string[] = []
  const client = embedded({
    table,
    onSwap: (id) => swaps.push(id),
    onRefused: ({ reason }) => refused.push(reason),
  })
  const classOf = async (): Promise<string> => {
    const result = await client.check('9.1.2.3')
    return result.ok ? result.answer.classification : result.reason
  }
  expect(await classOf()).toBe('tor')
  put((path) => writeFileSync(path, 'no table'))
  await eventually(() => refused.length > 0)
  expect(await classOf()).toBe('tor')
  put((path) => writeTable(path, smallContent([['9.1.2.3', 'vpn', 'Example VPN']])))
  await eventually(() => swaps.length > 0)
  expect(await classOf()).toBe('vpn')
})

it('never throws, whatever the functions of the application do', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-embedded-'))
  const table = join(folder, 'table.iprisk')
  copyFileSync(writeSmallTable(), table)
  const called: string[] = []
  const wrong = (name: string) => (): never => {
    called.push(name)
    throw new Error('of the application')
  }
  const client = embedded({
    table,
    onSwap: wrong('onSwap'),
    onRefused: wrong('onRefused'),
    onUnavailable: wrong('onUnavailable'),
    onFeedback: wrong('onFeedback'),
  })
  const unavailable = { ok: false, reason: 'unavailable' }
  expect(await client.feedback([{ ip: '9.1.2.3', outcome: 'abusive' }])).toEqual(unavailable)
  const rejecting = embedded({
    table,
    onUnavailable: () => undefined,
    onFeedback: () => Promise.reject(new Error('later')),
  })
  expect(await rejecting.feedback([])).toEqual(unavailable)
  expect(await client.checkBatch(undefined as unknown as [])).toEqual([])
  writeFileSync(`${table}.new`, 'no table')
  renameSync(`${table}.new`, table)
  await eventually(() => called.includes('onRefused'))
  writeTable(`${table}.new`, smallContent([['9.1.2.3', 'vpn', 'Example VPN']]))
  renameSync(`${table}.new`, table)
  await eventually(() => called.includes('onSwap'))
  expect(await client.check('9.1.2.3')).toMatchObject({ answer: { classification: 'vpn' } })
})

it('logs by itself that there is no table, and that there is one again', async () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const table = join(mkdtempSync(join(tmpdir(), 'iprisk-embedded-')), 'table.iprisk')
  const client = embedded({ table })
  for (let i = 0; i < 3; i++) await client.check('9.1.2.3')
  copyFileSync(writeSmallTable(), `${table}.new`)
  renameSync(`${table}.new`, table)
  await eventually(async () => (await client.check('9.1.2.3')).ok)
  expect(error.mock.calls.map(([line]) => String(line))).toEqual([
    expect.stringContaining('iprisk is unavailable; 1 request was not checked: '),
    expect.stringMatching(/^iprisk answers again; \d+ requests were not checked/),
  ])
  vi.restoreAllMocks()
})

it('waits for a table where there is none, and says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-embedded-'))
  const table = join(folder, 'table.iprisk')
  const told: string[] = []
  const client = embedded({ table, onUnavailable: ({ reason }) => told.push(reason) })
  expect(await client.check('9.1.2.3')).toMatchObject({ ok: false, reason: 'unavailable' })
  expect(told).toEqual(['unavailable'])
  copyFileSync(writeSmallTable(), `${table}.new`)
  renameSync(`${table}.new`, table)
  await eventually(async () => (await client.check('9.1.2.3')).ok)
  client.close()
  expect(await client.check('9.1.2.3')).toMatchObject({ ok: false, reason: 'unavailable' })
})
