// Files of addresses on the command line as operators use them: forms of files, order, memory, a
// reader that is slow or goes away, an interrupt; and the summary of the same files.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { writeTable } from '../../../build/write/write-table.ts'
import type { CheckAnswer } from '../../../src/api/check-answer.ts'
import { pieceBytes } from '../../../src/cli/lines/bulk-run.ts'
import type { Summary } from '../../../src/cli/lines/summary.ts'
import { parseDay } from '../../../src/base/day.ts'
import { formatIpv4 } from '../../../src/ip/format-address.ts'
import { invalidAddressJson } from '../../../src/api/input-fault.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { newRandom } from '../../oracle/sample.ts'
import { smallContent, writeSmallTable } from '../../table/small-table.ts'
import { newFolder, programPath, runProgram } from '../program.ts'
import { eventually } from '../../eventually.ts'

const cwd = newFolder()
const path = writeSmallTable()
const table = openTable(path)
const random = newRandom(17)

const run = (args: readonly string[], input = '') =>
  runProgram([...args, '--table', path], { cwd, input })

/** Addresses of the small table's networks, some repeated, a few lines that name none. */
const texts = Array.from({ length: 30_000 }, (_, i) => {
  if (i % 7001 === 5000) return `none ${i}`
  if (i % 50 === 0) return '9.1.2.3'
  if (i % 53 === 0) return `2a01:4f8::${(i & 15).toString(16)}`
  const first = [9, 10, 11, 12, 13][i % 5]!
  return formatIpv4(((first << 24) | Math.floor(random() * 2 ** 24)) >>> 0)
})
const expected = texts.map((text) => {
  const answer = table.check(text)
  return `${answer === undefined ? invalidAddressJson(text) : JSON.stringify(answer)}\n`
})
const none = texts.filter((text) => table.check(text) === undefined)

function write(name: string, content: string | Uint8Array): string {
  writeFileSync(join(cwd, name), content)
  return name
}

const log = (text: string): string =>
  `${text} - - [22/Aug/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 1`

it('asks one table all through, though another takes its place meanwhile', async () => {
  const file = join(cwd, 'replaced.iprisk')
  writeTable(file, smallContent())
  const child = spawn(process.execPath, [programPath, 'check', '-', '--json', '--table', file])
  const ended = once(child, 'close')
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  // Answered without a thread; the threads come afterwards.
  child.stdin.write('9.1.2.3\n')
  await eventually(() => out.includes('\n'))
  writeTable(file, { ...smallContent(), asOf: parseDay('2026-08-25')! })
  child.stdin.end('9.1.2.3\n'.repeat(50_000))
  expect(await ended).toEqual([0, null])
  expect(new Set(out.trimEnd().split('\n')).size).toBe(1)
  expect(out.split('\n').length).toBe(50_002)
})

it('answers all that it could read of a file that is cut off', async () => {
  const packed = gzipSync(texts.join('\n'))
  const file = write('cut.gz', packed.subarray(0, packed.length * 0.9))
  const { code, out, err } = await run(['check', file])
  expect(err).toContain('cut.gz: its gzip data is cut off; using what could be read')
  expect(code).toBe(1)
  // The last line is cut off, and none of the file's.
  const whole = out.slice(0, out.lastIndexOf('\n', out.length - 2) + 1)
  expect(expected.join('').startsWith(whole)).toBe(true)
  expect(out.split('\n').length).toBeGreaterThan(texts.length * 0.9 - pieceBytes.plain / 8)
})

