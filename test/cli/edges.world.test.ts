// What the command line says to a user who is wrong, or in doubt: each message with its exit code.

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { logWords } from '../../src/config/line-formats.ts'
import { optionFlag, options } from '../../src/config/options.ts'
import { fullCoverage, writeSmallTable } from '../table/small-table.ts'
import { newFolder, runHere } from './program.ts'

const cwd = newFolder()
const table = writeSmallTable()
const common = '9.1.2.3 - - [22/Aug/2026:00:00:01 +0000] "GET /a?x=1 HTTP/1.1" 200 1'
const combined = `${common} "-" "curl \\"x\\""`
mkdirSync(join(cwd, 'folder'))
for (const [name, text] of [
  ['common.log', common],
  ['combined.log', combined],
  ['vhost.log', `example.org:443 ${combined}`],
  ['lines', '9.1.2.3\nhello\n'],
  ['none', 'hello\nyou\n'],
] as const) {
  writeFileSync(join(cwd, name), `${text}\n`)
}

const run = (args: readonly string[]) =>
  runHere(args, { cwd, environment: { IPRISK_TABLE: table } })

describe('exit codes have one meaning each: 0 done, 1 failed, 2 wrong usage', () => {
  it.each<readonly [string, number, RegExp]>([
    ['check 9.1.2.3', 0, /^$/],
    [
      'check access.log',
      1,
      /^iprisk: access\.log is neither an IP address nor an existing file\.\n$/,
    ],
    [
      'policy init --policies /sys/p.json',
      1,
      /^iprisk: this user may not write \/sys\/p\.json: (EACCES|EROFS).*\n$/,
    ],
    [
      'policy init --policies nope/p.json',
      2,
      /^iprisk: There is no folder \S+\/nope; create it.*\n$/,
    ],
    [
      'policy init --policies there.json',
      0,
      /^A server with --policies (\S+\/there\.json) loads it .*\n.* --policies \1\n$/,
    ],
    [
      'build --offline --out folder',
      2,
      /^iprisk: --out must name a file, but \S+ is a folder\.\n$/,
    ],
    ['build --offline --report folder', 2, /^iprisk: --report must name a file, .*\n$/],
    [
      'build --offline --out lines/x',
      2,
      /^iprisk: --out must name a file, .* lies below a file\.\n$/,
    ],
    ['check 9.1.2.3 ./x/y', 1, /^iprisk: \.\/x\/y is neither an IP.*\n$/],
    ['check folder', 1, /^iprisk: folder is a folder; name the files in it\.\n$/],
    ['summarize access.log', 1, /^iprisk: access\.log cannot be read: ENOENT: no such file/],
    ['check lines', 0, /^no address: lines:2: "hello"\n1 of the lines has no IP address\.\n$/],
    ['check lines --strict', 1, /^no address: lines:2: "hello"\n1 of the lines has no IP address/],
    ['summarize lines', 0, /1 of the lines has no IP address/],
    ['summarize lines --strict', 1, /1 of the lines has no IP address/],
    ['check none', 1, /2 of the lines have no IP address/],
    ['check 9.1.2.3 9.1.2.300', 0, /^1 of the arguments has no IP address\.\n$/],
    ['check 9.1.2.300', 1, /^1 of the arguments has no IP address\.\n$/],
    [
      'check 9.1.2.300 9.1.2.301 lines',
      0,
      /\n3 of the arguments and lines have no IP address\.\n$/,
    ],
    ['check common.log', 0, /^common\.log: read as a log of format common\.\n$/],
    ['check combined.log', 0, /read as a log of format combined\.\n/],
    ['summarize vhost.log', 0, /read as a log of format vhost_combined\.\n/],
    ['check 9.1.2.3 --json --format csv', 2, /format = "csv" .*must be json with --json/],
    ['check 9.1.2.3 --json --format json', 0, /^$/],
    ['explain 9.1.2', 2, /^iprisk: 9\.1\.2 is not an IP address\.\n$/],
    ['history show 9.1.2', 2, /^iprisk: 9\.1\.2 is not an IP address\.\n$/],
    ['completion tcsh', 2, /no completion for tcsh; use bash, zsh or fish/],
    ['keys create --plan free', 0, /warning: the plan free includes no API: every call with this/],
    ['keys create --plan team --expires 90x', 2, /a day as YYYY-MM-DD, or days from today/],
    ['keys show x', 2, /The id of a key is the 12 letters and digits/],
    ['keys show 000000000000', 1, /^iprisk: /],
    ['table info none', 1, /^iprisk: .*none/],
  ])('%s', async (words, wanted, message) => {
    const { code, err } = await run(words.split(' '))
    expect({ code, err }).toEqual({ code: wanted, err: expect.stringMatching(message) })
  })
})

