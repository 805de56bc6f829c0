// Every finding of `iprisk doctor`, provoked by doing what it is about, and a healthy machine on
// which there is none. One run may find many things; each names its own.

import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, connect, createServer as createNetServer } from 'node:net'
import { type Server as HttpServer, createServer } from 'node:http'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { writeTable } from '../../../build/write/write-table.ts'
import { type Day, dayOf, formatDay, parseDay } from '../../../src/base/day.ts'
import {
  checkStateFolder,
  checkTableFile,
  checkCertificate,
} from '../../../src/cli/doctor/check-files.ts'
import type { DoctorFinding } from '../../../src/cli/doctor/doctor-finding.ts'
import { checkFront, checkServer } from '../../../src/cli/doctor/check-server.ts'
import { checkMachine } from '../../../src/cli/doctor/check-program.ts'
import { type Settings, readSettings } from '../../../src/config/settings.ts'
import { readTrailer, writeTrailer } from '../../../src/table/file/trailer.ts'
import { freePort } from '../../../bench/harness/free-port.ts'
import { makeCertificate } from '../../account/stores/redis/redis-servers.ts'
import { type Server, newState, plainPriority, startServer, workersOf } from '../../serve/server.ts'
import { replaceTable } from '../../serve/small-tables.ts'
import type { KindCoverage } from '../../../src/model/coverage.ts'
import { fullCoverage, listed, smallContent, writeSmallTable } from '../../table/small-table.ts'
import { type StatusAnswer, askStatus } from '../../../src/cli/server/ask-admin.ts'
import { programPath, runProgram } from '../program.ts'
import { buildWaitMs, eventually } from '../../eventually.ts'

const small = writeSmallTable()
const running: Server[] = []
const others: { readonly close: () => void }[] = []

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop('SIGKILL')
  for (const other of others.splice(0)) other.close()
})

function tableAsOf(day: string): string {
  const file = join(newState(), 'table.iprisk')
  const asOf = parseDay(day)!
  const coverage = fullCoverage.map((one) => ({ ...one, newest: asOf }))
  writeTable(file, { ...smallContent(listed, coverage), asOf })
  return file
}

const today = formatDay(dayOf(Date.now()))

