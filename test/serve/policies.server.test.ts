// A server with policies: what answers, batches and insights say, which policy a key and a request
// choose, and that the policies change under load without a failed or half-changed answer.

import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CheckAnswer } from '../../src/api/check-answer.ts'
import type { MetaAnswer } from '../../src/api/meta-answer.ts'
import { paths } from '../../src/api/public-port.ts'
import { runHere } from '../cli/program.ts'
import { eventually } from '../eventually.ts'
import { faultOf, sendTo } from '../http/api-client.ts'
import type { Response } from '../http/raw-socket.ts'
import { writeSmallTable } from '../table/small-table.ts'
import {
  type Server,
  keyedState,
  makeKey,
  newState,
  runServe,
  serversOfTests,
  startServer as startOwnServer,
} from './server.ts'

const table = writeSmallTable()
const startServer = serversOfTests()

const rule = (name: string, condition: string, action: string, observe = false) => ({
  name,
  condition,
  action,
  observe,
})
const standard = {
  default: {
    rules: [rule('tor', 'signals.tor', 'block'), rule('vpn', 'signals.vpn', 'challenge', true)],
    otherwise: 'allow',
  },
  login: { rules: [rule('any', 'risk_score >= 20', 'step-up')], otherwise: 'allow' },
}

/** A second for one answer, in 3,700 characters. */
const sums = Array(9).fill(`(${Array(99).fill('l').join('+')})`)
const slow = `[${Array(240).fill('reasons').join()}].exists(l, "zz" in (${sums.join('+')}))`
const tooSlow = '.condition, column 1: it may take '

function writePolicies(path: string, policies: object): void {
  writeFileSync(`${path}.new`, JSON.stringify({ policies }), { mode: 0o644 })
  renameSync(`${path}.new`, path)
}

async function serving(
  start: typeof startServer,
  policies: object = standard,
  workers = 1,
  more: readonly string[] = [],
) {
  const { state, key } = await keyedState()
  const file = join(newState(), 'policies.json')
  writePolicies(file, policies)
  const server = await start({ table, state, workers, args: ['--policies', file, ...more] })
  return { server, state, key, file }
}

type Asked = { readonly server: Server; readonly key: string }

/** By fetch, which reads answers that come in pieces. */
async function post({ server, key }: Asked, path: string, body: unknown): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
  const headers = Object.fromEntries(response.headers)
  return { status: response.status, headers, body: await response.text() }
}

async function check(asked: Asked, body: unknown): Promise<CheckAnswer> {
  const response = await post(asked, paths.check, body)
  expect(response.status).toBe(200)
  return JSON.parse(response.body) as CheckAnswer
}

const decided = (action: string, name: string, policy = 'default') => ({
  action,
  rule: name,
  policy,
})

