// Debian's real bouncers on the stream of a real server, whose changes reach them: the custom bouncer
// by the program that it feeds, the firewall bouncer by the sets of a network namespace of the test's
// own. And CrowdSec's cscli on an export.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../../bench/harness/free-port.ts'
import { runProgram } from '../../cli/program.ts'
import { describeWith } from '../../deploy/need.ts'
import { eventually } from '../../eventually.ts'
import { type Server, makeKey, newState, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'

const folder = newState()
const state = join(folder, 'state')
const table = writeSmallTable()
const policies = join(folder, 'policies.json')
const rules = [
  { name: 'attackers', condition: '"attackers" in lists', action: 'block' },
  { name: 'tor', condition: 'signals.tor', action: 'block' },
  { name: 'vpn', condition: 'signals.vpn && version == 4', action: 'challenge' },
]
let server: Server
let port = 0
const keys: string[] = []
const running: ChildProcess[] = []

const lists = async (...args: readonly string[]): Promise<void> => {
  const ended = await runProgram(['lists', ...args, '--state', state], { cwd: folder })
  if (ended.code !== 0) throw new Error(ended.err)
}
/** In the server's network namespace, whose loopback is its own. */
const inside = (...command: readonly string[]): readonly string[] => [
  '-t',
  String(server.child.pid),
  '-n',
  ...command,
]
const told = (...command: readonly string[]): string =>
  execFileSync('nsenter', inside(...command), { encoding: 'utf8' })

function startBouncer(program: string, config: string): () => string {
  const file = join(folder, `${program}.yaml`)
  writeFileSync(file, config)
  const child = spawn('nsenter', inside(program, '-c', file))
  running.push(child)
  let said = ''
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => (said += text))
  return () => said
}

const common = (key: string): string => `update_frequency: 1s
daemonize: false
log_mode: stdout
log_level: info
api_url: http://127.0.0.1:${port}/
api_key: ${key}
prometheus: {enabled: false}
`

beforeAll(async () => {
  const policy = { rules, otherwise: 'allow' }
  writeFileSync(policies, JSON.stringify({ policies: { default: policy } }), { mode: 0o644 })
  // A running server learns of a key a moment after it was made, and a bouncer gives up at the first 403.
  for (let made = 0; made < 2; made++) keys.push(await makeKey(state, { apis: ['bouncer'] }))
  port = await freePort()
  const args = ['--port', String(port), '--policies', policies]
  const under = ['unshare', '-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
  server = await startServer({ table, state, workers: 2, args, under })
  await lists('create', 'attackers')
})
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await server.stop()
})

describeWith('crowdsec-custom-bouncer', ['-version'], () => {
  it('feeds its program every decision, and each change', async () => {
    const [program, fed] = [join(folder, 'feed.sh'), join(folder, 'fed.jsonl')]
    writeFileSync(program, `#!/bin/sh\nexec cat >> ${fed}\n`, { mode: 0o755 })
    const config = `${common(keys[0]!)}bin_path: ${program}\nfeed_via_stdin: true\npiddir: ${folder}/\n`
    const said = startBouncer('crowdsec-custom-bouncer', config)
    // A pull right behind another one may bring the same again.
    const acts = (): readonly string[] => [
      ...new Set(
        (existsSync(fed) ? readFileSync(fed, 'utf8') : '')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as Record<string, string>)
          .map(({ action, type, value, scenario }) => `${action} ${type} ${value} ${scenario}`),
      ),
    ]
    const seen = async (count: number): Promise<readonly string[]> => {
      try {
        return await eventually(() => (acts().length < count ? undefined : acts()), 30_000)
      } catch {
        throw new Error(said())
      }
    }
    expect(await seen(4)).toEqual([
      'add ban 9.1.2.3 iprisk/tor',
      'add captcha 9.200.0.0/16 iprisk/vpn',
      'add captcha 11.1.1.1 iprisk/vpn',
      'add ban 2a01:4f8::1 iprisk/tor',
    ])
    await lists('add', 'attackers', '12.5.0.0/16')
    expect((await seen(5)).slice(4)).toEqual(['add ban 12.5.0.0/16 iprisk/attackers'])
    await lists('remove', 'attackers', '12.5.0.0/16')
    expect((await seen(6)).slice(5)).toEqual(['del ban 12.5.0.0/16 iprisk/attackers'])
  })
})