describe('--json', () => {
  it.each([
    [['table', 'info', table], { as_of: '2026-08-22', sections: expect.anything() }],
    [['table', 'verify', table], { path: table, whole: true }],
    [['feeds', 'list'], { length: expect.any(Number) }],
    [['keys', 'list'], {}],
    [['check', '9.1.2.3'], { classification: 'tor' }],
    [['summarize', 'lines'], { addresses: 1 }],
    [['explain', '9.1.2.3'], { classification: 'tor' }],
    [['doctor'], { findings: expect.anything() }],
    [['info', '--admin-port', '1'], { server: null }],
  ] as const)('of %j is one value', async (args, members) => {
    const { out } = await run([...args, '--json'])
    expect(JSON.parse(out)).toMatchObject(members)
  })
})

describe('lines for people', () => {
  it('are aligned, IPv6 too, with numbers at the right', async () => {
    const args = ['9.1.2.3', '2a01:4f8::1', '2a01:4f8:0:1111:2222:3333:4444:5555', '9.1.2.4']
    const { out } = await run(['check', ...args, '--format', 'text'])
    const lines = out.trimEnd().split('\n')
    const scores = lines.map((line) => /^\S+ +[a-z_]+ +(\d+)/.exec(line)?.[0].length)
    const networks = lines.map((line) => /^.* AS\d+ /.exec(line)?.[0].length)
    expect([new Set(scores).size, new Set(networks).size]).toEqual([1, 1])
    expect(scores[0]).toBeGreaterThan(35)
  })
})

describe('a table that does not know all', () => {
  const gaps = fullCoverage.map((one) =>
    one.kind === 'vpn' ? { ...one, state: 'missing' as const } : one,
  )
  const environment = { IPRISK_TABLE: writeSmallTable(gaps) }
  const line = 'this table has no data for vpn\n'

  it.each([
    ['check', '9.1.2.3', '--format', 'text'],
    ['check', '9.1.2.3', '--format', 'csv'],
    ['summarize', 'lines'],
  ])('says so beside %s %s %s %s', async (...args) => {
    const { code, err } = await runHere(args, { cwd, environment })
    expect(code).toBe(0)
    expect(err).toContain(line)
    expect((await run(args)).err).not.toContain('has no data')
  })

  it('says so in each answer and in the summary as JSON, and not twice', async () => {
    const coverage = { missing: ['vpn'] }
    for (const args of [
      ['check', '9.1.2.3'],
      ['summarize', 'lines', '--json'],
    ]) {
      const { out, err } = await runHere(args, { cwd, environment })
      expect(JSON.parse(out)).toMatchObject({ coverage })
      expect(err).not.toContain(line)
    }
  })
})

describe('a summary of an access log', () => {
  const lines = [
    '9.1.2.3 - - [t] "GET /a?x=1 HTTP/1.1" 200 1',
    '9.1.2.3 - - [t] "GET /a HTTP/1.1" 403 1',
    '9.1.2.4 - - [t] "GET /b HTTP/1.1" 200 1',
    '2a01:4f8::1 - - [t] "-" 400 1',
  ]
  const ask = (...args: readonly string[]) =>
    runHere(['summarize', '-', '--log', 'common', '--table', table, ...args], {
      cwd,
      input: `${lines.join('\n')}\n`,
    })

  it('has scores, top addresses, and a split by path and status', async () => {
    const { out } = await ask('--json')
    const said = JSON.parse(out) as Record<string, unknown>
    expect(said['top_addresses']).toMatchObject({
      count: 3,
      top: [
        { ip: '9.1.2.3', classification: 'tor', risk_score: 81, addresses: 2, percent: 50 },
        { ip: '2a01:4f8::1', addresses: 1 },
        { ip: '9.1.2.4', classification: 'clean', addresses: 1 },
      ],
    })
    expect(said['paths']).toMatchObject({
      count: 2,
      top: [
        { path: '/a', addresses: 2, classifications: { tor: 2 } },
        { path: '/b', addresses: 1, classifications: { clean: 1 } },
      ],
    })
    expect(said['statuses']).toMatchObject({
      count: 3,
      top: [
        { status: '200', addresses: 2, classifications: { tor: 1, clean: 1 } },
        { status: '400' },
        { status: '403', classifications: { tor: 1 } },
      ],
    })
    const scores = said['scores'] as readonly {
      readonly from: number
      readonly addresses: number
    }[]
    expect(scores.find(({ from }) => from === 80)).toMatchObject({ to: 89, addresses: 2 })
    expect(scores.reduce((sum, { addresses }) => sum + addresses, 0)).toBe(4)
  })

  it('shows them to people', async () => {
    const { out } = await ask()
    expect(out).toMatch(/\n80 to 89 +2 +50\.00 %/)
    expect(out).toMatch(/\n9\.1\.2\.3 tor 81 +2 +50\.00 %/)
    expect(out).toMatch(/\n\/a \(tor 100 %\) +2 +50\.00 %/)
    expect(out).toMatch(/\n200 \(tor 50 %\) +2 +50\.00 %/)
  })
})

