// The command line as scripts see it: exit codes, what goes to which stream, answers and errors.
// The first of each kind is a process, the others run here.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeSmallTable } from '../table/small-table.ts'
import { eventually } from '../eventually.ts'
import { newFolder, programPath, runHere, runProgram } from './program.ts'

const cwd = newFolder()
const table = writeSmallTable()
const run = (...args: readonly string[]) => runHere(args, { cwd })

describe('usage', () => {
  it('prints help on standard output and ends with 0', async () => {
    const { code, out, err } = await runProgram(['--help'], { cwd })
    expect([code, err]).toEqual([0, ''])
    for (const command of [
      'build',
      'serve',
      'check',
      'summarize',
      'explain',
      'keys',
      'table',
      'feeds',
    ]) {
      expect(out).toContain(command)
    }
  })

  it('prints its version', async () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    expect(await run('--version')).toMatchObject({ code: 0, out: `${manifest.version}\n` })
  })

  it('is wrong for an unknown command: exit code 2', async () => {
    const { code, out, err } = await runProgram(['bogus'], { cwd })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/unknown command 'bogus'/)
  })

  it.each([
    [['check'], /missing required argument 'address'/],
    [['check', '8.8.8.8', '--colour'], /unknown option '--colour'/],
    [['table', 'info'], /missing required argument 'file'/],
    [['build', '--as-of', '2026-02-31'], /--as-of/],
    [['serve', '--port', '70000'], /--port.*0 to 65535/],
    [['serve', '--workers', 'many'], /--workers/],
    [['keys', 'create'], /--plan is missing; use one of free, team/],
    [['keys', 'create', '--plan', 'gold'], /gold/],
  ] as const)('%j is wrong usage: exit code 2', async (args, message) => {
    const { code, out, err } = await run(...args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(message)
    expect(err).not.toContain('    at ')
  })
})

describe('iprisk check', () => {
  it('answers in order, as the API does, with an error object for a bad line', async () => {
    const input = '9.1.2.3\n\n  10.0.0.1 \nhello\n9.1.2.4\n'
    const { code, out, err } = await runProgram(['check', '-', '--json', '--table', table], {
      cwd,
      input,
    })
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Answer)
    expect(lines.map((line) => line.ip)).toEqual(['9.1.2.3', '10.0.0.1', 'hello', '9.1.2.4'])
    expect(lines.map((line) => line.classification ?? line.error?.code)).toEqual([
      'tor',
      'bogon',
      'invalid_input',
      'clean',
    ])
    expect(code).toBe(0)
    expect(err).toContain('1 of the lines has no IP address')
    const strict = ['check', '-', '--json', '--strict', '--table', table]
    expect(await runHere(strict, { cwd, input })).toEqual({ code: 1, out, err })
  })

  it('ends with 0 where every line is an address', async () => {
    const addresses = ['9.1.2.3', '2a01:4f8::1']
    const args = ['check', ...addresses, '--format', 'text', '--table', table]
    const { code, out } = await runProgram(args, { cwd })
    expect(code).toBe(0)
    expect(out.trimEnd().split('\n')).toHaveLength(2)
    expect(out).toContain('tor                 81  very_high')
  })

  it('takes the table from the environment, too', async () => {
    const environment = { IPRISK_TABLE: table }
    const { code, out } = await runProgram(['check', '9.1.2.3'], { cwd, environment })
    expect([code, (JSON.parse(out) as Answer).classification]).toEqual([0, 'tor'])
  })

  it('says what to do where there is no table', async () => {
    const { code, err } = await runProgram(['check', '9.1.2.3'], { cwd })
    expect(code).toBe(1)
    expect(err).toMatch(/There is no table at .*world\.iprisk\. Build one with/)
  })
})

interface Answer {
  readonly ip: string
  readonly classification?: string
  readonly error?: { readonly code: string }
}

