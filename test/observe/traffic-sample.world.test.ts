// A real server that samples what it is asked: who is in the sample, which tables it keeps out,
// what `info`, metrics and `replay --sampled` say of that, and what becomes of the file.

import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { paths } from '../../src/api/public-port.ts'
import { newFolder, runProgram } from '../cli/program.ts'
import { eventually } from '../eventually.ts'
import { listed } from '../table/small-table.ts'
import { readSample } from '../../src/observe/sample-file.ts'
import { type Server, keyedState, makeKey, newState, serversOfTests } from '../serve/server.ts'
import { ask as askServer } from '../serve/checks.ts'
import { newTable, replaceTable } from '../serve/small-tables.ts'

const startServer = serversOfTests()

const policies = {
  policies: {
    default: {
      rules: [{ name: 'vpn', condition: 'signals.vpn', action: 'block' }],
      otherwise: 'allow',
    },
    login: { rules: [{ name: 'all', condition: 'true', action: 'step-up' }], otherwise: 'allow' },
  },
}

async function serving(...args: readonly string[]) {
  const { state, key } = await keyedState()
  const chooser = await makeKey(state, { policies: ['login'] })
  const table = newTable()
  const server = await startServer({ table, state, workers: 2, args })
  return { server, state, key, chooser, table }
}

function policiesFile(): string {
  const file = join(newState(), 'policies.json')
  writeFileSync(file, JSON.stringify(policies), { mode: 0o644 })
  return file
}

const ask = (port: number, key: string, body: object, where: string = paths.check) =>
  askServer({ port, key }, where, body)

/** Of as many addresses, from `start`.0.0 on. */
const batchOf = (count: number, start: string) => ({
  ips: Array.from({ length: count }, (_, i) => `${start}.${i >> 8}.${i & 255}`),
})

const sampledChecks = (server: Server, count: number): Promise<unknown> =>
  eventually(async () => (await server.metric('iprisk_sampled_checks')) === count || undefined)

const run = (args: readonly string[]) => runProgram(args, { cwd: newFolder() })

const iprisk = (args: readonly string[], { server, state }: { server: Server; state: string }) =>
  run([...args, '--state', state, '--port', String(server.port)])

