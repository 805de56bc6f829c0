// What a command writes takes the place of a file alone: devices, pipes and folders are refused
// before its work begins, and a symbolic link stays.

import { execFileSync } from 'node:child_process'
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { writeSmallTable } from '../table/small-table.ts'
import { newFolder, runHere, runProgram } from './program.ts'

const table = writeSmallTable()
let cwd = ''
beforeEach(() => {
  cwd = newFolder()
})

const exporting = `export --table ${table} --format csv --where signals.tor --out`
const run = (words: string) => runHere(words.split(' '), { cwd })
// A build that is refused late would take minutes, and need the feeds.
const piped = [exporting, 'state backup']
const writers = ['build --offline --report', 'build --offline --out', ...piped]

describe.each(writers)('%s', (command) => {
  it.skipIf(process.getuid?.() !== 0)('refuses a device, which only root can make', async () => {
    const device = join(cwd, 'null')
    execFileSync('mknod', [device, 'c', '1', '3'])
    symlinkSync('null', join(cwd, 'link'))
    for (const name of ['null', 'link']) {
      const { code, err } = await run(`${command} ${name}`)
      expect(err).toMatch(/must name a file, but \S+ is a device, not a regular file\.\n/)
      expect(code).toBe(2)
    }
    expect(lstatSync(device).isCharacterDevice()).toBe(true)
    expect(readdirSync(cwd)).toEqual(['link', 'null'])
  })

  it('refuses a pipe, a folder, a link to nowhere, and standard output', async () => {
    execFileSync('mkfifo', [join(cwd, 'pipe')])
    mkdirSync(join(cwd, 'folder'))
    symlinkSync('absent/file', join(cwd, 'nowhere'))
    for (const [name, why] of [
      ['nowhere', 'is a symbolic link into a folder that is not there'],
      ['pipe', 'is a pipe, not a regular file'],
      ['folder', 'is a folder'],
      ...(piped.includes(command) ? [] : [['-', 'is standard output'] as const]),
    ] as const) {
      const { code, err } = await run(`${command} ${name}`)
      expect(err).toContain(why)
      expect(code).toBe(2)
    }
    expect(readdirSync(cwd)).toEqual(['folder', 'nowhere', 'pipe'])
  })
})

it('writes an export to standard output, and no file', async () => {
  const { code, out } = await run(`${exporting} -`)
  expect([code, out.split('\n')[0]]).toEqual([0, expect.stringContaining('first')])
  expect(readdirSync(cwd)).toEqual([])
})

it('writes a copy of the state to standard output, and reads it from standard input', async () => {
  await run('keys create --plan team --name one')
  const { code, out, err } = await run('state backup -')
  expect([code, err]).toEqual([0, expect.stringContaining('Written to standard output: 1 keys')])
  const how = { cwd, input: out }
  const restored = await runProgram(['state', 'restore', '-', '--state', 'other'], how)
  expect(restored).toMatchObject({ code: 0, out: expect.stringContaining('Restored: 1 keys') })
  expect(readdirSync(cwd).sort()).toEqual(['data', 'other'])
})

it('refuses a copy of the state that is named by an empty text', async () => {
  const { code, err } = await runHere(['state', 'backup', ''], { cwd })
  expect([err, code]).toEqual(['iprisk: FILE must name a file, but is empty.\n', 2])
})

it('builds no table that its report would replace', async () => {
  symlinkSync('table', join(cwd, 'link'))
  for (const words of ['--out table --report link', '--out report.json']) {
    const { code, err } = await run(`build --offline ${words}`)
    expect(err).toMatch(/^iprisk: --out and --report both name \S+: the report would replace/)
    expect(code).toBe(2)
  }
  expect(readdirSync(cwd)).toEqual(['link'])
})

it('exports no day of outcomes over a pipe, nor waits for its writer', async () => {
  writeFileSync(join(cwd, 'outcomes.jsonl'), '{"ip":"1.2.3.4","outcome":"abusive"}\n')
  await run('feedback import outcomes.jsonl')
  const [day = ''] = readdirSync(join(cwd, 'data', 'state', 'feedback'))
  mkdirSync(join(cwd, 'days'))
  execFileSync('mkfifo', [join(cwd, 'days', day.replace('jsonl', 'parquet'))])
  const { code, err } = await run('feedback export days')
  expect(err).toMatch(/^iprisk: The name of the day \S+ must name a file, but \S+ is a pipe/)
  expect(code).toBe(2)
})

it('writes through a symbolic link to its target', async () => {
  await run('keys create --plan team --name one')
  mkdirSync(join(cwd, 'elsewhere'))
  for (const [command, name] of [
    [exporting, 'export.csv'],
    ['state backup', 'copy.jsonl'],
  ] as const) {
    const target = join(cwd, 'elsewhere', name)
    writeFileSync(target, 'old')
    symlinkSync(join('elsewhere', name), join(cwd, name))
    const { code, err } = await run(`${command} ${name}`)
    expect([err, code]).toEqual([expect.not.stringContaining('iprisk: '), 0])
    expect(lstatSync(join(cwd, name)).isSymbolicLink()).toBe(true)
    expect(readFileSync(target, 'utf8')).not.toBe('old')
  }
  // Secrets are their owner's alone, whatever they replace.
  expect(statSync(join(cwd, 'elsewhere', 'copy.jsonl')).mode & 0o777).toBe(0o600)
})

it('starts no server whose decision log is a pipe, and does not wait for its reader', async () => {
  execFileSync('mkfifo', [join(cwd, 'pipe')])
  const { code, err } = await run(`serve --table ${table} --port 0 --decision-log pipe`)
  expect(err).toContain('it is a pipe, not a regular file. Name a file, or - for standard output.')
  expect(code).toBe(1)
})

it('keeps no act whose audit log is a pipe', async () => {
  await run('keys create --plan team --name one')
  const log = join(cwd, 'data', 'state', 'audit.log')
  execFileSync('rm', [log])
  execFileSync('mkfifo', [log])
  const { code, err } = await run('keys create --plan team --name two')
  expect(err).toContain('Changes that cannot be recorded are not made.')
  expect(code).toBe(1)
})

it('writes no set that would empty a firewall', async () => {
  const nft = `export --table ${table} --format nft --out set.nft --where location.country_code=="AQ"`
  writeFileSync(join(cwd, 'set.nft'), 'good')
  const { code, err } = await run(nft)
  expect(err).toContain('No address matches --where, so nothing was written')
  expect(code).toBe(1)
  expect(readdirSync(cwd)).toEqual(['set.nft'])
  expect(readFileSync(join(cwd, 'set.nft'), 'utf8')).toBe('good')
  expect(await run(`${nft} --allow-empty`)).toMatchObject({ code: 0 })
  expect(readFileSync(join(cwd, 'set.nft'), 'utf8')).toContain('flush set inet iprisk iprisk4')
})
