// Logs and files as people have them, through the command line: what is read, what is said, and how
// it ends.

import { spawnSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { newFolder, runHere } from '../program.ts'

const table = writeSmallTable()

/** The addresses that `check` found in a file of these bytes. */
async function check(content: string | Uint8Array, args: readonly string[] = [], name = 'input') {
  const cwd = newFolder()
  writeFileSync(join(cwd, name), content)
  const how = ['--format', 'csv', '--fields', 'ip,error', '--table', table]
  const { out, ...ended } = await runHere(['check', name, ...how, ...args], { cwd })
  const rows = out.trimEnd().split('\n').slice(1)
  const found = rows.filter((row) => row.endsWith(',')).map((row) => row.slice(0, -1))
  // The small table is of one day for ever.
  const err = ended.err.replace(/this table is .* days old\n/, '')
  return { found, bad: rows.length - found.length, code: ended.code, err }
}

const request = '[22/Aug/2026:10:00:01 +0000] "GET /a?b HTTP/1.1" 200 612'
const agent = '"-" "curl/8.5.0"'
const line = (address: string): string => `${address} - - ${request} ${agent}\n`
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le')
const both = ['9.1.2.3', '2a00::7']

describe('check', () => {
  it.each<readonly [what: string, form: string, content: string]>([
    [
      'AWS ALB',
      'alb',
      ['9.1.2.3:2817', '2a00::7:4711']
        .map(
          (at) =>
            `h2 2026-08-22T10:00:01.186641Z app/w/5 ${at} 10.0.0.9:80 0.0 0.1 0.0 200 200 3 6 "GET https://x:443/ HTTP/2.0" "curl" - -\n`,
        )
        .join(''),
    ],
    [
      'HAProxy behind syslog',
      'haproxy',
      ['9.1.2.3:1', '2a00::7:2']
        .map(
          (at) =>
            `Aug 22 10:00:01 lb haproxy[7]: ${at} [22/Aug/2026:10:00:01.294] in~ web/s 0/0/0/9/9 200 8 - - ---- 1/1/0/0/0 0/0 "GET / HTTP/1.1"\n`,
        )
        .join(''),
    ],
    [
      'IIS',
      'w3c',
      '#Software: IIS\r\n#Fields: date time s-ip c-ip cs-uri-stem sc-status\r\n2026-08-22 10:00:01 10.0.0.1 9.1.2.3 /a 200\r\n2026-08-22 10:00:02 10.0.0.1 2a00::7 /a 200\r\n',
    ],
    [
      'CloudFront',
      'w3c',
      '#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip\n2026-08-22\t10:00:01\tFRA\t9\t9.1.2.3\n2026-08-22\t10:00:01\tFRA\t9\t2a00::7\n',
    ],
    [
      'Caddy',
      'caddy',
      '{"ts":1787356801,"request":{"remote_addr":"9.1.2.3:52011","uri":"/"},"status":200}\n{"ts":1787356801,"request":{"remote_addr":"[2a00::7]:443","uri":"/"},"status":200}\n',
    ],
    ['combined with ports', 'combined', line('9.1.2.3:4711') + line('[2a00::7]:443')],
    [
      'combined with a list in front',
      'combined',
      line('9.1.2.3, 10.0.0.1') + line('10.0.0.2,2a00::7'),
    ],
    [
      'combined with empty users',
      'combined',
      `9.1.2.3 - "" ${request} ${agent}\n2a00::7 -  ${request} ${agent}\n`,
    ],
    [
      'JSON that nginx escaped',
      'json',
      String.raw`{"remote_addr":"9.1.2.3","agent":"a\x22b"}` + '\n{"remote_addr":"2a00::7"}\n',
    ],
    ['one JSON array', 'json', '[\n {"ip":"9.1.2.3"},\n {"ip":"2a00::7"}\n]\n'],
    ['CRI', 'combined', both.map((at) => `2026-08-22T10:00:01.1Z stdout F ${line(at)}`).join('')],
  ])('reads %s, and says what it took', async (_what, form, content) => {
    const { found, bad, code, err } = await check(content)
    expect({ found, bad, code, err }).toEqual({
      found: both,
      bad: 0,
      code: 0,
      err: `input: read as a log of format ${form}.\n`,
    })
    const stated = await check(content, ['--log', form])
    expect([stated.found, stated.err]).toEqual([both, ''])
  })

  it.each<readonly [what: string, content: string | Uint8Array, args: readonly string[]]>([
    ['UTF-16', utf16('9.1.2.3\r\n2a00::7\r\n'), []],
    [
      'CSV in UTF-16',
      utf16('ip\tnote\r\n9.1.2.3\tx\r\n2a00::7\ty\r\n'),
      ['--column', 'ip', '--delimiter', 'tab'],
    ],
    ['a byte order mark', '\ufeff9.1.2.3\n2a00::7\n', []],
    ["Excel's CSV", 'sep=;\nnote;ip\n"a;b";9.1.2.3\nc;2a00::7\n', ['--column', 'ip']],
    ['comments and blank lines', '# ours\n\n9.1.2.3\n   \n; theirs\n2a00::7\n', []],
    ['gzip', gzipSync('9.1.2.3\n2a00::7\n'), []],
    ['brotli', brotliCompressSync('9.1.2.3\n2a00::7\n'), []],
    ['a member of JSON', '{"a":{"b":"9.1.2.3"}}\n{"a":{"b":"2a00::7"}}\n', ['--json-field', 'a.b']],
    [
      'a column behind comments by its number',
      '#Version: 1.0\n#Fields: date c-ip\n2026-08-22\t9.1.2.3\n# more\n2026-08-22\t2a00::7\n',
      ['--column', '2', '--delimiter', 'tab'],
    ],
    ['addresses by --log plain', '9.1.2.3\n2a00::7\n', ['--log', 'plain']],
  ])('reads %s without a word', async (what, content, args) => {
    const name = what === 'brotli' ? 'input.br' : 'input'
    expect(await check(content, args, name)).toEqual({ found: both, bad: 0, code: 0, err: '' })
  })

  it('says which delimiter it guessed', async () => {
    for (const [content, name] of [
      ['ip;x\n9.1.2.3;a\n', '";"'],
      ['#Fields: date IP\n2026-08-22 9.1.2.3\n', 'a space'],
      ['#Fields: date ip\n2026-08-22\t9.1.2.3\n', 'a tab'],
    ] as const) {
      const { found, err } = await check(content, ['--column', 'ip'])
      const said = `input: read as CSV separated by ${name} (--delimiter).\n`
      expect([found, err]).toEqual([['9.1.2.3'], said])
    }
  })

  it('takes the address that --trust says', async () => {
    const content = line('11.1.1.1, 9.1.2.3, 10.0.0.1')
    for (const [trust, wanted] of [
      ['0', '10.0.0.1'],
      ['1', '9.1.2.3'],
      ['private,9.0.0.0/8', '11.1.1.1'],
    ] as const)
      expect([trust, (await check(content, ['--trust', trust])).found]).toEqual([trust, [wanted]])
  })

  it('names the words of --trust where it has others', async () => {
    const { code, err } = await check(line('9.1.2.3'), ['--trust', 'foo'])
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^iprisk: --trust foo is not valid: .*private/),
    ])
  })

  it('counts each bad line with its reason, and shows three', async () => {
    const nul = '\0'.repeat(300_000)
    const content = `${nul}${line('9.1.2.3')}${line('9.1.2.4')}x\n${'y'.repeat(5_000_000)}\n- - - ${request}\n${line('2a00::7')}${line('9.1.2.5')}z\n`
    const { found, bad, code, err } = await check(content)
    expect([found, bad, code]).toEqual([['9.1.2.4', '2a00::7', '9.1.2.5'], 5, 0])
    const said = err.split('\n')
    expect(said).toContainEqual(expect.stringMatching(/^NUL bytes: input:1: "/))
    expect(said).toContainEqual('not combined: input:3: "x"')
    expect(said).toContainEqual(expect.stringMatching(/^line too long: input:4: "yyy/))
    expect(err).toMatch(/and 2 more \(total: .*2 not combined/)
    expect(err).toContain('5 of the lines have no IP address.')
    expect((await check(content, ['--strict'])).code).toBe(1)
  })

  it('reads what it can of gzip that is cut or has something behind it, and warns', async () => {
    const behind = await check(Buffer.concat([gzipSync('9.1.2.3\n'), Buffer.from('garbage')]))
    expect(behind).toMatchObject({ found: ['9.1.2.3'], code: 1 })
    expect(behind.err).toContain('warning: input: bytes after its gzip data are ignored')
    const lines = Array.from({ length: 3000 }, (_, i) => `9.1.${i >> 8}.${i & 255}\n`).join('')
    const packed = gzipSync(lines)
    const cut = await check(packed.subarray(0, packed.length - 2000))
    expect([cut.code, cut.found.length > 100]).toEqual([1, true])
    expect(lines.startsWith(`${cut.found.join('\n')}\n`)).toBe(true)
    expect(cut.err).toContain('its gzip data is cut off; using what could be read')
    // Nothing usable.
    const none = await check(packed.subarray(0, 12))
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('its gzip data is cut off')])
  })

  it.each([
    ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]],
    ['bzip2', [0x42, 0x5a, 0x68, 0x39]],
    ['zip', [0x50, 0x4b, 3, 4, 0]],
  ])('names %s', async (packing, bytes) => {
    const { code, err } = await check(Buffer.from(bytes))
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`compressed with ${packing}: decompress it first`),
    ])
  })
})

