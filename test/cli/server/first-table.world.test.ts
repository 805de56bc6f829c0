// The first table, of what is embedded alone, as somebody without a network gets it: what everybody
// knows is judged by the hand-kept tables, and answers, status, metrics and doctor name what the
// table does not know.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BuildReport } from '../../../build/build-report.ts'
import type { CheckAnswer } from '../../../src/api/check-answer.ts'
import type { MetaAnswer } from '../../../src/api/meta-answer.ts'
import { paths } from '../../../src/api/public-port.ts'
import { type Server, keyedState, newState, startServer } from '../../serve/server.ts'
import { copyReadings } from '../../world/world-tables.ts'
import { runProgram } from '../program.ts'

const missing = ['proxy', 'residential_proxy', 'blocklist']
const partly = ['tor', 'vpn', 'hosting', 'bot']

describe('a table of what is embedded', () => {
  const cwd = newState()
  const table = join(cwd, 'first.iprisk')
  const report = join(cwd, 'report.json')
  let server: Server
  let key = ''

  beforeAll(async () => {
    copyReadings(join(cwd, 'data'))
    const args = ['build', '--offline', '--out', table, '--report', report]
    const built = await runProgram(args, { cwd })
    if (built.code !== 0) throw new Error(built.err)
    const made = await keyedState()
    key = made.key
    server = await startServer({ table, state: made.state })
  })
  afterAll(async () => {
    await server?.stop('SIGKILL')
  })

  async function ask(path: string, body?: object): Promise<unknown> {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      headers: { authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    })
    expect(response.status).toBe(200)
    return response.json()
  }
  const check = (ip: string): Promise<CheckAnswer> =>
    ask(paths.check, { ip }) as Promise<CheckAnswer>

  it('knows a Tor exit by its operator, and says what it does not know', async () => {
    const answer = await check('185.220.101.33')
    expect(answer).toMatchObject({
      classification: 'tor',
      proxy: { type: 'tor', confidence: 'medium', provider: 'Zwiebelfreunde / Relayon' },
      signals: { tor: true },
      coverage: { missing, partly },
    })
    expect(answer.risk_score).toBeGreaterThanOrEqual(75)
    expect(answer.reasons).toContain('tor_operator_range')
    const { coverage } = await check('93.184.215.14')
    expect(coverage).toMatchObject({ missing, partly })
    expect(await check('10.0.0.1')).not.toHaveProperty('coverage')
  })

  it('says so in batches, insights and meta', async () => {
    const { results } = (await ask(paths.batch, { ips: ['8.8.8.8', '127.0.0.1'] })) as {
      readonly results: readonly CheckAnswer[]
    }
    expect(results.map(({ coverage }) => coverage?.missing)).toEqual([missing, undefined])
    const explained = await ask(`${paths.check}?include=insights`, { ip: '185.220.101.33' })
    expect(explained).toMatchObject({ coverage: { missing, partly }, insights: {} })
    const { coverage } = (await ask(paths.meta)) as MetaAnswer
    expect(coverage).toMatchObject({ missing, partly })
    expect(coverage.kinds.map(({ newest }) => newest)).toEqual(coverage.kinds.map(() => null))
  })

  it('is ready, and the admin port names what is missing', async () => {
    const ready = await server.admin('/readyz')
    expect(ready.status).toBe(200)
    expect(JSON.parse(ready.text)).toMatchObject({ status: 'ready', coverage: { missing, partly } })
    const status = JSON.parse((await server.admin('/status')).text) as { readonly table: object }
    expect(status.table).toMatchObject({ coverage: { missing, partly } })
    expect(await server.metric('iprisk_kind_covered', 'kind="proxy"')).toBe(0)
    expect(await server.metric('iprisk_kind_covered', 'kind="vpn"')).toBe(0.5)
    expect(await server.metric('iprisk_kind_covered', 'kind="tor"')).toBe(0.5)
    expect(await server.metric('iprisk_kind_addresses', 'kind="tor"')).toBe(0)
  })

  it('is told by info, table info, check, explain and doctor', async () => {
    const at = ['--table', table, '--admin-port', String(server.adminPort)]
    const run = (...args: readonly string[]) => runProgram(args, { cwd })
    expect((await run('info', ...at)).out).toMatch(/covers +tor +partly +no feed/)
    expect((await run('table', 'info', table)).out).toMatch(/proxy +MISSING +no feed +0 IPv4/)
    const offline = await run('check', '185.220.101.33', '--json', '--table', table)
    expect(JSON.parse(offline.out)).toEqual(await check('185.220.101.33'))
    const explained = await run('explain', '185.220.101.33', '--table', table)
    expect(explained.out).toContain('this table has no data for proxy, residential_proxy')
    const { code, out } = await run('doctor', '--json', ...at, '--state', server.state)
    const { findings } = JSON.parse(out) as { findings: { code: string; fix: string }[] }
    const found = findings.find((finding) => finding.code === 'feeds_missing')
    expect([code, found?.fix]).toEqual([1, expect.stringContaining('iprisk feeds fetch')])
  })

  it('counts every row of the operators, each announced by its owner', () => {
    const { feeds, coverage } = JSON.parse(readFileSync(report, 'utf8')) as BuildReport
    const own = feeds.find(({ id }) => id === 'table-tor-operators')
    expect(own).toMatchObject({ kind: 'tor', entries: 15, kept: 15, dropped: {} })
    expect(coverage.find(({ kind }) => kind === 'tor')).toMatchObject({ state: 'partly' })
    const services = feeds.find(({ id }) => id === 'table-vpn-operators')
    expect(services).toMatchObject({ kind: 'vpn', dropped: {} })
    expect(services?.kept).toBeGreaterThan(200)
  })

  it('knows the exit of a VPN by the AS of its operator alone', async () => {
    // AS207137, PacketHub: no feed is in this table.
    expect(await check('45.14.192.1')).toMatchObject({
      classification: 'vpn',
      proxy: { type: 'vpn', confidence: 'medium', provider: 'NordVPN' },
      signals: { vpn: true },
      reasons: expect.arrayContaining(['vpn_listed']) as string[],
    })
  })
})