it('opens no debugger on SIGUSR1, and goes on', async () => {
  const child = spawn(process.execPath, [programPath, 'check', '-', '--table', table], {
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (text: Buffer) => (out += text.toString()))
  child.stderr.on('data', (text: Buffer) => (err += text.toString()))
  const isEnded = once(child, 'close')
  child.stdin.write('9.1.2.3\n'.repeat(10_000))
  await eventually(() => out !== '')
  child.kill('SIGUSR1')
  await eventually(() => err !== '')
  child.stdin.end()
  expect(await isEnded).toEqual([0, null])
  expect(err).toBe(
    'iprisk: SIGUSR1 is ignored: it would open the debugger of Node.js to every local user.\n',
  )
})

describe('iprisk explain', () => {
  it('has reasons whose points add up, and evidence with its range', async () => {
    const { code, out } = await run('explain', '9.1.2.3', '--json', '--table', table)
    const explained = JSON.parse(out) as {
      risk_score: number
      insights: {
        reasons: { points: number }[]
        evidence: { kind: string; matched: string }[]
      }
    }
    expect(code).toBe(0)
    const { reasons, evidence } = explained.insights
    const points = reasons.reduce((sum, reason) => sum + reason.points, 0)
    expect(points).toBe(explained.risk_score)
    expect(evidence.map(({ kind, matched }) => `${kind} ${matched}`)).toEqual([
      'tor 9.1.2.3',
      'blocklist 9.1.2.3',
    ])
  })

  it('fits a person: verdict, why, who says so', async () => {
    const { out } = await run('explain', '11.1.1.1', '--table', table)
    expect(out).toMatch(/^11\.1\.1\.1 {2}vpn, \d+ of 100/)
    expect(out).toContain('\nwhy\n')
    expect(out).toMatch(
      /vpn +test-feed \(Example\) +11\.1\.1\.1 +Example VPN +0\.95 +\.{29}# +1\/7/,
    )
    expect(out).toMatch(/hosting +table-hosting \(Example\) +AS64497/)
    expect(out).toMatch(/below 50 \(high\): 2026-\d\d-\d\d/)
    expect(out).not.toContain('\x1b[')
    expect(out.split('\n').length).toBeLessThan(40)
  })

  it('refuses what is no address', async () => {
    expect(await run('explain', '300.1.1.1', '--table', table)).toMatchObject({
      code: 2,
      out: '',
      err: 'iprisk: 300.1.1.1 is not an IP address.\n',
    })
  })
})

describe('iprisk table', () => {
  it('tells what a table holds', async () => {
    const { code, out } = await run('table', 'info', table)
    expect(code).toBe(0)
    expect(out).toMatch(/^table +20260822-[0-9a-f]{12}\nas of +2026-08-22\n/)
    expect(out).toMatch(/ipv4_starts +\d+/)
    expect(out).toContain('CC0-1.0')
  })

  it('verifies a whole one and refuses a damaged one, section and offset named', async () => {
    expect(await run('table', 'verify', table)).toMatchObject({ code: 0, err: '' })
    const bytes = readFileSync(table)
    bytes[bytes.length - 200]! ^= 1
    const damaged = join(cwd, 'damaged.iprisk')
    writeFileSync(damaged, bytes)
    const { code, out, err } = await run('table', 'verify', damaged)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^iprisk: .*damaged in section \w+ at offset \d+: /)
  })

  it('survives what is no table', async () => {
    for (const path of [cwd, '/dev/null', join(cwd, 'nothing')]) {
      const { code, err } = await run('table', 'info', path)
      expect(code).toBe(1)
      expect(err).toMatch(/^iprisk: .* cannot be opened: /)
    }
  })
})