describe('--help', () => {
  it('shows defaults, variables and an example', async () => {
    const { code, out } = await run(['serve', '--help'])
    const text = out.replaceAll(/\s+/g, ' ')
    expect(code).toBe(0)
    expect(text).toContain(
      'the port of the API; 0 picks a free one (default: 8080, env: IPRISK_PORT, file: serve.port)',
    )
    expect(text).toContain('(env: IPRISK_CONFIG)')
    expect(text).toMatch(/Example: \$ iprisk serve --workers 2/)
  })
})

describe('completion', () => {
  const complete = async (
    line: string,
    { by = '_iprisk', before = '' } = {},
  ): Promise<readonly string[]> => {
    const { out } = await run(['completion', 'bash'])
    const program = `${before}${out}
words=(${line})
COMP_WORDS=("\${words[@]}" "$LAST"); COMP_CWORD=\${#words[@]}
${by}; printf '%s\\n' "\${COMPREPLY[@]}"; complete -p iprisk`
    const last = line.endsWith(' ') ? '' : (line.split(' ').at(-1) ?? '')
    const script =
      last === '' ? program : program.replace(`(${line})`, `(${line.slice(0, -last.length)})`)
    const said = execFileSync('bash', ['-c', script], {
      cwd,
      env: { LAST: last },
      encoding: 'utf8',
    })
    const lines = said.trimEnd().split('\n')
    expect(lines.at(-1)).toBe('complete -o default -F _iprisk iprisk')
    return lines.slice(0, -1).filter(Boolean)
  }

  it.each([
    ['iprisk ch', ['check']],
    ['iprisk keys r', ['revoke', 'rotate']],
    ['iprisk check --js', ['--json', '--json-field']],
    ['iprisk check x --log ', [...logWords]],
    ['iprisk keys create --api ', ['ip-risk', 'lists', 'bouncer', 'none']],
    ['iprisk keys create --plan ', ['free', 'team', 'business', 'enterprise', 'internal']],
    ['iprisk export --format n', ['nginx', 'nft']],
    ['iprisk check --format ', ['json', 'csv', 'text']],
    ['iprisk check --table li', ['lines']],
    ['iprisk check ', []],
    ['iprisk serve --port ', []],
    ['iprisk table verify --', ['--json', '--config', '--help']],
  ])('of "%s" in bash', async (line, wanted) => {
    expect(await complete(line)).toEqual(wanted)
  })

  it.each([
    ['npx ip', ['iprisk']],
    ['npx iprisk ch', ['check']],
    ['npx iprisk keys create --api ', ['ip-risk', 'lists', 'bouncer', 'none']],
    ['npx other ch', []],
  ])('%s', async (line, words) => {
    expect(await complete(line, { by: '_iprisk_npx' })).toEqual(words)
  })

  it('leaves npx the completion that it has', async () => {
    const taken = { by: 'COMPREPLY=($(complete -p npx))', before: 'complete -W mine npx\n' }
    expect((await complete('npx ', taken)).join(' ')).toBe("complete -W 'mine' npx")
    const free = { by: 'COMPREPLY=($(complete -p npx))' }
    expect((await complete('npx ', free)).join(' ')).toContain('-F _iprisk_npx npx')
  })

  it('has every option in every shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, out } = await run(['completion', shell])
      const flags = options.map(optionFlag).map((one) => (shell === 'fish' ? one.slice(2) : one))
      const missing = flags.filter((flag) => !new RegExp(`[ |"-]${flag}\\b`).test(out))
      expect([shell, code, missing]).toEqual([shell, 0, []])
    }
  })

  it('lets fish complete files wherever a command takes some', async () => {
    const { out } = await run(['completion', 'fish'])
    const withFiles = ['replay', 'policy test', 'feedback import', 'lists import', 'state restore']
    const missing = [...withFiles, 'keys import', 'check'].filter((command) => {
      const seen = command.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
      return !out.includes(`complete -c iprisk -n '${seen.join('; and ')}' -F\n`)
    })
    expect(missing).toEqual([])
    expect(out).not.toContain("from explain' -F")
  })
})