describe('iprisk check of a file', () => {
  const lines = (form: (text: string) => string): string => texts.map(form).join('\n')

  it.each([
    ['addresses', lines(String), []],
    ['addresses, packed', gzipSync(`${lines(String)}\n`), []],
    [
      'CSV by name',
      `id,client ip,x\r\n${lines((it) => `1,"${it}",2\r`)}`,
      ['--column', 'client ip'],
    ],
    ['CSV by number, with tabs', lines((it) => `1\t2\t${it}`), ['--column', '3']],
    [
      'JSON lines, packed twice over',
      Buffer.concat(
        [texts.slice(0, 20_000), texts.slice(20_000)].map((part) =>
          gzipSync(
            part.map((it) => `${JSON.stringify({ request: { remote_ip: it } })}\n`).join(''),
          ),
        ),
      ),
      ['--json-field', 'request.remote_ip'],
    ],
  ] as const)('%s has the answers of single checks, in order', async (name, content, args) => {
    const file = write('lines', content)
    const { code, out, err } = await run(['check', file, ...args])
    expect([name, out === expected.join(''), code]).toEqual([name, true, 0])
    expect(err).toContain(`lines:${texts.indexOf(none[0]!) + (args[1] === 'client ip' ? 2 : 1)}: `)
    expect(err).toContain(`${none.length} of the lines have no IP address`)
  })

  it('of access logs finds the client', async () => {
    const some = texts.filter((text) => !text.startsWith('none')).slice(0, 500)
    const wanted = some.map((text) => `${JSON.stringify(table.check(text))}\n`).join('')
    const plain = await run(['check', '-', '--log', 'common'], some.map(log).join('\n'))
    expect(plain).toMatchObject({ code: 0, out: wanted, err: '' })
    const told = some.map((text) => `${log(text)} "https://example.org/" "Mozilla/5.0"`)
    const combined = await run(['check', '-', '--log', 'combined'], told.join('\n'))
    expect(combined).toMatchObject({ code: 0, out: wanted, err: '' })
    const hosted = some.map((text) => `example.org:443 ${log(text)}`).join('\n')
    const vhost = await run(['check', '-', '--log', 'vhost_combined'], hosted)
    expect(vhost).toMatchObject({ code: 0, out: wanted })
  })

  it('mixes files, addresses and standard input, and writes CSV with the columns asked for', async () => {
    const file = write('two', '9.1.2.3\n9.1.2.4\n')
    const args = ['check', '11.1.1.1', file, '-', '10.0.0.1', '--format', 'csv']
    const { out, code } = await run([...args, '--fields', 'ip,classification,asn'], 'x\n')
    const rows = ['ip,classification,asn', '11.1.1.1,vpn,64497', '9.1.2.3,tor,64496']
    expect([out, code]).toEqual([
      [...rows, '9.1.2.4,clean,64496', 'x,,', '10.0.0.1,bogon,', ''].join('\n'),
      0,
    ])
  })

  it.each([
    [['--column', 'ip', '--log', 'common'], 2, /Use only one of --column/],
    [['--column', 'address'], 2, /has no column address; its columns are a, b/],
    [['--log', 'apache1'], 2, /--log.*one of auto, plain, common, combined/],
    [['--since', '24h'], 2, /need the times of a log/],
    [['--trust', 'nginx'], 2, /--trust nginx is not valid: give the number of proxies/],
    [['--format', 'csv', '--fields', 'colour'], 2, /--fields/],
  ] as const)('with %j is wrong usage', async (args, wanted, message) => {
    const { code, err } = await run(['check', '-', ...args], 'a,b\n1,2\n')
    expect(code).toBe(wanted)
    expect(err).toMatch(message)
  })

  it('names what cannot be read', async () => {
    const broken = gzipSync(expected.join('')).subarray(0, 5000)
    const cut = await run(['check', write('cut.gz', broken)])
    expect([cut.code, /cut\.gz: its gzip data is cut off/.test(cut.err)]).toEqual([1, true])
    const endless = await run(['check', write('endless', 'x'.repeat(5_000_000))])
    expect(endless.code).toBe(1)
    expect(endless.err).toMatch(/line too long: \S*endless:1: "x+"/)
  })
})

/** The program with a reader of its own; its memory by the kernel. */
function start(args: readonly string[]) {
  const child = spawn(process.execPath, [programPath, ...args, '--table', path], { cwd })
  let err = ''
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const peakBytes = (): number => {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024
  }
  return { child, peakBytes, err: () => err }
}

/** About 200 MB of answers. */
const times = 10
const many = write('many', `${texts.join('\n')}\n`.repeat(times))

describe('a reader', () => {
  it('that is slow slows the program, which holds no answers back', async () => {
    const { child, peakBytes } = start(['check', many])
    // Nothing is read until it has stopped by itself.
    let last = 0
    await eventually(async () => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      const ticks = Number(readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(' ')[13])
      const still = ticks === last && ticks > 0
      last = ticks
      return still
    }, 60_000)
    const peaks: number[] = [peakBytes()]
    let bytes = 0
    let lines = 0
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      bytes += chunk.length
      for (const byte of chunk) if (byte === 10) lines += 1
      if (bytes % 50 === 0 && child.exitCode === null) peaks.push(peakBytes())
    }
    expect(lines).toBe(texts.length * times)
    expect(bytes).toBe(expected.reduce((sum, line) => sum + Buffer.byteLength(line), 0) * times)
    expect(Math.max(...peaks)).toBeLessThan(260e6)
    if (child.exitCode === null) await once(child, 'exit')
    expect(child.exitCode).toBe(0)
  })

  it('that goes away ends it quietly', async () => {
    const { child, err } = start(['check', many])
    await once(child.stdout, 'data')
    child.stdout.destroy()
    await once(child, 'exit')
    expect([child.exitCode, child.signalCode, err()]).toEqual([0, null, ''])
  })
})

it('says on a terminal how far it is and how fast, in place of what it said before', async () => {
  const out = join(cwd, 'progress')
  const command = [
    process.execPath,
    programPath,
    'check',
    join(cwd, many),
    '--table',
    path,
    '>',
    out,
  ].join(' ')
  // script(1) gives it a terminal for its standard error.
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  const [code] = (await once(child, 'close')) as [number]
  expect(said).toMatch(/\r[^\n]*[\d,]+ addresses, [\d,]+\/s, \d+ %/)
  // Bad lines are no failure.
  expect(code).toBe(0)
  const bytes = expected.reduce((sum, line) => sum + Buffer.byteLength(line), 0) * times
  expect(statSync(out).size).toBe(bytes)
  rmSync(out)
})