describe('the program as it is installed', () => {
  const many = Array.from({ length: 3000 }, (_, i) => line(`9.1.${i >> 8}.${i & 255}`)).join('')
  const packed = gzipSync(many)
  const lines = line('9.1.2.3') + line('2a00::7')
  const syslog = (at: string): string => `<134>Aug 22 10:00:01 web1 nginx: ${line(at)}`

  it.each<readonly [what: string, content: string | Uint8Array, args: readonly string[], RegExp]>([
    ['a log behind syslog', both.map(syslog).join(''), ['--log', 'auto'], /format combined/],
    ['NULs in front', '\0'.repeat(300_000) + line('9.1.2.4') + lines, [], /NUL bytes: input:1: /],
    ['a line of megabytes', `${'y'.repeat(5_000_000)}\n${lines}`, [], /line too long: input:1: /],
    ['a JSON array', '[{"ip":"9.1.2.3"},\n{"ip":"2a00::7"}]', [], /format json/],
    ['cut gzip', packed.subarray(0, packed.length - 2000), [], /its gzip data is cut off/],
    ['UTF-16', utf16('9.1.2.3\r\n2a00::7\r\n'), [], /^(?:this table is .*\n)?$/],
    ['sep=;', utf16('sep=;\r\nnote;ip\r\nx;9.1.2.3\r\ny;2a00::7\r\n'), ['--column', 'ip'], /^/],
  ])('reads %s', (what, content, args, said) => {
    const cwd = newFolder()
    writeFileSync(join(cwd, 'input'), content)
    const program = join(packageRoot, 'bin/iprisk.mjs')
    const how = ['--format', 'csv', '--fields', 'ip', '--table', table, ...args]
    const { status, stdout, stderr } = spawnSync(program, ['check', 'input', ...how], {
      cwd,
      encoding: 'utf8',
    })
    const found = stdout.split('\n').filter((row) => /^[\d:a-f.]{5,}$/.test(row))
    const isCut = what === 'cut gzip'
    expect([found.length > 100 ? 'many' : found, status]).toEqual(isCut ? ['many', 1] : [both, 0])
    expect(stderr).toMatch(said)
  })
})