describeWith('crowdsec-firewall-bouncer', ['-version'], () => {
  it('keeps its sets as the stream has them', async () => {
    for (const [name, family] of [
      ['crowdsec-blacklists', 'inet'],
      ['crowdsec6-blacklists', 'inet6'],
    ] as const)
      told('ipset', 'create', name, 'hash:net', 'family', family, 'timeout', '0')
    const config = `${common(keys[1]!)}mode: ipset
pid_dir: ${folder}/
supported_decisions_types: [ban]
ipset_type: nethash
blacklists_ipv4: crowdsec-blacklists
blacklists_ipv6: crowdsec6-blacklists
`
    const said = startBouncer('crowdsec-firewall-bouncer', config)
    const members = (name: string): readonly string[] =>
      told('ipset', 'list', name)
        .split('\n')
        .flatMap((line) => /^([0-9a-f.:/]+) timeout (\d+)/.exec(line)?.[1] ?? [])
        .toSorted()
    const held = async (wanted: readonly string[]): Promise<void> => {
      const all = (): readonly string[] =>
        ['crowdsec-blacklists', 'crowdsec6-blacklists'].flatMap(members)
      const isHeld = (): true | undefined => all().join() === wanted.join() || undefined
      await eventually(isHeld, 30_000).catch(() => {
        throw new Error(`${all().join()}\n${said()}`)
      })
    }
    await held(['9.1.2.3', '2a01:4f8::1'])
    await lists('add', 'attackers', '12.5.0.0/16', '2a02::/32')
    await held(['12.5.0.0/16', '9.1.2.3', '2a01:4f8::1', '2a02::/32'])
    await lists('remove', 'attackers', '12.5.0.0/16')
    await held(['9.1.2.3', '2a01:4f8::1', '2a02::/32'])
    expect(members('crowdsec-blacklists')).toEqual(['9.1.2.3'])
    // What is left of it starts over where the decisions are sent again.
    const left = (): number =>
      Number(/^9\.1\.2\.3 timeout (\d+)/m.exec(told('ipset', 'list', 'crowdsec-blacklists'))?.[1])
    told('ipset', 'add', 'crowdsec-blacklists', '9.1.2.3', 'timeout', '99', '-exist')
    expect(left()).toBeLessThan(100)
    const cursors = join(state, 'sets', `bouncer-127.0.0.1-${port}`, 'cursors')
    for (const name of readdirSync(cursors)) {
      const cursor = JSON.parse(readFileSync(join(cursors, name), 'utf8')) as object
      writeFileSync(join(cursors, name), JSON.stringify({ ...cursor, fullMs: 1 }))
    }
    await eventually(() => left() > 170_000 || undefined, 30_000)
  })
})

describe('a pull that is cut off', () => {
  it('comes again whole', async () => {
    const own = await startServer({
      table,
      state: newState(),
      workers: 2,
      args: ['--policies', policies],
    })
    const key = await makeKey(own.state, { apis: ['bouncer'] })
    const ask = async (startup: boolean): Promise<{ new: readonly { value: string }[] | null }> => {
      const url = `http://127.0.0.1:${own.port}/v1/decisions/stream?startup=${startup}`
      const response = await fetch(url, { headers: { 'X-Api-Key': key } })
      return (await response.json()) as { new: readonly { value: string }[] | null }
    }
    await eventually(async () => ((await ask(true)).new?.length === 4 ? true : undefined), 30_000)
    // More than the buffers of both ends hold.
    const many = Array.from(
      { length: 120_000 },
      (_, i) => `13.${i >> 12}.${(i >> 4) & 255}.${(i & 15) * 16}`,
    )
    const entries = join(folder, 'many.txt')
    writeFileSync(entries, many.join('\n'))
    for (const args of [
      ['create', 'attackers'],
      ['import', entries, 'attackers'],
    ])
      await runProgram(['lists', ...args, '--state', own.state], { cwd: folder })
    const head = `GET /v1/decisions/stream?startup=false HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\n\r\n`
    for (let cut = 0; cut < 3;) {
      const socket = connect({ port: own.port, host: '127.0.0.1' })
      socket.on('error', () => undefined).write(head)
      const [piece] = (await once(socket, 'data')) as [Buffer]
      socket.resetAndDestroy()
      // The first ones find the change, and get what was before it.
      if (piece.length > 1000) cut += 1
    }
    const again = (await ask(false)).new?.map(({ value }) => value)
    expect(again?.length).toBe(many.length)
    expect(new Set(again)).toEqual(new Set(many))
    await own.stop()
  })
})

describeWith('cscli', ['version'], () => {
  it('imports an export', async () => {
    const csv = join(folder, 'decisions.csv')
    const made = await runProgram(
      ['export', '--format', 'crowdsec', '--where', 'signals.vpn', '--out', csv, '--table', table],
      { cwd: folder },
    )
    expect([made.code, made.err]).toEqual([0, expect.stringContaining('prefixes')])
    // A database and a local API of the test's own.
    const api = await freePort()
    const home = newState()
    const file = (name: string): string => join(home, name)
    writeFileSync(file('profiles.yaml'), 'name: none\nfilters: ["false"]\n')
    writeFileSync(file('login.yaml'), '')
    writeFileSync(
      file('config.yaml'),
      `common: {daemonize: false, log_media: stdout, log_level: info}
config_paths: {config_dir: ${home}/, data_dir: ${home}/, hub_dir: ${home}/, index_path: ${file('index.json')}}
cscli: {output: json}
db_config: {type: sqlite, db_path: ${file('crowdsec.db')}}
api:
  client: {credentials_path: ${file('login.yaml')}}
  server: {listen_uri: 127.0.0.1:${api}, profiles_path: ${file('profiles.yaml')}}
`,
    )
    const cscli = (...args: readonly string[]): string =>
      execFileSync('cscli', ['-c', file('config.yaml'), ...args], { encoding: 'utf8' })
    cscli('machines', 'add', 'test', '--password', 'only-of-this-test', '--force')
    const daemon = spawn('crowdsec', ['-c', file('config.yaml'), '-no-cs'])
    running.push(daemon)
    let said = ''
    daemon.stderr.on('data', (text: Buffer) => (said += text.toString()))
    await eventually(() => /API server listening|listening on/i.test(said) || undefined, 30_000)
    cscli('decisions', 'import', '-i', csv)
    const listed = JSON.parse(cscli('decisions', 'list', '-a', '-o', 'json')) as readonly {
      readonly decisions: readonly Record<string, string>[]
    }[]
    const decisions = listed.flatMap((alert) => alert.decisions)
    // Its scope it takes from an option (1.4.6), and the range from the value.
    const imported = decisions.map(({ value, type, scenario }) => `${type} ${value} ${scenario}`)
    expect(imported.toSorted()).toEqual([
      'ban 11.1.1.1 iprisk',
      'ban 2a01:4f8::3 iprisk',
      'ban 9.200.0.0/16 iprisk',
    ])
  })
})