describe('a server with policies', () => {
  let asked: Awaited<ReturnType<typeof serving>>
  beforeAll(async () => {
    asked = await serving(startOwnServer)
  })
  afterAll(() => asked.server.stop())

  it('says in every answer what they decide', async () => {
    const tor = await check(asked, { ip: '9.1.2.3' })
    expect(tor.decision).toEqual(decided('block', 'tor'))
    expect(tor).not.toHaveProperty('observed')
    const vpn = await check(asked, { ip: '11.1.1.1' })
    expect(vpn).toMatchObject({ decision: decided('allow', ''), observed: ['vpn'] })
    // Counted without acting.
    expect(await asked.server.metric('iprisk_observed_total', 'policy="default",rule="vpn"')).toBe(
      1,
    )
    expect((await check(asked, { ip: '10.0.0.1' })).decision).toEqual(decided('allow', ''))
    const sixToFour = await check(asked, { ip: '2002:0901:0203::1' })
    expect(sixToFour.decision).toEqual(decided('block', 'tor'))
    // Of everything else nothing has changed.
    const { decision, observed, ...rest } = vpn
    expect(decision && observed && rest).toMatchObject({ classification: 'vpn', table: tor.table })
  })

  it('says so in batches, small and large, and with insights', async () => {
    const ips = ['9.1.2.3', 'x', '11.1.1.1', '10.0.0.1']
    const single = await Promise.all(
      ips.map(async (ip) => (ip === 'x' ? undefined : check(asked, { ip }))),
    )
    for (const times of [1, 400]) {
      const sent = Array.from({ length: times }, () => ips).flat()
      const response = await post(asked, `${paths.check}/batch`, { ips: sent })
      const { results } = JSON.parse(response.body) as { results: readonly object[] }
      expect(results).toHaveLength(sent.length)
      const wrong = results.filter((result, at) => {
        const one = single[at % ips.length]
        return one === undefined ? !('error' in result) : !isDeepStrictEqual(result, one)
      })
      expect(wrong).toEqual([])
    }
    const response = await post(asked, `${paths.check}?include=insights`, { ip: '11.1.1.1' })
    expect(JSON.parse(response.body)).toMatchObject({
      insights: { table: { id: single[0]?.table } },
      decision: decided('allow', ''),
      observed: ['vpn'],
    })
  })

  it('decides by the policy that the request names and its key allows', async () => {
    const chooser = {
      ...asked,
      key: await makeKey(asked.state, { policies: ['login', 'default'] }),
    }
    const lost = { ...asked, key: await makeKey(asked.state, { policies: ['gone'] }) }
    const ip = '9.1.2.3'
    // The server reads new keys five times a second.
    await eventually(
      async () => (await post(lost, paths.check, { ip })).status === 200 || undefined,
    )
    expect((await check(chooser, { ip })).decision).toEqual(decided('step-up', 'any', 'login'))
    const named = await check(chooser, { ip, policy: 'default' })
    expect(named.decision).toEqual(decided('block', 'tor'))
    const backwards = await check(chooser, { policy: 'login', ip })
    expect(backwards.decision).toEqual(decided('step-up', 'any', 'login'))
    expect((await check(asked, { ip, policy: 'default' })).decision?.policy).toBe('default')
    // What the key would choose is gone: the caller is answered all the same.
    expect((await check(lost, { ip })).decision?.policy).toBe('default')
    const insights = await post(chooser, `${paths.check}?include=insights`, { ip })
    expect(JSON.parse(insights.body)).toMatchObject({ decision: { policy: 'login' } })
    for (const ips of [[ip], Array.from({ length: 500 }, () => ip)]) {
      const batch = await post(chooser, `${paths.check}/batch`, { ips, policy: 'default' })
      const { results } = JSON.parse(batch.body) as { results: readonly CheckAnswer[] }
      expect(results.at(-1)?.decision).toEqual(decided('block', 'tor'))
    }
    const refused: readonly (readonly [Asked, unknown])[] = [
      [asked, 'login'],
      [chooser, 'none'],
      [chooser, ''],
      [lost, 'gone'],
      [chooser, 'l\u00f6gin'],
      [asked, 7],
      [asked, null],
      [asked, ['default']],
    ]
    for (const [who, policy] of refused) {
      expect(faultOf(await post(who, paths.check, { ip, policy })).param).toBe('policy')
      for (const ips of [[ip], Array.from({ length: 500 }, () => ip)]) {
        const batch = await post(who, `${paths.check}/batch`, { ips, policy })
        expect(faultOf(batch).param).toBe('policy')
      }
    }
    // The address is judged first.
    expect(faultOf(await post(asked, paths.check, { ip: 'x', policy: 'none' })).param).toBe('ip')
  })

  it('names in meta what a request of the key may name, and what decides without a name', async () => {
    const ip = '9.1.2.3'
    const keys = [undefined, ['login', 'default'], ['login'], ['gone'], ['gone', 'login']]
    for (const policies of keys) {
      const key = policies === undefined ? asked.key : await makeKey(asked.state, { policies })
      const who = { ...asked, key }
      const get = { port: asked.server.port, path: paths.meta, key, method: 'GET', body: '' }
      const meta = await eventually(async () => {
        const { status, body } = await sendTo(get)
        return status === 200 ? (JSON.parse(body) as MetaAnswer).policies! : undefined
      })
      const may: string[] = []
      for (const policy of ['default', 'login', 'gone']) {
        const { status } = await post(who, paths.check, { ip, policy })
        if (status === 200) may.push(policy)
      }
      expect(meta.names.toSorted()).toEqual(may)
      expect((await check(who, { ip })).decision?.policy).toBe(meta.default)
    }
  })

  it('states the revision in meta, info and metrics', async () => {
    const { server, state, key } = asked
    const response = await sendTo({
      port: server.port,
      path: paths.meta,
      key,
      method: 'GET',
      body: '',
    })
    const { policies } = JSON.parse(response.body) as { policies: { revision: string } }
    expect(policies).toMatchObject({ names: ['default'], default: 'default' })
    expect(await server.metric('iprisk_policies_info', policies.revision)).toBe(1)
    expect(await server.metric('iprisk_policies_refused')).toBe(0)
    const status = JSON.parse((await server.admin('/status')).text) as object
    expect(status).toMatchObject({
      policies: { revision: policies.revision, names: ['default', 'login'], last_failure: null },
    })
    expect(state).not.toBe('')
  })

  it('takes in a changed file, and nothing of one with a mistake', async () => {
    const { server, file } = asked
    const strict = { default: { rules: [], otherwise: 'block' } }
    writePolicies(file, strict)
    const ip = '13.0.0.1'
    await eventually(
      async () => (await check(asked, { ip })).decision?.action === 'block' || undefined,
    )
    const rules = [rule('x', 'risk_score > 5 && network.asm == 1', 'allow')]
    writePolicies(file, { default: { rules, otherwise: 'allow' } })
    await eventually(
      async () => (await server.metric('iprisk_policies_refused')) === 1 || undefined,
    )
    expect(server.stderr()).toContain(
      'rules[0] (x).condition, column 19: network has no member asm',
    )
    expect((await check(asked, { ip })).decision).toEqual(decided('block', ''))
    const long = [rule('slow', slow, 'allow')]
    writePolicies(file, { default: { rules: long, otherwise: 'allow' } })
    await eventually(async () => server.stderr().includes(`rules[0] (slow)${tooSlow}`) || undefined)
    expect((await check(asked, { ip })).decision).toEqual(decided('block', ''))
    writePolicies(file, standard)
    await eventually(
      async () => (await check(asked, { ip })).decision?.action === 'allow' || undefined,
    )
    expect(await server.metric('iprisk_policies_refused')).toBe(0)
  })

  it('are refused by the administrative API if they may be slow', async () => {
    const policies = { default: { rules: [rule('slow', slow, 'allow')], otherwise: 'allow' } }
    const { server } = asked
    const url = `http://127.0.0.1:${server.adminPort}/admin/policies/check`
    const response = await fetch(url, { method: 'POST', body: JSON.stringify({ policies }) })
    expect(await response.json()).toMatchObject({
      mistakes: [expect.stringContaining(`policies.default.rules[0] (slow)${tooSlow}`)],
    })
  })

  it('uses a file with a condition that never matches, and reports it until it is corrected', async () => {
    const { server, file } = asked
    expect(await server.metric('iprisk_policy_warnings')).toBe(0)
    const rules = [rule('tor', '"tor_exit_listd" in reasons', 'block')]
    const policies = { default: { rules, otherwise: 'review' } }
    writePolicies(file, policies)
    await eventually(async () => (await server.metric('iprisk_policy_warnings')) === 1 || undefined)
    expect((await check(asked, { ip: '9.1.2.3' })).decision?.action).toBe('review')
    const warning =
      'policies.default.rules[0] (tor).condition, column 1: reasons never has "tor_exit_listd"; ' +
      'did you mean tor_exit_listed?'
    expect(server.stderr()).toContain(JSON.stringify(warning).slice(1, -1))
    const status = (await server.admin('/status')).text
    expect(JSON.parse(status)).toMatchObject({
      policies: { warnings: [warning], last_failure: null },
    })
    const post = async (path: string, body: string) => {
      const url = `http://127.0.0.1:${server.adminPort}/admin/policies${path}`
      const response = await fetch(url, { method: 'POST', body })
      return { status: response.status, value: await response.json() }
    }
    const { revision } = JSON.parse(status).policies as { readonly revision: string }
    expect((await post('/check', JSON.stringify({ policies }))).value).toEqual({
      revision: null,
      names: [],
      mistakes: [warning],
    })
    const saved = await post('', JSON.stringify({ policies, revision }))
    expect(saved).toMatchObject({ status: 400, value: { mistakes: [warning] } })
    const twice = `{"policies":{},"policies":${JSON.stringify(standard)},"revision":"${revision}"}`
    expect(await post('', twice)).toMatchObject({
      status: 400,
      value: { error: { message: expect.stringContaining('policies: it appears twice') } },
    })
    writePolicies(file, standard)
    await eventually(async () => (await server.metric('iprisk_policy_warnings')) === 0 || undefined)
  })

  it('only observes with the file that "policy init" writes', async () => {
    const { file } = asked
    const init = async (...more: readonly string[]) => {
      rmSync(file)
      expect(
        (await runHere(['policy', 'init', '--policies', file, ...more], { cwd: newState() })).code,
      ).toBe(0)
    }
    const ip = '9.1.2.3'
    await init()
    const observed = await eventually(async () => {
      const answer = await check(asked, { ip })
      return answer.observed?.includes('high-score') === true ? answer : undefined
    })
    expect(observed.decision).toEqual(decided('allow', ''))
    await init('--enforce')
    await eventually(
      async () => (await check(asked, { ip })).decision?.action === 'challenge' || undefined,
    )
  })
})