describe('times', () => {
  const hours = [0, 0, 5, 23].map((hour) =>
    line('9.1.2.3').replace(':10:', `:${String(hour).padStart(2, '0')}:`),
  )
  const days = [...hours, line('11.1.1.1').replace('22/Aug', '23/Aug')].join('')
  const summarize = async (...args: readonly string[]) => {
    const { code, out, err } = await runHere(['summarize', '-', ...args, '--table', table], {
      cwd: newFolder(),
      input: days,
    })
    return { code, out, err }
  }

  it.each<readonly [args: readonly string[], count: number]>([
    [['--since', '2026-08-22T05:00Z'], 3],
    [['--until', '2026-08-22T05:00:01Z'], 2],
    [['--since', '2026-08-22', '--until', '2026-08-23'], 4],
    [['--since', '2026-08-22T07:00+02:00', '--until', '2026-08-22T23:00Z'], 1],
  ])('bound what counts: %j', async (args, count) => {
    const { code, out } = await summarize('--json', ...args)
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ addresses: count })])
  })

  it('count by hour and by day, with a bar per row', async () => {
    const { out } = await summarize('--by', 'hour')
    const rows = out.split('\n')
    const from = rows.findIndex((row) => row.startsWith('time (UTC)'))
    expect(rows.slice(from + 1, from + 5)).toEqual([
      expect.stringMatching(/^2026-08-22 00 \(tor 100 %\) +2 +40\.00 % {2}█{24}$/),
      expect.stringMatching(/^2026-08-22 05 .* 1 +20\.00 % {2}█{12}$/),
      expect.stringMatching(/^2026-08-22 23 /),
      expect.stringMatching(/^2026-08-23 10 /),
    ])
    const byDay = JSON.parse((await summarize('--by', 'day', '--json')).out)
    expect(byDay.times).toMatchObject([
      { time: '2026-08-22', addresses: 4 },
      { time: '2026-08-23', addresses: 1 },
    ])
  })

  it('need a log', async () => {
    const { code, err } = await runHere(['summarize', '-', '--by', 'day', '--table', table], {
      cwd: newFolder(),
      input: '9.1.2.3\n',
    })
    expect([code, err]).toEqual([2, expect.stringContaining('need the times of a log')])
  })
})

