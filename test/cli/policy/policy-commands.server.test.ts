// The commands of policies as a user calls them: init, check, test, replay.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeTable } from '../../../build/write/write-table.ts'
import { listed, smallContent, writeSmallTable } from '../../table/small-table.ts'
import { judgeShare } from '../../../src/cli/policy/policy-test-command.ts'
import type { Io } from '../../../src/cli/terminal/io.ts'
import { newFolder, runHere } from '../program.ts'

const cwd = newFolder()
const table = writeSmallTable()
const run = (...args: readonly string[]) => runHere(args, { cwd })

/** A line of an access log for each request. */
const requests: readonly (readonly [string, number])[] = [
  ['13.0.0.1', 60],
  ['9.1.2.3', 20],
  ['11.1.1.1', 10],
  ['11.66.1.1', 5],
  ['::ffff:9.1.2.3', 2],
  ['2a01:4f8::1', 2],
  ['10.0.0.1', 1],
]
const log = join(cwd, 'access.log')
writeFileSync(
  log,
  requests
    .flatMap(([ip, count]) => Array.from({ length: count }, () => ip))
    .map((ip) => `${ip} - - [22/Aug/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 1\n`)
    .join(''),
)

const rule = (name: string, condition: string, action: string, observe = false) => ({
  name,
  condition,
  action,
  observe,
})
const policies = {
  default: {
    rules: [
      rule('tor', 'signals.tor', 'block'),
      rule('vpn', 'signals.vpn', 'challenge', true),
      rule('bot', 'classification == "known_bot"', 'allow'),
    ],
    otherwise: 'allow',
  },
  strict: { rules: [rule('any', 'risk_score >= 20', 'challenge')], otherwise: 'allow' },
}
const file = join(cwd, 'live.json')
writeFileSync(file, JSON.stringify({ policies }))

const test = (...args: readonly string[]) =>
  run('policy', 'test', log, '--log', 'combined', '--table', table, '--policies', file, ...args)

describe('iprisk policy init', () => {
  const observed = newFolder()
  const here = (...args: readonly string[]) => runHere(args, { cwd: observed })
  const textIn = (folder: string): string => readFileSync(join(folder, 'policies.json'), 'utf8')

  it('writes policies that can be used and only observe, once', async () => {
    const made = await here('policy', 'init')
    expect(made).toMatchObject({ code: 0, out: `wrote ${join(observed, 'policies.json')}\n` })
    const text = textIn(observed)
    const checked = await here('policy', 'check', 'policies.json')
    expect(checked.code).toBe(0)
    expect(checked.out).toMatch(/is valid: revision [0-9a-f]{16}\n\npolicy default\n/)
    const { rules } = JSON.parse(text).policies.default
    expect(rules.map(({ observe }: { readonly observe?: boolean }) => observe)).toEqual(
      Array.from({ length: 6 }, () => true),
    )
    const again = await here('policy', 'init')
    expect(again).toMatchObject({ code: 2, out: '' })
    expect(again.err).toMatch(/policies\.json already exists/)
    expect(textIn(observed)).toBe(text)
  })

  it('says that there is no folder where a file lies', async () => {
    const made = await here('policy', 'init', '--policies', 'policies.json/below')
    expect(made).toMatchObject({ code: 2, out: '' })
    expect(made.err).toMatch(/^iprisk: There is no folder \S+policies\.json; create it first\.\n$/)
  })

  it('writes the same rules, and lets them decide, with --enforce', async () => {
    const made = await run('policy', 'init', '--enforce')
    expect(made.err).toContain('enforces its rules')
    const same = JSON.parse(textIn(observed))
    for (const one of same.policies.default.rules) delete one.observe
    expect(JSON.parse(textIn(cwd))).toEqual(same)
  })
})