describe('policies', () => {
  it('change under load without a failed or half-changed answer', async () => {
    const versions = ['one', 'two', 'three'].map((word) => ({
      default: {
        rules: [
          rule(`tor-${word}`, 'signals.tor', word, false),
          rule(`all-${word}`, 'true', word, true),
        ],
        otherwise: word,
      },
    }))
    // A machine that is busy with other things must not make a busy worker a hung one.
    const asked = await serving(startServer, versions[0], 2, ['--hang-ms', '20000'])
    const seen = new Set<string>()
    const end = new AbortController()
    let wrong = 0
    const ask = async (): Promise<void> => {
      while (!end.signal.aborted) {
        const ip = Math.random() < 0.5 ? '9.1.2.3' : '13.0.0.1'
        const isBatch = Math.random() < 0.2
        const sent = isBatch ? { ips: Array.from({ length: 300 }, () => ip) } : { ip }
        const response = await post(asked, isBatch ? `${paths.check}/batch` : paths.check, sent)
        const body = JSON.parse(response.body) as CheckAnswer & { results?: readonly CheckAnswer[] }
        const results = body.results ?? [body]
        const actions = new Set(results.map(({ decision }) => decision?.action))
        for (const { decision, observed } of results) {
          const word = decision?.action ?? ''
          seen.add(word)
          const by = ip === '9.1.2.3' ? `tor-${word}` : ''
          if (decision?.rule !== by || observed?.join() !== `all-${word}`) wrong += 1
        }
        if (response.status !== 200 || actions.size !== 1) wrong += 1
      }
    }
    const clients = Array.from({ length: 6 }, ask)
    for (let change = 1; change <= 9; change++) {
      const version = versions[change % versions.length]!
      writePolicies(asked.file, version)
      const word = version.default.otherwise
      await eventually(
        async () => (await check(asked, { ip: '13.0.0.1' })).decision?.action === word || undefined,
      )
      // The clients, too, have it from now on.
      seen.delete(word)
      await eventually(() => seen.has(word))
    }
    end.abort()
    await Promise.all(clients)
    expect(wrong).toBe(0)
    expect([...seen].sort()).toEqual(['one', 'three', 'two'])
  })
})