describe('iprisk feeds list', () => {
  it('names all feeds; those with an unstated licence are off', async () => {
    const { code, out } = await run('feeds', 'list')
    const rows = out.trimEnd().split('\n').slice(1)
    expect([code, rows.length]).toEqual([0, 129])
    const off = rows.filter((row) => / off /.test(row))
    expect(off.length).toBeGreaterThan(10)
    const others = off.filter((row) => !row.includes('unstated'))
    expect(others.map((row) => row.split(' ')[0])).toEqual([
      'block-stopforumspam',
      'hosting-asn-tn3w',
      'proxy-gfpcom',
    ])
    // Of whom nobody has ever had a file.
    expect(rows.filter((row) => / never /.test(row))).toHaveLength(17)
    const all = await run('feeds', 'list', '--all-feeds')
    expect(all.out).not.toMatch(/ off /)
  })

  it('begins with those that fail, and takes the feeds of a folder of its own', async () => {
    const there = newFolder()
    mkdirSync(join(there, 'own'))
    writeFileSync(join(there, 'own', 'tor-exits-x4b.json'), '{ "enabled": false }')
    const feeds = [
      { id: 'vpn-pia', day: '2026-08-22', unique: 1, trouble: 'dead', problem: 'status 404' },
      { id: 'vpn-x4b', day: '2026-08-22', unique: 1 },
    ]
    mkdirSync(join(there, 'data', 'table'), { recursive: true })
    writeFileSync(join(there, 'data', 'table', 'report.json'), JSON.stringify({ feeds }))
    const list = await runHere(['feeds', 'list', '--feeds-folder', 'own'], { cwd: there })
    const rows = list.out.trimEnd().split('\n')
    expect(rows[1]).toMatch(/^vpn-pia +vpn +dead /)
    expect(rows[2]).toMatch(/^vpn-x4b +vpn +shrunk /)
    expect(rows.slice(-2)).toEqual([
      'vpn-pia is dead: status 404',
      expect.stringMatching(/^vpn-x4b is shrunk: it holds 1 entries; [\d,]+ are usual$/),
    ])
    expect(list.out).toMatch(/^tor-exits-x4b +tor +off /m)
    const doctor = await runHere(['doctor', '--json'], { cwd: there })
    const { findings } = JSON.parse(doctor.out) as {
      findings: readonly { code: string; text: string }[]
    }
    expect(findings.find(({ code }) => code === 'feeds_failing')?.text).toContain(
      '1 dead (vpn-pia), 1 shrunk (vpn-x4b)',
    )
  })

  it('names them also where the configuration has a wrong name, as a build says that it does', async () => {
    const there = newFolder()
    const feeds = { 'tor-exits': false, 'tor-exits-x4b': false }
    writeFileSync(join(there, 'iprisk.json'), JSON.stringify({ build: { feeds } }))
    const build = await runHere(['build', '--offline'], { cwd: there })
    expect([build.code, build.err]).toEqual([
      2,
      expect.stringMatching(/called tor-exits; `iprisk feeds list` /),
    ])
    const list = await runHere(['feeds', 'list'], { cwd: there })
    expect([list.code, list.err]).toEqual([
      0,
      'iprisk: warning: unknown feed tor-exits in build.feeds.\n',
    ])
    expect(list.out).toMatch(/^tor-exits-x4b +tor +off /m)
  })
})

describe('iprisk keys', () => {
  it('makes, lists, rotates and revokes', async () => {
    const state = join(cwd, 'state')
    const made = await run('keys', 'create', '--plan', 'team', '--json', '--state', state)
    const { id, key } = JSON.parse(made.out) as { id: string; key: string }
    expect(key).toMatch(new RegExp(`^irk_${id}_[0-9A-Za-z]+$`))
    const listed = await run('keys', 'list', '--state', state)
    expect(listed.out).toContain(id)
    expect(listed.out).not.toContain(key.slice(20))
    const rotated = await run('keys', 'rotate', id, '--json', '--state', state)
    expect([rotated.code, rotated.out.includes(key)]).toEqual([0, false])
    expect((await run('keys', 'revoke', id, '--state', state)).code).toBe(0)
    expect((await run('keys', 'list', '--state', state)).out).toContain('revoked')
    expect(await run('keys', 'revoke', 'AAAAAAAAAAAA', '--state', state)).toMatchObject({ code: 1 })
    expect(existsSync(state)).toBe(true)
  })
})