describe('iprisk policy check', () => {
  const wrong = join(cwd, 'wrong.json')
  const rules = [rule('x', 'risk_score > 5 && network.asm == 1', 'block')]
  writeFileSync(wrong, JSON.stringify({ policies: { default: { rules, otherwise: 'allow' } } }))
  const mistake =
    'policies.default.rules[0] (x).condition, column 19: network has no member asm; did you mean asn?'

  it('tells a mistake with its place', async () => {
    const { code, out, err } = await run('policy', 'check', wrong)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(mistake)
  })

  it('tells it as JSON', async () => {
    const { code, out } = await run('policy', 'check', wrong, '--json')
    expect({ code, ...JSON.parse(out) }).toEqual({ code: 1, file: wrong, mistakes: [mistake] })
  })

  it('refuses a condition that never matches, which other commands warn of', async () => {
    const path = join(cwd, 'never.json')
    const never = [rule('uk', 'location.country_code == "UK"', 'block')]
    writeFileSync(
      path,
      JSON.stringify({ policies: { default: { rules: never, otherwise: 'allow' } } }),
    )
    const warning =
      'policies.default.rules[0] (uk).condition, column 26: location.country_code is never "UK"; did you mean GB?'
    const { code, out, err } = await run('policy', 'check', path)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(`should not be used (1 mistake):\n  ${warning}`)
    const asJson = await run('policy', 'check', path, '--json')
    expect(JSON.parse(asJson.out)).toEqual({ file: path, mistakes: [warning] })
    const uses = [
      ['check', '9.1.2.3', '--table', table, '--policies', path],
      ['explain', '9.1.2.3', '--table', table, '--policies', path],
      ['policy', 'test', log, '--log', 'combined', '--table', table, '--policies', path],
      [
        'replay',
        log,
        '--log',
        'combined',
        '--table',
        table,
        '--against',
        table,
        '--policies',
        path,
      ],
    ]
    for (const args of uses) {
      const used = await run(...args)
      expect(used.code, args.join(' ')).toBe(0)
      expect(used.err).toContain(`iprisk: warning: ${path}: ${warning}\n`)
    }
  })

  it('fails where there is no file', async () => {
    const { code, err } = await run('policy', 'check', 'none.json')
    expect(code).toBe(1)
    expect(err).toMatch(/none\.json cannot be used/)
  })
})