describe('a server without policies', () => {
  it('answers without a decision, whatever the body names, until a file comes', async () => {
    const { state, key } = await keyedState()
    const server = await startServer({ table, state })
    const answer = await check({ server, key }, { ip: '9.1.2.3', policy: 7 })
    expect(answer).not.toHaveProperty('decision')
    const response = await sendTo({
      port: server.port,
      path: paths.meta,
      key,
      method: 'GET',
      body: '',
    })
    expect(JSON.parse(response.body)).toMatchObject({ policies: null })
  })

  it('does not start with a file that has a mistake', async () => {
    const file = join(newState(), 'policies.json')
    writePolicies(file, { default: { rules: [] } })
    const args = ['--port', '0', '--admin-port', '0', '--state', newState(), '--table', table]
    const { child, stderr } = runServe([...args, '--policies', file])
    const code = await eventually(() => child.exitCode ?? undefined)
    expect(code).toBe(1)
    expect(stderr()).toContain('policies.default.otherwise: missing')
    writePolicies(file, { default: { rules: [rule('slow', slow, 'allow')], otherwise: 'allow' } })
    const again = runServe([...args, '--policies', file])
    expect(await eventually(() => again.child.exitCode ?? undefined)).toBe(1)
    expect(again.stderr()).toContain(`${file} cannot be used`)
    expect(again.stderr()).toContain(`policies.default.rules[0] (slow)${tooSlow}`)
  })
})