describe('an interrupt', () => {
  it('ends with whole lines, and says how far it came', async () => {
    const { child, err } = start(['check', many])
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (out === '') child.kill('SIGINT')
      out += text
    })
    await once(child, 'close')
    expect(child.exitCode).toBe(130)
    expect(out.endsWith('\n')).toBe(true)
    const lines = out.split('\n').length - 1
    expect(lines).toBeLessThan(texts.length * times)
    expect(out).toBe(Array.from({ length: lines }, (_, i) => expected[i % texts.length]).join(''))
    expect(err()).toMatch(/Interrupted after [\d,]+ lines\./)
  })

  it('ends one that waits for its input', async () => {
    const { child } = start(['check', '-'])
    child.stdin.write('9.1.2.3\n')
    // A line that is typed is answered at once.
    await once(child.stdout, 'data')
    child.kill('SIGINT')
    await once(child, 'exit')
    expect(child.exitCode).toBe(130)
  })
})

describe('iprisk summarize', () => {
  const answers = texts.flatMap((text) => table.check(text) ?? [])

  /** Plainly: how often each name occurs, most first, those with none left out. */
  function shares(nameOf: (answer: CheckAnswer) => string | number): [string | number, number][] {
    const counts = new Map<string | number, number>()
    for (const answer of answers) {
      const name = nameOf(answer)
      if (name !== '' && name !== 0) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    return [...counts].sort(([, a], [, b]) => b - a)
  }

  it('counts what single checks say', async () => {
    const file = write('all.gz', gzipSync(texts.join('\n')))
    const { code, out, err } = await run(['summarize', file, '--json'])
    expect(code).toBe(0)
    expect(err).toContain('all.gz:5001: "none 5000"')
    const summary = JSON.parse(out) as Summary
    expect(summary).toMatchObject({
      lines: texts.length,
      addresses: answers.length,
      bad_lines: none.length,
      distinct_addresses: new Set(answers.map(({ ip }) => ip)).size,
      distinct_is_estimate: false,
    })
    const rows = <Row extends { readonly addresses: number }>(
      { top }: { readonly top: readonly Row[] },
      name: keyof Row,
    ) => new Map(top.map((row) => [row[name], row.addresses]))
    const { classifications, asns, countries, providers } = summary
    expect(rows(classifications, 'classification')).toEqual(
      new Map(shares((one) => one.classification)),
    )
    expect(rows(asns, 'asn')).toEqual(new Map(shares((one) => one.network?.asn ?? 0)))
    expect(rows(countries, 'country_code')).toEqual(
      new Map(shares((one) => one.location?.country_code ?? '')),
    )
    expect(rows(providers, 'provider')).toEqual(
      new Map(shares((one) => one.proxy?.provider || one.bot?.provider || '')),
    )
    const sum = classifications.top.reduce((all, { percent }) => all + percent, 0)
    expect(sum).toBeCloseTo(100, 0)
  })

  it.each([
    ['a column of CSV', ['--column', 'client'], (it: string) => `1,${it}`, 'id,client\n'],
    ['a field of JSON', ['--json-field', 'ip'], (it: string) => JSON.stringify({ ip: it }), ''],
    ['access logs', ['--log', 'common'], log, ''],
  ] as const)('counts %s as it counts addresses, packed', async (_name, args, lineOf, head) => {
    const some = texts.filter((text) => !text.startsWith('none')).slice(0, 2000)
    const plain = await run(['summarize', '-', '--json'], some.join('\n'))
    const file = write('some.gz', gzipSync(head + some.map(lineOf).join('\n')))
    const { code, out } = await run(['summarize', file, '--json', ...args])
    const ofLines = (text: string) => {
      // Only logs have these two.
      const { paths: _paths, statuses: _statuses, ...rest } = JSON.parse(text) as Summary
      return { ...rest, lines: 0 }
    }
    expect([code, ofLines(out)]).toEqual([0, ofLines(plain.out)])
  })

  it('draws a table for people, as long as is asked for, without colour in a pipe', async () => {
    const { out, code } = await run(
      ['summarize', '-', '--top', '1'],
      '9.1.2.3\n9.1.2.3\n11.1.1.1\n',
    )
    expect(code).toBe(0)
    expect(out).toMatch(/^3 addresses, 2 distinct\n/)
    expect(out).toMatch(/\ntor +2 +66\.67 % {2}█{16}\n/)
    expect(out).toMatch(/\nAS64496 Example Access +2 +66\.67 %.*\nand 1 more\n/)
    expect(out).not.toContain('\x1b[')
  })

  it('says so where there is nothing', async () => {
    const { out, code } = await run(['summarize', '-'], '\n')
    expect([code, out.startsWith('0 addresses, 0 distinct\n')]).toEqual([0, true])
  })
})