/** The findings by code; exit code and `ok` agree with them. */
async function find(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<ReadonlyMap<string, DoctorFinding>> {
  const program = await runProgram(['doctor', '--json', ...args], { cwd: newState(), environment })
  return read(program.out, program.code)
}

function read(out: string, code: number | null): ReadonlyMap<string, DoctorFinding> {
  const { ok, findings } = JSON.parse(out) as {
    readonly ok: boolean
    readonly findings: readonly DoctorFinding[]
  }
  const problems = findings.filter(({ severity }) => severity === 'problem')
  expect([ok, code]).toEqual(problems.length === 0 ? [true, 0] : [false, 1])
  for (const { text, fix } of findings) {
    expect(text).toMatch(/^\S.*\S$/)
    expect(fix.length).toBeGreaterThan(10)
  }
  return byCode(findings)
}

async function start(options: Parameters<typeof startServer>[0]): Promise<Server> {
  const server = await startServer(options)
  running.push(server)
  return server
}

/** What finds the server: its ports, its state. */
const of = ({ port, adminPort, state }: Server): string[] =>
  ['--port', port, '--admin-port', adminPort, '--state', state].map(String)

function settingsOf(flags: Readonly<Record<string, unknown>>): Settings {
  return readSettings({ command: 'doctor', flags, environment: {}, cwd: newState() })
}

function byCode(findings: readonly DoctorFinding[]): ReadonlyMap<string, DoctorFinding> {
  return new Map(findings.map((finding) => [finding.code, finding]))
}

function listening(server: HttpServer | ReturnType<typeof createNetServer>): Promise<number> {
  others.push(server)
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

describe('on a machine where all is well', () => {
  it('there is no problem, and it says so', async () => {
    const table = tableAsOf(today)
    const server = await start({ table })
    const well = ['--table', table, '--workers', '1', ...of(server)]
    const found = await find(well)
    expect([...found.values()].filter(({ severity }) => severity === 'problem')).toEqual([])
    const plain = await runProgram(['doctor', ...well], { cwd: newState() })
    expect(plain.code).toBe(0)
    expect(plain.out).toMatch(/^(No problems found\.|(advice: .*\n {2}.*\n)+)/)
  })
})

describe('without a server', () => {
  it('finds what lies open, is short, late or wrong', async () => {
    const state = newState()
    const secrets = newState()
    const { certFile, keyFile } = makeCertificate(secrets)
    chmodSync(keyFile, 0o644)
    chmodSync(state, 0o777)
    writeFileSync(join(state, 'audit.log'), '')
    const future = Date.now() / 1000 + 86_400
    utimesSync(join(state, 'audit.log'), future, future)
    const port = await listening(createNetServer())
    const args = ['--json', '--table', tableAsOf('2099-01-01'), '--state', state]
    args.push('--port', String(port), '--admin-port', '0', '--workers', '1024')
    args.push('--tls-cert-file', certFile, '--tls-key-file', keyFile)
    args.push('--front', `http://127.0.0.1:${await freePort()}`)
    const script = 'ulimit -n 256; exec "$@"'
    const run = spawnSync(
      'sh',
      ['-c', script, 'sh', process.execPath, programPath, 'doctor', ...args],
      {
        cwd: newState(),
        encoding: 'utf8',
      },
    )
    const found = read(run.stdout, run.status)
    expect(found.get('low_file_limit')?.text).toContain('256')
    expect(found.get('too_many_workers')?.text).toContain('1024')
    expect(found.get('low_memory')?.text).toContain('204.8')
    expect(found.get('clock_behind')?.text).toContain('2099-01-01')
    expect(found.get('state_open')?.fix).toBe(`Run chmod o-w ${state}`)
    expect(found.get('clock_jumped')?.text).toContain('audit.log')
    expect(found.get('secret_readable')?.text).toContain(keyFile)
    expect(found.get('certificate_ends')?.text).toMatch(/1 day|2 days/)
    expect(found.get('port_in_use')?.text).toContain(String(port))
    expect(found.get('front_unreachable')?.text).toContain('ECONNREFUSED')
    expect(found.has('no_server')).toBe(true)
  })

  it('finds no table, one that is none, an old one, and one of another version', async () => {
    const folder = newState()
    const garbage = join(folder, 'garbage.iprisk')
    writeFileSync(garbage, 'x'.repeat(1000))
    const file = join(folder, 'world.iprisk')
    const ask = async (table: string) =>
      byCode(await checkTableFile(settingsOf({ table }), Date.now(), { kind: 'silent' }))
    expect((await ask(file)).get('no_table')?.text).toContain(file)
    expect((await ask(garbage)).get('table_unreadable')?.text).toContain('section trailer')
    const old = await ask(small)
    expect(old.get('old_table')?.text).toContain('2026-08-22')
    expect(old.get('old_table')?.fix).toContain('serve with --refresh-every')
    // They were young enough on the day of the table.
    expect(old.get('feeds_old')?.text).toContain('tor (2026-08-22, at most 3 days)')
    expect((await ask(otherMajor(small, 9))).get('table_version')?.text).toContain('version 9')
    expect([...(await ask(tableAsOf(today))).keys()]).toEqual([])
  })

  it('advises no refresh where one is on, by the server or by the settings', async () => {
    const fixOf = async (
      settings: Settings,
      status?: object,
      code = 'old_table',
    ): Promise<string | undefined> => {
      const answer = (status ? { kind: 'status', status } : { kind: 'silent' }) as StatusAnswer
      return byCode(await checkTableFile(settings, Date.now(), answer)).get(code)?.fix
    }
    const off = settingsOf({ table: small })
    const on = { ...off, serve: { ...off.serve, refreshEvery: '24h' } }
    const pulled = { ...off, serve: { ...off.serve, tableUrl: 'https://tables.example.org/' } }
    const refreshing = { refresh: { every_ms: 86_400_000 }, source: null }
    const catchingUp = { refresh: { every_ms: 0 }, source: null }
    expect(await fixOf(off, refreshing)).toContain('Refreshing is on')
    expect(await fixOf(on)).toContain('Refreshing is on')
    expect(await fixOf(on, catchingUp)).toContain('serve with --refresh-every')
    expect(await fixOf(pulled)).toContain('New tables come from --table-url')
    expect(await fixOf(off, { refresh: null, source: {} })).toContain('--table-url')
    const none = { table: join(newState(), 'none.iprisk') }
    expect(await fixOf({ ...off, ...none }, undefined, 'no_table')).toContain('iprisk build')
    expect(await fixOf({ ...pulled, ...none }, undefined, 'no_table')).toContain('--table-url')
  })

  it('finds kinds without feeds, with hand-kept tables or too few entries alone, and with old feeds', async () => {
    const ofKind = (kind: string, gap: Partial<KindCoverage>) => (one: KindCoverage) =>
      one.kind === kind ? { ...one, ...gap } : one
    const file = join(newState(), 'gaps.iprisk')
    const asOf = parseDay(today)!
    const coverage = fullCoverage
      .map((one) => ({ ...one, newest: asOf }))
      .map(ofKind('vpn', { state: 'missing', newest: undefined }))
      .map(ofKind('tor', { state: 'partly', newest: undefined }))
      .map(ofKind('bot', { state: 'partly' }))
      .map(ofKind('proxy', { state: 'missing', newest: (asOf - 9) as Day }))
    writeTable(file, { ...smallContent(listed, coverage), asOf })
    const found = byCode(
      await checkTableFile(settingsOf({ table: file }), Date.now(), { kind: 'silent' }),
    )
    expect([...found.keys()]).toEqual(['feeds_missing', 'feeds_old'])
    const { text, fix, severity } = found.get('feeds_missing')!
    expect(text).toContain('no vpn feed')
    expect(text).toContain('only hand-kept data for tor')
    expect(text).toContain('the bot feeds hold less than half')
    expect(fix).toContain('"iprisk feeds fetch", then "iprisk build"')
    expect(severity).toBe('problem')
    const old = `proxy (${formatDay((asOf - 9) as Day)}, at most 7 days)`
    expect(found.get('feeds_old')?.text).toContain(old)
  })

  it('finds a state folder that cannot be written, and one that is not there yet is none', () => {
    const ask = (state: string) => byCode(checkStateFolder(settingsOf({ state }), Date.now()))
    expect(ask('/dev/null/state').get('state_not_writable')?.text).toContain('/dev/null/state')
    expect([...ask(join(newState(), 'later')).keys()]).toEqual([])
  })

  it.each(['uWebSockets.js', 'koffi', 'lmdb'])('finds that %s is missing', async (binary) => {
    const hook = encodeURIComponent(
      `export const resolve = (name, context, next) => { if (name === "${binary}") throw new Error("no binary"); return next(name, context) }`,
    )
    // Bundles import some packages and require others.
    const program = encodeURIComponent(
      `import Module, { register } from "node:module"; register("data:text/javascript,${hook}"); const load = Module._load; Module._load = (name, ...rest) => { if (name === "${binary}") throw new Error("no binary"); return load(name, ...rest) }`,
    )
    // With a table, which is looked into where it can be.
    const environment = { NODE_OPTIONS: `--import data:text/javascript,${program}` }
    const found = await find(['--table', small], environment)
    expect(found.get('missing_binary')?.text).toContain(`The binary of ${binary} cannot`)
    expect(found.get('missing_binary')?.fix).toContain('glibc')
    expect([found.has('old_table'), found.has('table_unreadable')]).toEqual([
      binary !== 'koffi',
      false,
    ])
  })

  it('finds files that cannot serve: a key of another certificate, a token that is too short', () => {
    const [one, other] = [makeCertificate(newState()), makeCertificate(newState())]
    const token = join(newState(), 'token')
    writeFileSync(token, 'short', { mode: 0o600 })
    const ask = (flags: Readonly<Record<string, string>>) =>
      byCode(checkCertificate(settingsOf(flags), Date.now()))
    const files = { tlsCertFile: one.certFile, tlsKeyFile: other.keyFile }
    expect(ask(files).get('tls_unusable')?.text).toContain('does not match the certificate')
    expect(ask({ adminTokenFile: token }).get('admin_token_unusable')?.text).toContain(
      'instead of 16 to',
    )
  })

  it('is not needed for an admin port that is open wide: that is refused at once', async () => {
    const { code, err } = await runProgram(['doctor', '--admin-host', '0.0.0.0'], {
      cwd: newState(),
    })
    expect(code).toBe(2)
    expect(err).toContain('serve.adminHost')
  })
})

describe('the kernel', () => {
  it('is asked for what keeps connections of a worker that goes', (context) => {
    const args = ['-rn', process.execPath, programPath, 'doctor', '--json']
    if (spawnSync('unshare', ['-rn', 'true']).status !== 0) context.skip('unshare is not allowed')
    const run = spawnSync('unshare', args, { cwd: newState(), encoding: 'utf8' })
    expect(read(run.stdout, run.status).get('connections_not_migrated')?.fix).toContain(
      'tcp_migrate_req=1',
    )
  })

  it('may have huge pages always on, or little memory: read where it says so', () => {
    // The real switch is the whole machine's; its file is read from a folder that looks like it.
    const files = newState()
    const say = (path: string, text: string): void => {
      mkdirSync(join(files, path, '..'), { recursive: true })
      writeFileSync(join(files, path), text)
    }
    const settings = settingsOf({ workers: 1 })
    const codes = (): string[] => checkMachine(settings, files).map(({ code }) => code)
    expect(codes()).toEqual([])
    say('sys/kernel/mm/transparent_hugepage/enabled', '[always] madvise never\n')
    say('sys/fs/cgroup/memory.max', '134217728\n')
    expect(codes()).toEqual(['low_memory', 'huge_pages'])
    say('sys/kernel/mm/transparent_hugepage/enabled', 'always [madvise] never\n')
    say('sys/fs/cgroup/memory.max', 'max\n')
    expect(codes()).toEqual([])
  })
})

describe('a server', () => {
  /** What is found by asking the server alone, without a process of its own. */
  const ask = async (
    server: Pick<Server, 'port' | 'adminPort'>,
    flags: Readonly<Record<string, string>> = {},
  ): Promise<ReadonlyMap<string, DoctorFinding>> => {
    const { port, adminPort } = server
    const settings = settingsOf({ port, adminPort, ...flags })
    return byCode(await checkServer(settings, await askStatus(settings.serve)))
  }

  it(
    'without a table, that cannot build one, and with a store that is away, says so',
    { timeout: 2 * buildWaitMs },
    async () => {
      const port = await freePort()
      const folder = newState()
      const config = join(folder, 'iprisk.json')
      writeFileSync(config, JSON.stringify({ build: { offline: true, networks: ['gone.csv'] } }))
      const store = ['--store', `redis://127.0.0.1:${port}/0`]
      const args = [...store, '--refresh-every', '1h', '--config', config]
      const table = join(folder, 'none.iprisk')
      const server = await start({ table, args, environment: plainPriority() })
      const found = await eventually(
        async () => {
          const some = await ask(server)
          return some.has('refresh_failing') ? some : undefined
        },
        buildWaitMs,
        server.stderr,
      )
      expect(found.get('refresh_failing')?.text).toContain('gone.csv')
      expect(found.get('not_ready')?.text).toMatch(/no_table|no_keys/)
      expect(found.get('store_down')?.text).toContain(`redis://127.0.0.1:${port}`)
    },
  )

  it('that refused a table, or whose workers die, says so', async () => {
    const table = tableAsOf(today)
    const server = await start({ table })
    writeFileSync(`${table}.new`, 'no table at all')
    renameSync(`${table}.new`, table)
    await eventually(async () => (await ask(server)).has('table_refused'))
    const refused = (await ask(server)).get('table_refused')
    expect(refused?.text).toContain(table)
    expect(refused?.fix).toBe('Build or copy it again; until then the previous one stays in use.')
    for (let deaths = 0; deaths < 3; deaths += 1) {
      const [worker = 0] = await eventually(() => {
        const workers = workersOf(server)
        return workers.length > 0 ? workers : undefined
      })
      process.kill(worker, 'SIGKILL')
      await eventually(() => !workersOf(server).includes(worker))
    }
    const missing = await eventually(async () => (await ask(server)).get('workers_missing'))
    expect(missing.text).toContain('0 of 1')
    const degraded = await eventually(async () => (await ask(server)).get('degraded'))
    expect(degraded.text).toContain('3 were replaced')
  })

  it('that refused its only table is not said to answer from one before', async () => {
    const table = join(newState(), 'table.iprisk')
    writeFileSync(table, 'no table at all')
    const found = await ask(await start({ table }))
    expect(found.get('not_ready')?.text).toContain('no_table')
    expect(found.get('table_refused')?.fix).toBe('Build or copy it again.')
  })

  it('whose policies are refused or gone, or that was rolled back, says so', async () => {
    const policies = join(newState(), 'policies.json')
    const write = (text: string): void => {
      writeFileSync(`${policies}.new`, text)
      renameSync(`${policies}.new`, policies)
    }
    write('{"policies":{"default":{"rules":[],"otherwise":"allow"}}}')
    const table = tableAsOf(today)
    const server = await start({ table, args: ['--policies', policies] })
    const found = await ask(server)
    expect([found.has('policies_refused'), found.has('table_held')]).toEqual([false, false])
    write('{"policies":{"default":{"rules":[],"otherwise":"alow"}}}')
    const vain = await eventually(async () => (await ask(server)).get('policies_ineffective'))
    expect(vain.text).toContain('did you mean allow?')
    write('{')
    const refused = await eventually(async () => (await ask(server)).get('policies_refused'))
    expect(refused).toMatchObject({ severity: 'problem', text: expect.stringContaining(policies) })
    rmSync(policies)
    await eventually(async () => {
      const gone = (await ask(server)).get('policies_refused')
      return (
        gone?.text.includes('The file is gone; the previous policies stay in use.') === true ||
        undefined
      )
    })
    expect(server.stderr()).toContain(
      'The policies file is gone; the previous policies stay in use.',
    )
    replaceTable(table, formatDay((dayOf(Date.now()) - 1) as Day))
    await eventually(() => server.stderr().includes('A new table is in use.'))
    const rollback = ['rollback', '--port', String(server.port), '--state', server.state]
    expect((await runProgram(rollback, { cwd: newState() })).code).toBe(0)
    expect((await ask(server)).get('table_held')).toMatchObject({ severity: 'advice' })
  })

  it('whose limit of open files is below its connections says so, and how many it has open', async () => {
    const server = await start({ table: small, under: ['prlimit', '--nofile=5000:5000'] })
    // The limit of this process is another one.
    const found = (await ask(server)).get('low_file_limit')
    expect(found?.text).toMatch(/5000 files.* 4744 connections.* 10000/)
    expect(found?.fix).toContain('10256')
    expect(server.stderr()).toContain('allows only 4744 connections')
    const before = await server.metric('iprisk_worker_open_fds', '{worker="1"}')
    const sockets = Array.from({ length: 20 }, () => connect(server.port, '127.0.0.1'))
    others.push(...sockets.map((socket) => ({ close: () => void socket.destroy() })))
    await eventually(async () => {
      const opened = (await server.metric('iprisk_worker_open_fds', '{worker="1"}')) - before
      return opened >= sockets.length ? opened : undefined
    })
  })

  it('that wants a token, listens widely, or is none', async () => {
    const folder = newState()
    const [token, wrong] = [join(folder, 'token'), join(folder, 'wrong')]
    writeFileSync(token, 'canary-token-0123456789', { mode: 0o600 })
    writeFileSync(wrong, 'another-token-0123456789', { mode: 0o600 })
    const wide = ['--admin-host', '0.0.0.0', '--admin-token-file']
    const server = await start({ table: small, args: [...wide, token] })
    const found = await ask(server, { adminHost: '0.0.0.0', adminTokenFile: token })
    expect(found.get('admin_open')?.severity).toBe('advice')
    expect(found.has('no_server')).toBe(false)
    expect((await ask(server, { adminTokenFile: wrong })).get('token_refused')?.text).toMatch(
      /rejected this token/,
    )
    expect((await ask(server)).get('token_refused')?.text).toMatch(/none was given/)
    const port = await listening(createServer((_request, response) => response.end('hello')))
    const stranger = await ask({ port: 0, adminPort: port })
    expect(stranger.get('port_in_use')?.text).toContain(String(port))
    const elsewhere = byCode(await checkFront(`http://127.0.0.1:${port}`))
    expect(elsewhere.has('front_elsewhere')).toBe(true)
  })
})

/** The same table as another version of the program would have written it. */
function otherMajor(table: string, major: number): string {
  const bytes = readFileSync(table)
  const end = writeTrailer({ ...readTrailer(bytes, table), major })
  bytes.set(end, bytes.length - end.length)
  const file = join(newState(), 'other.iprisk')
  writeFileSync(file, bytes)
  return file
}
