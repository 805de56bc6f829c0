// Settings: where a value comes from, what is refused and in which words, all at once.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseDay } from '../../src/base/day.ts'
import { optionVariable, optionName, options } from '../../src/config/options.ts'
import type { SettingProblem } from '../../src/config/setting-problem.ts'
import { type Settings, validateSettings, readSettings } from '../../src/config/settings.ts'
import type { SettingSources } from '../../src/config/setting-sources.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'iprisk-config-'))
})
afterEach(() => {
  rmSync(cwd, { recursive: true })
})

const file = (content: unknown, name = 'iprisk.json'): string => {
  const path = join(cwd, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
const sources = (some: Partial<SettingSources>): SettingSources => ({
  command: 'serve',
  flags: {},
  environment: {},
  cwd,
  ...some,
})
const settings = (some: Partial<SettingSources> = {}): Settings => readSettings(sources(some))
const problems = (some: Partial<SettingSources>): readonly SettingProblem[] => {
  const judged = validateSettings(sources(some))
  return 'length' in judged ? judged : []
}

describe('the refresh', () => {
  it('is daily for start, unless it is offline or told otherwise, and off for serve', () => {
    const every = (command: 'start' | 'serve', flags: SettingSources['flags'] = {}) =>
      settings({ command, flags }).serve.refreshEvery
    expect(every('start')).toBe('24h')
    expect(every('serve')).toBe('off')
    expect(every('start', { offline: true })).toBe('off')
    expect(every('start', { refreshEvery: '1h', offline: true })).toBe('1h')
    expect(every('start', { refreshEvery: 'off' })).toBe('off')
  })
})

describe('without any source', () => {
  it('the defaults are those of the contract', () => {
    const found = settings()
    expect(found.table).toBe(join(cwd, 'data/table/world.iprisk'))
    expect(found.state).toBe(join(cwd, 'data/state'))
    expect(found.serve).toEqual({
      port: 8080,
      host: '127.0.0.1',
      adminPort: 9090,
      adminHost: '127.0.0.1',
      adminAllowedHosts: [],
      workers: availableParallelism(),
      poolThreads: 1,
      poolQueue: 128,
      connections: 10_000,
      connectionsPerAddress: 0,
      gateHeader: 'x-forwarded-for',
      gateTrust: ['1'],
      gateChallenge: 'pass',
      docs: 'on',
      console: 'on',
      drainSeconds: 10,
      graceSeconds: 0,
      hangMs: 500,
      workerMemoryMb: 2048,
      refreshEvery: 'off',
      sample: 0,
      tableTrust: [],
      tablePollSeconds: 15,
      logLevel: 'info',
      logAddresses: false,
      logAddressForm: 'full',
      decisionLogMb: 100,
      decisionLogFiles: 10,
      feedbackDays: 180,
      tlsMinVersion: '1.2',
    })
    expect(found.build).toEqual({
      offline: false,
      fetchSeconds: 900,
      out: join(cwd, 'data/table/world.iprisk'),
      report: join(cwd, 'data/table/report.json'),
      snapshots: join(cwd, 'data/snapshots'),
      history: join(cwd, 'data/history'),
      allFeeds: false,
      feeds: {},
      networks: [],
      locations: [],
      flipsMaxPercent: 0.25,
    })
  })

  it('the plans are those of contract 3.14, with the APIs of 6.12', () => {
    const limits = Object.values(settings().plans).map((plan) => [
      plan.name,
      plan.apis.join(),
      plan.rate?.perSecond,
      plan.rate?.burst,
      plan.quotaPerMonth,
      plan.insights,
    ])
    expect(limits).toEqual([
      ['free', '', undefined, undefined, undefined, 'never'],
      ['team', 'ip-risk', 50, 100, 1_000_000, 'never'],
      ['business', 'ip-risk,lists,bouncer', 500, 1000, 20_000_000, 'never'],
      ['enterprise', 'ip-risk,lists,bouncer', 5000, 10_000, 500_000_000, 'on_request'],
      ['internal', 'ip-risk,lists,bouncer', undefined, undefined, undefined, 'on_request'],
    ])
  })

  it('they are frozen to the bottom and survive JSON', () => {
    const found = settings()
    expect(Object.isFrozen(found.plans['team']?.rate)).toBe(true)
    expect(Object.isFrozen(found.build.networks)).toBe(true)
    expect(JSON.parse(JSON.stringify(found))).toEqual(found)
  })
})

/** The text of a public key. */
const trusted = (letter: string): string => `ed25519:${letter.repeat(43)}`

describe('precedence', () => {
  it('is flag, environment, file, default', () => {
    const layers = { flags: { port: '1' }, environment: { IPRISK_PORT: '2' } }
    file({ serve: { port: 3 } })
    expect(settings(layers).serve.port).toBe(1)
    expect(settings({ ...layers, flags: {} }).serve.port).toBe(2)
    expect(settings().serve.port).toBe(3)
    file({})
    expect(settings().serve.port).toBe(8080)
  })

  it('of every setting that has a place in the file: the flag wins over all others', () => {
    const texts = { number: ['7', '8'], switch: ['true', 'false'], text: [], texts: ['a', 'b'] }
    const special: Record<string, [string, string]> = {
      mirror: ['http://a', 'http://b'],
      asOf: ['2026-08-22', '2026-08-23'],
      logLevel: ['warn', 'error'],
      store: ['redis://a', 'redis://b'],
      storePolicy: ['refuse', 'serve'],
      storeTimeoutMs: ['17', '18'],
      hangMs: ['1700', '1800'],
      workerMemoryMb: ['1700', '1800'],
      refreshEvery: ['1h', 'off'],
      tlsMinVersion: ['1.3', '1.2'],
      logAddressForm: ['short', 'full'],
      decisionLogShare: ['17%', '18%'],
      sample: ['1700', '1800'],
      swapFlipsMax: ['17%', '18%'],
      gate: ['127.0.0.1:7', '[::1]:8'],
      gatePeers: ['private', '192.0.2.0/24'],
      gateHeader: ['forwarded', 'x-real-ip'],
      gateTrust: ['2', 'cloudflare'],
      gateChallenge: ['401', 'pass'],
      docs: ['off', 'on'],
      tableUrl: ['https://a/b', 's3://abc/d'],
      tableTrust: [trusted('A'), trusted('B')],
      publish: ['a', 's3://abc/d'],
      stage: ['10%', '20%+1h'],
      console: ['off', 'on'],
    }
    // What is of use, or allowed, only with another one.
    const needed: Record<string, Record<string, string>> = {
      adminHost: { IPRISK_ADMIN_TOKEN_FILE: 'c' },
      gatePeers: { IPRISK_GATE: '127.0.0.1:9' },
      tlsCertFile: { IPRISK_TLS_KEY_FILE: 'c' },
      tlsKeyFile: { IPRISK_TLS_CERT_FILE: 'c' },
      tableUrl: { IPRISK_TABLE_TRUST: trusted('C') },
      storePasswordFile: { IPRISK_STORE: 'redis://c' },
      storeCaFile: { IPRISK_STORE: 'rediss://c' },
    }
    for (const option of options.filter(({ member }) => member[0] !== 'invocation')) {
      const name = optionName(option)
      const [flag = 'x', variable = 'y'] = special[name] ?? texts[option.form]
      const command = option.commands[0]
      if (command === undefined) throw new Error(`${name} belongs to no command`)
      const others = needed[name] ?? {}
      const environment = { ...others, [optionVariable(option)]: variable }
      const byFlag = settings({ command, environment: others, flags: { [name]: flag } })
      const byVariable = settings({ command, environment })
      expect([name, byVariable]).not.toEqual([name, byFlag])
      expect(settings({ command, environment, flags: { [name]: flag } })).toEqual(byFlag)
    }
  })

  it('an empty variable is not set', () => {
    expect(settings({ environment: { IPRISK_PORT: '' } }).serve.port).toBe(8080)
  })
})

describe('text', () => {
  const switches = { true: true, 1: true, YES: true, on: true }
  const others = { false: false, 0: false, no: false, Off: false }
  it.each(Object.entries({ ...switches, ...others }))('%s switches', (text, value) => {
    expect(settings({ environment: { IPRISK_LOG_ADDRESSES: text } }).serve.logAddresses).toBe(value)
  })

  it('makes lists, by comma or by repetition', () => {
    const lists = [
      settings({ command: 'build', environment: { IPRISK_NETWORKS: 'a,b' } }),
      settings({ command: 'build', flags: { networks: ['a', 'b'] } }),
    ].map(({ build }) => build.networks)
    expect(lists).toEqual([
      [join(cwd, 'a'), join(cwd, 'b')],
      [join(cwd, 'a'), join(cwd, 'b')],
    ])
  })

  it('is read from a file that a variable names, without its last line end', () => {
    file('8181\n', 'port.txt')
    const environment = { IPRISK_PORT_FILE: 'port.txt' }
    expect(settings({ environment }).serve.port).toBe(8181)
  })
})

describe('the configuration file', () => {
  it('is the one that --config names, else IPRISK_CONFIG, else ./iprisk.json', () => {
    file({ serve: { port: 1 } }, 'flag.json')
    file({ serve: { port: 2 } }, 'variable.json')
    file({ serve: { port: 3 } })
    const environment = { IPRISK_CONFIG: 'variable.json' }
    expect(settings({ flags: { config: 'flag.json' }, environment }).serve.port).toBe(1)
    expect(settings({ environment }).serve.port).toBe(2)
    expect(settings().serve.port).toBe(3)
  })

  it('gives paths by its own folder; flags and variables by the working folder', () => {
    file({ table: 't', build: { snapshots: '/abs', locations: ['l'] } }, 'etc/my.json')
    const found = settings({ flags: { config: 'etc/my.json', state: 's' } })
    expect(found.table).toBe(join(cwd, 'etc/t'))
    expect(found.build.out).toBe(join(cwd, 'etc/t'))
    expect(found.build.report).toBe(join(cwd, 'etc/report.json'))
    expect(found.build.snapshots).toBe('/abs')
    expect(found.build.locations).toEqual([join(cwd, 'etc/l')])
    expect(found.state).toBe(join(cwd, 's'))
  })

  it('may begin with a byte order mark and name its schema', () => {
    file('\uFEFF{"$schema": "x", "serve": {"port": 5}}')
    expect(settings().serve.port).toBe(5)
  })

  it('merges plans member by member', () => {
    file({
      plans: {
        team: { rate: { burst: 75 } },
        internal: { quotaPerMonth: 5 },
        business: { rate: 'none' },
        own: { apis: ['ip-risk'], rate: 'none', quotaPerMonth: 9, insights: 'always' },
      },
    })
    const { plans } = settings()
    expect(plans['team']?.rate).toEqual({ perSecond: 50, burst: 75 })
    expect(plans['internal']).toMatchObject({ quotaPerMonth: 5, insights: 'on_request' })
    expect(plans['business']?.rate).toBeUndefined()
    expect(plans['own']).toEqual({
      name: 'own',
      apis: ['ip-risk'],
      quotaPerMonth: 9,
      insights: 'always',
    })
  })
})

describe('what a flag says of one call', () => {
  it('is validated like any setting', () => {
    const flags = { plan: 'team', name: 'n', api: 'none', expires: '2030-01-02', rate: '5' }
    const environment = { IPRISK_QUOTA: '7', IPRISK_JSON: '1', IPRISK_GRACE_HOURS: 'no business' }
    expect(settings({ command: 'keys create', flags, environment }).invocation).toEqual({
      json: true,
      enforce: false,
      allowEmpty: false,
      needFeeds: false,
      keepDataSets: false,
      effect: 'none',
      force: false,
      replace: false,
      sampled: false,
      takeover: false,
      test: false,
      strict: false,
      yes: false,
      last: 30,
      plan: 'team',
      name: 'n',
      api: ['none'],
      expires: { kind: 'day', day: parseDay('2030-01-02') },
      rate: 5,
      quota: 7,
      graceHours: 168,
      top: 10,
    })
  })
})

// Bad input, by table: sources, and the words that must be in the one problem they give.
describe('one problem', () => {
  const port = 'must be a whole number from 0 to 65535'
  const flag = (flags: SettingSources['flags'], command: SettingSources['command'] = 'serve') => ({
    command,
    flags,
  })
  const environment = (variables: Record<string, string>) => ({ environment: variables })
  const cases: readonly (readonly [Partial<SettingSources> & { file?: unknown }, string])[] = [
    [flag({ port: 'abc' }), `serve.port = "abc" (the flag --port): ${port}`],
    [flag({ port: '70000' }), `serve.port = 70000 (the flag --port): ${port}`],
    [flag({ port: '-1' }), `serve.port = -1 (the flag --port): ${port}`],
    [flag({ port: '80.5' }), `serve.port = 80.5 (the flag --port): ${port}`],
    [flag({ port: '0x50' }), `serve.port = "0x50" (the flag --port): ${port}`],
    [flag({ port: ' 80' }), `serve.port = " 80" (the flag --port): ${port}`],
    [flag({ port: '9090' }), 'serve.adminPort = 9090 (the default): must differ from serve.port'],
    [
      flag({ feedbackLists: 'true', feedbackDays: '1' }),
      'serve.feedbackDays = 1 (the flag --feedback-days): must be at least 2 with feedback.lists',
    ],
    [flag({ host: '1.2.3.400' }), 'serve.host = "1.2.3.400" (the flag --host): must be an address'],
    [flag({ host: 'a b' }), 'must be an address or a host name'],
    [flag({ workers: '0' }), 'must be a whole number of processes from 1 to 1024'],
    [flag({ logLevel: 'loud' }), 'one of trace, debug, info, warn, error, fatal, silent'],
    [flag({ logAddresses: 'maybe' }), 'serve.logAddresses = "maybe" (the flag --log-addresses)'],
    [flag({ logAddresses: 'constructor' }), 'serve.logAddresses = "constructor" (the flag'],
    [flag({ table: '' }), 'table = "" (the flag --table): must be the path'],
    [flag({ mirror: 'http://x' }), 'mirror = "http://x" (the command line): iprisk serve has no'],
    [flag({ mirror: 'ftp://x' }, 'build'), 'must be an http or https URL'],
    [flag({ mirror: 'http://u:secret@x/' }, 'build'), '"http://…@x/" (the flag --mirror)'],
    [flag({ asOf: '2026-02-30' }, 'build'), 'must be a day as YYYY-MM-DD'],
    [flag({ plan: 'gold' }, 'keys create'), 'must be one of free, team, business, enterprise, int'],
    [flag({ rate: '0' }, 'keys create'), '(the flag --rate): must be a whole number of r'],
    [flag({ burst: 'x' }, 'keys create'), 'burst = "x" (the flag --burst)'],
    [flag({ quota: '-5' }, 'keys create'), 'quota = -5 (the flag --quota)'],
    [flag({ api: 'all' }, 'keys create'), 'must be one of ip-risk, lists, bouncer, none'],
    [flag({ api: 'bouncer,none' }, 'keys create'), 'must be different APIs, or only none'],
    [flag({ api: 'bouncer,bouncer' }, 'keys create'), 'must be different APIs, or only none'],
    [
      flag({ expires: 'soon' }, 'keys create'),
      'expires = "soon" (the flag --expires): must be a day',
    ],
    [flag({ name: 'a\nb' }, 'keys create'), 'must be printable text of at most 100 characters'],
    [flag({ name: 'x'.repeat(101) }, 'keys create'), 'must be printable text of at most 100'],
    [environment({ IPRISK_PORT: 'x' }), '(the environment variable IPRISK_PORT)'],
    [
      environment({ IPRISK_PROT: '1' }),
      'IPRISK_PROT (the environment): unknown setting; did you mean IPRISK_PORT?',
    ],
    [environment({ IPRISK_NONSENSE_ENTIRELY: '1' }), 'unknown setting'],
    [environment({ IPRISK_PORT: 'tcp://10.0.0.1:80' }), 'enableServiceLinks'],
    [
      environment({ IPRISK_PORT_FILE: 'gone' }),
      'IPRISK_PORT_FILE = "gone" (the environment variable',
    ],
    [environment({ IPRISK_PORT_FILE: 'gone' }), 'a readable file: there is no such file'],
    [environment({ IPRISK_PORT_FILE: '.' }), 'a readable file: it is a folder'],
    [
      environment({ IPRISK_STATE_FILE: '/dev/null' }),
      'a readable file: it is a device, and must be',
    ],
    [environment({ IPRISK_PORT_FILE: 'x', IPRISK_PORT: '1' }), 'only one of the two'],
    [environment({ IPRISK_CONFIG_FILE: 'x' }), 'did you mean IPRISK_CONFIG?'],
    [flag({ config: 'gone.json' }), 'gone.json" (the flag --config): must name a readable file'],
    [flag({ config: '.' }), 'it is a folder'],
    [environment({ IPRISK_CONFIG: 'gone.json' }), '(the environment variable IPRISK_CONFIG)'],
    [{ file: '{"a": }' }, 'must be JSON: '],
    [{ file: '{\n "a": "b"\n "c"}' }, '(line 3'],
    [{ file: '[]' }, 'must be a JSON object'],
    [{ file: 'null' }, 'must be a JSON object'],
    [{ file: `"${'x'.repeat(1_100_000)}"` }, 'it has more than 1048576 bytes'],
    [{ file: { serv: {} } }, 'unknown member; did you mean serve?'],
    [{ file: { 'admin-port': 1 } }, 'unknown member; did you mean serve.adminPort?'],
    [{ file: { build: { 'as-of': '2026-08-22' } } }, 'did you mean build.asOf?'],
    [{ file: { json: true } }, 'store, serve, feedback, build, publish, plans'],
    [{ file: { invocation: {} } }, 'use flags for options of a single call'],
    [{ file: '{"__proto__": 1}' }, '__proto__ (the file'],
    [{ file: { serve: { prot: 1 } } }, 'serve.prot = 1 (the file'],
    [{ file: { serve: { prot: 1 } } }, 'did you mean port?'],
    [{ file: { serve: 5 } }, 'must be an object'],
    [{ file: { serve: { port: '80' } } }, `iprisk.json): ${port}`],
    [{ file: { serve: { port: null } } }, 'serve.port = null (the file'],
    [{ file: { build: { feeds: { 'tor-x': 'on' } } } }, 'build.feeds.tor-x = "on" (the file'],
    [{ file: { build: { feeds: { 'Tor X': true } } } }, 'its name must be the id of a feed'],
    [{ file: { build: { networks: 'x' } } }, 'must be a list of paths'],
    [{ file: { build: { networks: [''] } } }, 'build.networks.0 = ""'],
    [{ file: { plans: { team: { rate: 'low' } } } }, 'must be "none" or an object of perSecond'],
    [{ file: { plans: { team: { rate: { burst: 0 } } } } }, 'plans.team.rate.burst = 0'],
    [{ file: { plans: { team: { rate: { brust: 5 } } } } }, 'did you mean burst?'],
    [
      { file: { plans: { internal: { rate: { burst: 5 } } } } },
      'plans.internal.rate.perSecond (the file',
    ],
    [
      { file: { plans: { team: { quotaPerMonth: 0 } } } },
      'must be "none" or a whole number of che',
    ],
    [{ file: { plans: { team: { insights: true } } } }, 'one of never, on_request, always'],
    [{ file: { plans: { team: { apis: ['ip-rsk'] } } } }, 'plans.team.apis.0 = "ip-rsk"'],
    [{ file: { plans: { team: { apis: ['ip-risk', 'ip-risk'] } } } }, 'names each API once'],
    [{ file: { plans: { team: { quota: 5 } } } }, 'plans.team.quota = 5'],
    [{ file: { plans: { Team: {} } } }, 'its name must be the name of a plan'],
    [{ file: { plans: { team: null } } }, 'must be an object of apis, rate'],
  ]

  it.each(cases.map(([input, words]) => ({ input, words })))('$words', ({ input, words }) => {
    const { file: content, ...some } = input
    if (content !== undefined) file(content)
    const lines = problems(some).map(
      ({ name, value, origin, allowed }) =>
        `${name}${value === undefined ? '' : ` = ${value}`} (${origin}): ${allowed}`,
    )
    expect(lines.join('\n')).toContain(words)
    // A plan whose name is bad is judged as a plan too.
    expect(lines).toHaveLength(words.includes('the name of a plan') ? lines.length : 1)
    expect(lines.join()).not.toMatch(/Invalid|\bexpected|undefined|\[object/)
    expect(() => settings(some)).toThrow(/^Invalid setting:/)
  })
})

describe('problems', () => {
  it('are told all at once, from every source', () => {
    const path = file({ serve: { host: 5, colour: 1 }, plans: { gold: {} }, extra: true })
    const flags = { port: 'x', nonsense: true }
    const environment = { IPRISK_WORKERS: 'many', IPRISK_STAT: 's' }
    expect(() => settings({ flags, environment })).toThrow(
      expect.objectContaining({ code: 'settings_invalid', fault: 'usage' }),
    )
    const found = problems({ flags, environment })
    expect(found.map(({ name, origin }) => `${name}: ${origin}`).sort()).toEqual(
      [
        'IPRISK_STAT: the environment',
        `extra: the file ${path}`,
        'nonsense: the command line',
        `plans.gold.apis: the file ${path}`,
        `plans.gold.insights: the file ${path}`,
        `plans.gold.quotaPerMonth: the file ${path}`,
        `plans.gold.rate: the file ${path}`,
        `serve.colour: the file ${path}`,
        `serve.host: the file ${path}`,
        'serve.port: the flag --port',
        'serve.workers: the environment variable IPRISK_WORKERS',
      ].sort(),
    )
  })

  it('are not made of variables that others set', () => {
    const environment = {
      PATH: '/bin',
      IPRISK_TEST_FEEDS: '/feeds',
      IPRISK_SERVICE_HOST: '10.0.0.1',
      // README's application reads them.
      IPRISK_KEY: 'irk_1',
      IPRISK_URL: 'http://127.0.0.1:8080',
      IPRISK_SERVICE_PORT: '80',
      IPRISK_SERVICE_PORT_HTTP: '80',
      IPRISK_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
      IPRISK_PORT_8080_TCP_ADDR: '10.0.0.1',
    }
    expect(problems({ environment })).toEqual([])
  })

  it('are what any JSON that is no settings gives, never another failure', () => {
    const judge = (content: unknown, port = '1'): number => {
      const path = file(content, 'any.json')
      const judged = validateSettings(sources({ flags: { config: path, port } }))
      return 'length' in judged ? judged.length : 0
    }
    const members = fc.constantFrom('serve', 'build', 'plans', 'table', 'state')
    const member = fc.property(members, fc.jsonValue({ maxDepth: 3 }), (name, value) => {
      expect(judge({ [name]: value })).toBeGreaterThanOrEqual(0)
    })
    fc.assert(member, { numRuns: 300 })
    // What is no object at all is always a problem.
    const scalar = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.array(fc.integer()))
    const whole = fc.property(scalar, (value) => {
      expect(judge(JSON.stringify(value))).toBe(1)
    })
    fc.assert(whole, { numRuns: 100 })
  })
})

it('says that a value file is not ours to read', () => {
  file('8181', 'port.txt')
  chmodSync(cwd, 0o755)
  chmodSync(join(cwd, 'port.txt'), 0o000)
  const environment = { IPRISK_PORT_FILE: 'port.txt' }
  // Root reads everything whatever the mode says, so it is nobody for a moment.
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  try {
    expect(() => settings({ environment })).toThrow('this user may not read it')
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
})

it('reads every option from a file, those of one call among them', () => {
  for (const option of options) {
    const environment = { [`${optionVariable(option)}_FILE`]: 'gone' }
    const [command] = option.commands
    expect(() => settings({ command: command ?? 'serve', environment })).toThrow(
      `${optionVariable(option)}_FILE = "gone"`,
    )
  }
})

describe('default places that others may write', () => {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-found-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'data'))
  chmodSync(join(folder, 'data'), 0o777)
  const refused = (some: Partial<SettingSources>): readonly string[] =>
    problems({ cwd: folder, ...some }).map(({ name }) => name)

  it('are refused to the commands that use them', () => {
    expect(refused({ command: 'serve' })).toEqual(['table', 'state'])
    expect(refused({ command: 'start' })).toEqual([
      'table',
      'state',
      'build.snapshots',
      'build.history',
    ])
    expect(refused({ command: 'build' })).toEqual(['table', 'build.snapshots', 'build.history'])
    expect(refused({ command: 'keys list' })).toEqual(['state'])
    expect(refused({ command: 'check' })).toEqual(['table'])
    expect(refused({ command: 'keys signing create' })).toEqual(['publish.signingKey'])
    expect(refused({ command: 'table info' })).toEqual([])
  })

  it('are used where they are named, each by its own flag, variable or file', () => {
    const flags = { state: 'data/state' }
    const environment = { IPRISK_TABLE: join(folder, 'data/table/world.iprisk') }
    expect(refused({ flags })).toEqual(['table'])
    expect(refused({ flags, environment })).toEqual([])
    expect(refused({ command: 'build', flags: { out: 'data/t' } })).not.toContain('table')
    const publish = { publish: 'file:///srv/tables' }
    expect(refused({ flags: { ...flags, ...publish }, environment })).toContain(
      'publish.signingKey',
    )
  })

  it('are refused with what is wrong, where, and what to do', () => {
    const [problem] = problems({ command: 'keys list', cwd: folder })
    expect(problem?.allowed).toBe(
      `users other than its owner can write to ${folder}/data; to use it anyway, name ` +
        `it: --state ${folder}/data/state. Otherwise make it only yours (chown, chmod go-w), or run ` +
        'this as its owner or in another folder',
    )
    const [, , snapshots] = problems({ command: 'start', cwd: folder })
    expect(snapshots?.allowed).toContain(`IPRISK_SNAPSHOTS=${folder}/data/snapshots`)
  })
})