describe('explain -', () => {
  it('explains each address of lines or of a log once', async () => {
    const how = {
      cwd: newFolder(),
      input: `${line('9.1.2.3')}${line('2a00::7')}${line('9.1.2.3')}x\n`,
    }
    const { code, out, err } = await runHere(['explain', '-', '--json', '--table', table], how)
    const answers = out
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text).ip)
    expect([code, answers]).toEqual([0, both])
    expect(err).toContain('not combined: standard input:4: "x"')
    const screens = await runHere(['explain', '-', '--table', table], how)
    expect(screens.out).toMatch(/^9\.1\.2\.3 .*\n\n2a00::7 /s)
  })

  it('ends with 1 where nothing is usable', async () => {
    const how = { cwd: newFolder(), input: 'x\n' }
    expect(await runHere(['explain', '-', '--table', table], how)).toMatchObject({
      code: 1,
      out: '',
    })
  })
})

describe('a byte order mark', () => {
  it('is taken off files of outcomes, keys, policies and lists', async () => {
    const cwd = newFolder()
    const write = (name: string, text: string): void =>
      writeFileSync(join(cwd, name), `\ufeff${text}`)
    write('outcomes', '{"ip":"9.1.2.3","outcome":"abusive"}\n')
    write('list', '9.1.2.3\n')
    write('policies.json', '{"policies":[]}')
    const run = (...args: readonly string[]) => runHere([...args, '--state', 'state'], { cwd })
    await run('lists', 'create', 'b', '--effect', 'block')
    expect(await run('lists', 'import', 'list', 'b')).toMatchObject({ code: 0 })
    expect(await run('feedback', 'import', 'outcomes')).toMatchObject({ code: 0 })
    await run('keys', 'create', '--name', 'x')
    const { out } = await run('keys', 'export')
    write('keys', out)
    expect(await run('keys', 'import', 'keys')).toMatchObject({ code: 0 })
    const { err } = await runHere(['policy', 'check', 'policies.json'], { cwd })
    expect(err).not.toMatch(/JSON/)
    expect(readdirSync(cwd)).toContain('state')
  })
})