describe('a server that samples', () => {
  it('has checks, insights and batches in its sample, whole addresses with their policy', async () => {
    const file = policiesFile()
    const asked = await serving('--sample', '1000', '--policies', file)
    const { server, state, key, chooser } = asked
    await ask(server.port, key, { ip: '9.1.2.3' })
    await ask(server.port, key, { ip: '::ffff:13.0.0.1' })
    await ask(server.port, key, { ip: '9.200.1.1' }, `${paths.check}?include=insights`)
    await ask(server.port, chooser, { ips: ['9.1.2.4', 'nonsense', '2a00:0:0::1'] }, paths.batch)
    await ask(server.port, key, { ips: Array.from({ length: 400 }, () => '11.1.1.1') }, paths.batch)
    await sampledChecks(server, 6)
    await server.stop()
    const path = join(state, 'traffic', `${server.port}.sample`)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const texts = readSample(path).map(({ address, policy }) => `${policy} ${address}`)
    expect(texts.sort()).toEqual([
      'default 11.1.1.1',
      'default 13.0.0.1',
      'default 9.1.2.3',
      'default 9.200.1.1',
      'login 2a00::1',
      'login 9.1.2.4',
    ])
    // A server that samples goes on with it; one that does not removes it.
    const again = await startServer({
      table: asked.table,
      state,
      args: ['--port', String(server.port), '--sample', '1000'],
    })
    expect(await again.metric('iprisk_sampled_checks')).toBe(6)
    await again.stop()
    expect(existsSync(path)).toBe(true)
    const off = await startServer({
      table: asked.table,
      state,
      args: ['--port', String(server.port)],
    })
    expect(existsSync(path)).toBe(false)
    expect(await off.metric('iprisk_sampled_checks')).toBe(0)
  }, 120_000)

  it('keeps out a table that decides too much of it otherwise, until it is forced in', async () => {
    const file = policiesFile()
    const asked = await serving('--sample', '2000', '--policies', file)
    const { server, state, key, chooser, table } = asked
    await ask(server.port, key, batchOf(970, '9.1'), paths.batch)
    // What this policy decides no table changes.
    await ask(server.port, chooser, batchOf(300, '9.50'), paths.batch)
    await ask(server.port, key, batchOf(29, '9.51'), paths.batch)
    await sampledChecks(server, 1299)
    const more: typeof listed = [...listed, ['9.50.0.0/15', 'vpn', 'Example VPN']]
    replaceTable(table, '2026-08-23', more)
    const refused = 'iprisk_table_refusals_total'
    await eventually(async () => (await server.metric('iprisk_table_trial_changed_ratio')) > 0)
    // 29 of 1,299 are 2.2 %.
    expect(await server.metric(refused, 'traffic')).toBe(1)
    expect(await server.metric('iprisk_table_trial_refused')).toBe(1)
    const status = JSON.parse((await server.admin('/status')).text) as object
    expect(status).toMatchObject({
      tables: {
        last_refusal: { code: 'traffic' },
        last_trial: {
          counted: 'decisions',
          sampled: 1299,
          changed: 29,
          refused: true,
          changes: [{ from: 'allow', to: 'block', checks: 29 }],
        },
      },
      sample: { size: 2000, checks: 1299 },
    })
    const info = await run([
      'info',
      '--state',
      state,
      '--admin-port',
      String(server.adminPort),
      '--table',
      table,
    ])
    expect(info.out).toContain('1,299 of 2,000 addresses')
    expect(info.out).toMatch(/rejected: 2\.2325 % of decisions changed, limit 2 %/)
    // The operator's file has the new table; the server's copy is what it is compared with.
    const args = ['replay', '--sampled', '--table', table, '--policies', file, '--json']
    const replayed = await iprisk(args, asked)
    expect(replayed.err).toBe('')
    expect(JSON.parse(replayed.out)).toMatchObject({
      requests: 1299,
      flipped: { requests: 329 },
      flips: [{ from: 'clean', to: 'vpn', feeds: [{ feed: '+test-feed', requests: 329 }] }],
      decisions: {
        policy: 'default, login',
        changed: { requests: 29 },
        by_action: [{ from: 'allow', to: 'block', requests: 29 }],
      },
    })
    expect((await iprisk([...args, '--fail-over', '2%'], asked)).code).toBe(1)
    const plain = await iprisk(['reload'], asked)
    expect([plain.code, plain.err]).toEqual([
      1,
      expect.stringContaining('29 (2.2325 %) would get other decisions (allow to block 29)'),
    ])
    expect((await iprisk(['reload', '--force'], asked)).code).toBe(0)
    expect(await server.metric('iprisk_table_trial_refused')).toBe(0)
    await ask(server.port, key, { ip: '9.50.0.1' })
  }, 120_000)

  it('lets in what changes less, and counts classifications without policies', async () => {
    const asked = await serving('--sample', '2000', '--swap-flips-max', '3%')
    const { server, key, table } = asked
    await ask(server.port, key, batchOf(980, '9.1'), paths.batch)
    await ask(server.port, key, batchOf(29, '9.51'), paths.batch)
    await sampledChecks(server, 1009)
    replaceTable(table, '2026-08-23', [...listed, ['9.50.0.0/15', 'vpn', 'Example VPN']])
    await eventually(async () => (await server.metric('iprisk_table_swaps_total')) === 1)
    const status = JSON.parse((await server.admin('/status')).text) as object
    expect(status).toMatchObject({
      tables: { last_trial: { counted: 'classifications', changed: 29, refused: false } },
    })
    // All of it now: refused.
    replaceTable(table, '2026-08-24', [...listed, ['9.1.0.0/16', 'tor', '']])
    await eventually(
      async () => (await server.metric('iprisk_table_refusals_total', 'traffic')) === 1,
    )
  }, 120_000)

  it('counts own lists as the server does', async () => {
    const asked = await serving('--sample', '1000', '--policies', policiesOfLists())
    const { server, state, key, table } = asked
    const lists = async (...args: readonly string[]): Promise<void> => {
      const done = await run(['lists', ...args, '--state', state])
      expect([done.code, done.err]).toEqual([0, ''])
    }
    await lists('create', 'office', '--effect', 'allow')
    await lists('add', 'office', '9.50.0.0/15')
    await ask(server.port, key, batchOf(1000, '9.50'), paths.batch)
    await sampledChecks(server, 1000)
    replaceTable(table, '2026-08-23', [...listed, ['9.50.0.0/15', 'vpn', 'Example VPN']])
    await eventually(async () => (await server.metric('iprisk_table_swaps_total')) === 1)
    const status = JSON.parse((await server.admin('/status')).text) as object
    expect(status).toMatchObject({ tables: { last_trial: { counted: 'decisions', changed: 0 } } })
  }, 120_000)
})

function policiesOfLists(): string {
  const file = join(newState(), 'policies.json')
  const rules = [{ name: 'high', condition: 'risk_score >= 50', action: 'block' }]
  writeFileSync(file, JSON.stringify({ policies: { default: { rules, otherwise: 'allow' } } }), {
    mode: 0o644,
  })
  return file
}

describe('a server that does not sample', () => {
  it('writes no address anywhere, and says so to replay', async () => {
    const asked = await serving()
    const { server, state, key } = asked
    await ask(server.port, key, { ip: '9.87.65.43' })
    const replayed = await iprisk(['replay', '--sampled'], asked)
    expect([replayed.code, replayed.err]).toEqual([
      2,
      expect.stringContaining('The server does not sample traffic (--sample).'),
    ])
    await server.stop()
    const files = readdirSync(state, { recursive: true, withFileTypes: true })
    const texts = files
      .filter((one) => one.isFile())
      .map((one) => readFileSync(join(one.parentPath, one.name), 'latin1'))
    expect(texts.filter((text) => text.includes('9.87.65.43'))).toEqual([])
  }, 120_000)
})