describe('iprisk policy test', () => {
  it('counts what each rule would have done', async () => {
    const { code, out } = await test('--json')
    const report = JSON.parse(out)
    expect(code).toBe(0)
    expect(report).toMatchObject({
      policy: 'default',
      requests: 100,
      actions: [
        { action: 'allow', requests: 76, percent: 76 },
        { action: 'block', requests: 24, percent: 24 },
      ],
      rules: [
        { rule: 'tor', action: 'block', requests: 24, percent: 24 },
        { rule: 'vpn', action: 'challenge', requests: 10, would_change: 10 },
        { rule: 'bot', action: 'allow', requests: 5 },
        { rule: '', action: 'allow', requests: 71 },
      ],
      hit: {
        networks: [
          { asn: 64496, organization: 'Example Access', requests: 22 },
          { asn: 64497, requests: 2 },
        ],
        countries: [{ country_code: 'DE', country: 'Germany', requests: 24 }],
      },
    })
    expect(report.examples).toMatchObject([
      { ip: '9.1.2.3', requests: 22, action: 'block', rule: 'tor', classification: 'tor' },
      { ip: '2a01:4f8::1', requests: 2, action: 'block', rule: 'tor' },
    ])
    expect(report.examples[0].reasons).toContain('tor_exit_listed')
    expect(report).not.toHaveProperty('changed')
  })

  it('compares with another policy of the file, and with another file', async () => {
    const changed = {
      requests: 34,
      percent: 34,
      by_action: [
        { from: 'block', to: 'challenge', requests: 24 },
        { from: 'allow', to: 'challenge', requests: 10 },
      ],
    }
    const within = await test('--policy', 'strict', '--against', 'default', '--json')
    expect(JSON.parse(within.out)).toMatchObject({ policy: 'strict', changed })
    const other = join(cwd, 'other.json')
    const text = JSON.stringify({ policies: { default: policies.strict } })
    writeFileSync(other, text)
    const args = ['--policies', other, '--against', file, '--json', '--fail-over', '34%']
    const between = await test(...args)
    expect(JSON.parse(between.out)).toMatchObject({ against: { policy: 'default' }, changed })
    expect(between.code).toBe(0)
  })

  it('fails where more changes than is allowed', async () => {
    const { code, err } = await test(
      '--policy',
      'strict',
      '--against',
      'default',
      '--fail-over',
      '33.9%',
    )
    expect(code).toBe(1)
    expect(err).toMatch(/34 % of the requests change, but --fail-over allows 33\.9 %/)
  })

  it('counts one of millions as more than none, and an equal share as no more', () => {
    const lines: string[] = []
    const io = { err: (line: string) => lines.push(line) } as unknown as Io
    expect(judgeShare(1, 3_000_000, 0, io)).toBe(true)
    expect(lines).toEqual([expect.stringContaining('1 of 3,000,000')])
    expect(judgeShare(57, 10_000, 0.57, io)).toBe(false)
    expect(judgeShare(58, 10_000, 0.57, io)).toBe(true)
    expect(judgeShare(0, 0, 0, io)).toBe(false)
  })

  it.each([
    [['--fail-over', '1%'], /--fail-over needs --against/],
    [['--policy', 'none'], /has no policy none; its policies are default, strict/],
    [['--against', 'none'], /neither a policy of .* nor an existing file/],
    [['--against', 'default', '--fail-over', 'much'], /such as 0\.5%/],
    // It may be meant as a half.
    [['--against', 'default', '--fail-over', '0.5'], /such as 0\.5%/],
  ])('refuses %j', async (args, message) => {
    const { code, out, err } = await test(...args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(message)
  })

  it('prints tables for people', async () => {
    const { out } = await test('--against', 'strict')
    expect(out).toMatch(/^100 requests\npolicy default [0-9a-f]{16}, against strict /)
    expect(out).toMatch(/^tor +block +24 +24\.00 %$/m)
    expect(out).toMatch(/^vpn +\(challenge: would change 10\) +10 +10\.00 %$/m)
    expect(out).toMatch(/^34 requests, 34 %, get a different action$/m)
    expect(out).toMatch(/^9\.1\.2\.3 +22 +challenge → block by tor +tor 8\d +tor_exit_listed/m)
  })
})

describe('iprisk check', () => {
  it('decides as the server does', async () => {
    const args = ['check', '9.1.2.3', '11.1.1.1', '9.1.2.300', '--json', '--table', table]
    const { out } = await run(...args, '--policies', file)
    const [tor, vpn, bad] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(tor).toMatchObject({ decision: { action: 'block', rule: 'tor', policy: 'default' } })
    expect(vpn).toMatchObject({ decision: { action: 'allow', rule: '' }, observed: ['vpn'] })
    expect(bad).not.toHaveProperty('decision')
    const strict = await run(...args, '--policies', file, '--policy', 'strict')
    expect(JSON.parse(strict.out.split('\n')[0] ?? '')).toMatchObject({
      decision: { action: 'challenge', policy: 'strict' },
    })
    expect((await run(...args, '--policies', file, '--policy', 'none')).code).toBe(2)
  })
})

describe('iprisk replay', () => {
  const newer = join(cwd, 'newer.iprisk')
  const kept = listed.filter(([text, kind]) => text !== '9.1.2.3' || kind !== 'tor')
  writeTable(newer, smallContent([...kept, ['13.0.0.1', 'vpn', 'Example VPN']]))
  const replay = (...args: readonly string[]) =>
    run('replay', log, '--log', 'combined', '--table', newer, '--against', table, ...args)

  it('says every flip by class and feed, and which decisions change', async () => {
    const { code, out } = await replay('--policies', file, '--json')
    const report = JSON.parse(out)
    expect(code).toBe(0)
    expect(report).toMatchObject({
      requests: 100,
      flipped: { requests: 82, percent: 82 },
      flips: [
        { from: 'clean', to: 'vpn', requests: 60, feeds: [{ feed: '+test-feed', requests: 60 }] },
        { from: 'tor', requests: 22 },
      ],
      decisions: {
        policy: 'default',
        changed: { requests: 22, percent: 22 },
        by_action: [{ from: 'block', to: 'allow', requests: 22 }],
      },
    })
    expect(report.examples[0]).toMatchObject({
      ip: '13.0.0.1',
      requests: 60,
      classification: 'vpn',
      before: { classification: 'clean', risk_score: 15 },
    })
  })

  it('prints tables, and fails where more changes than is allowed', async () => {
    const { code, out, err } = await replay('--fail-over', '0.5%')
    expect(code).toBe(1)
    expect(out).toMatch(/^82 requests, 82 %, get a different classification$/m)
    expect(out).toMatch(/^clean +vpn +\+test-feed 60 +60 +60\.00 %$/m)
    expect(err).toMatch(/82 % of the requests change/)
    const alike = await run(
      'replay',
      log,
      '--log',
      'combined',
      '--table',
      table,
      '--against',
      table,
    )
    expect(alike.out).toMatch(/^0 requests, 0 %, get a different classification$/m)
  })

  it('needs a table to compare with', async () => {
    const { code, err } = await run('replay', log, '--table', newer)
    expect(code).toBe(2)
    expect(err).toMatch(/--against is missing: name the table/)
  })
})
