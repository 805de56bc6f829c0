// Tables that are truncated or overwritten in place under programs that answer from them: the
// library, the client without a server, and the command line in a pipe. And the copy that saves
// them: which file it is, who shares it, and when it goes. Real processes, for a wrong one dies.

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeTable } from '../../build/write/write-table.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { programPath } from '../cli/program.ts'
import { eventually } from '../eventually.ts'
import { smallContent, writeSmallTable } from '../table/small-table.ts'

const compiled = (name: string): string => pathToFileURL(join(packageRoot, 'dist/src', name)).href

/** Answers each line of its input, an address, by its classification. */
const library = `
  import { createInterface } from 'node:readline'
  import { openTable } from '${compiled('index.js')}'
  const table = openTable(process.argv[1], JSON.parse(process.argv[2]))
  console.log('open')
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(table.check(line).classification)
  }
  table.close()
`
const embedded = `
  import { createInterface } from 'node:readline'
  import { createEmbedded } from '${compiled('embedded/embedded.js')}'
  const client = createEmbedded({
    table: process.argv[1],
    watchMs: 10,
    onRefused: ({ message }) => console.error('refused ' + message),
    ...JSON.parse(process.argv[2]),
  })
  console.log('open')
  for await (const line of createInterface({ input: process.stdin })) {
    const result = await client.check(line)
    console.log(result.ok ? result.answer.classification : result.reason)
  }
  client.close()
`

const whole = writeSmallTable()
/** Of pages that the short file has no more. */
const addresses = ['9.1.2.3', '9.200.1.1', '11.1.1.1', '12.0.0.5', '2a01:4f8::1', '8.8.8.8']
const classes = ['tor', 'vpn', 'vpn', 'residential_proxy', 'tor', 'clean']

interface Program {
  readonly pid: number
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>
  readonly ask: (line: string) => Promise<string | undefined>
  readonly errors: () => string
  /** The code, or the signal that ended it. */
  readonly end: () => Promise<unknown>
}

let folder = ''
let table = ''
let copies = ''
let environment: NodeJS.ProcessEnv = {}
let programs: Program[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'iprisk-overwritten-'))
  table = join(folder, 'table.iprisk')
  copies = join(folder, 'cache/iprisk/tables')
  environment = { ...process.env, XDG_CACHE_HOME: join(folder, 'cache'), TMPDIR: folder }
  copyFileSync(whole, table)
})
afterEach(() => {
  for (const { process: running } of programs) running.kill('SIGKILL')
  programs = []
  rmSync(folder, { recursive: true })
})

function run(args: readonly string[]): Program {
  const running = spawn(process.execPath, args, { env: environment, stdio: 'pipe' })
  const lines = createInterface({ input: running.stdout })[Symbol.asyncIterator]()
  let errors = ''
  running.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  // Of a program that has died: its end says so.
  running.stdin.on('error', () => undefined)
  const ended = once(running, 'exit')
  const program = {
    pid: running.pid!,
    process: running,
    ask: async (line: string): Promise<string | undefined> => {
      if (line !== '') running.stdin.write(`${line}\n`)
      const { value, done } = await lines.next()
      return done === true ? undefined : value
    },
    errors: () => errors,
    end: async () => {
      running.stdin.end()
      const [code, signal] = (await ended) as readonly unknown[]
      return code ?? signal
    },
  }
  programs.push(program)
  return program
}

async function start(script: string, options: object = {}): Promise<Program> {
  const args = ['--input-type=module', '-e', script, table, JSON.stringify(options)]
  const program = run(args)
  await program.ask('')
  return program
}

async function classesBy({ ask }: Program): Promise<readonly (string | undefined)[]> {
  const found: (string | undefined)[] = []
  for (const address of addresses) found.push(await ask(address))
  return found
}

/** The files below `folder` that the process has mapped, with their inodes. */
function mapsOf({ pid }: Program): readonly string[] {
  const rows = readFileSync(`/proc/${pid}/maps`, 'utf8')
    .split('\n')
    .map((line) => line.split(/ +/))
    .filter(([, , , , , path]) => path?.startsWith(folder) === true)
  return [...new Set(rows.map(([, , , , inode, path]) => `${inode} ${path}`))]
}

describe('a table that is truncated in place', () => {
  it.each([
    ['openTable', library],
    ['createEmbedded', embedded],
  ])('ends no program that answers by %s', async (_name, script) => {
    const program = await start(script)
    truncateSync(table, 4096)
    expect(await classesBy(program)).toEqual(classes)
    expect(await program.end()).toBe(0)
  })

  it('ends no iprisk check in a pipe', async () => {
    const program = run([programPath, 'check', '-', '--table', table, '--format', 'csv'])
    expect(await program.ask('9.1.2.3')).toMatch(/^ip,/)
    expect(await program.ask('')).toMatch(/^9\.1\.2\.3,tor,/)
    truncateSync(table, 4096)
    for (const [at, address] of addresses.entries()) {
      expect(await program.ask(address)).toContain(`${address},${classes[at]},`)
    }
    expect(await program.end()).toBe(0)
  })
})

it('answers from the previous table while another is written over it, then from the new one', async () => {
  const other = join(folder, 'other')
  writeTable(other, smallContent([['9.1.2.3', 'vpn', 'Example VPN']]))
  const bytes = readFileSync(other)
  const client = await start(embedded)
  writeFileSync(table, '')
  await eventually(() => client.errors().includes('refused'))
  expect(await classesBy(client)).toEqual(classes)
  // All but the middle, in its full length: its end and its header are those of a whole table.
  const half = Buffer.from(bytes)
  half.fill(0, Math.floor(bytes.length * 0.6), Math.floor(bytes.length * 0.8))
  writeFileSync(table, half)
  await eventually(() => /refused .* its checksum is/.test(client.errors()))
  expect(await classesBy(client)).toEqual(classes)
  writeFileSync(table, bytes)
  await eventually(async () => (await client.ask('9.1.2.3')) === 'vpn')
  expect(await client.end()).toBe(0)
  expect(readdirSync(copies)).toEqual([])
})

describe('the copy', () => {
  it('is one for programs that open the table at once, and goes with the last of them', async () => {
    const all = await Promise.all([1, 2, 3].map(() => start(library)))
    const [names, maps] = [readdirSync(copies), all.map(mapsOf)]
    expect(names.length).toBe(1)
    expect(maps[0]).toEqual([`${statSync(join(copies, names[0]!)).ino} ${join(copies, names[0]!)}`])
    expect(maps).toEqual([maps[0], maps[0], maps[0]])
    for (const [at, program] of all.entries()) {
      expect(readdirSync(copies)).toEqual(names)
      expect([at, await program.end()]).toEqual([at, 0])
    }
    expect(readdirSync(copies)).toEqual([])
  })

  it('of a killed program is removed when the next one opens a table', async () => {
    const killed = await start(library)
    killed.process.kill('SIGKILL')
    await killed.end()
    const names = readdirSync(copies)
    expect(names.length).toBe(1)
    copyFileSync(whole, table)
    const next = await start(library)
    expect(readdirSync(copies)).not.toEqual(names)
    expect(await next.end()).toBe(0)
    expect(readdirSync(copies)).toEqual([])
  })

  it('is not made with `copy: false`', async () => {
    const programs = await Promise.all(
      [library, embedded].map((one) => start(one, { copy: false })),
    )
    for (const program of programs) {
      expect(mapsOf(program)).toEqual([`${statSync(table).ino} ${table}`])
      expect(program.errors()).toBe('')
    }
    expect(readdirSync(folder)).toEqual(['table.iprisk'])
  })

  it('is not made without a usable folder: the file is mapped, and the reason reported', async () => {
    // Not even root can make a folder there.
    const nowhere = '/proc/iprisk'
    environment = { ...environment, XDG_CACHE_HOME: nowhere, TMPDIR: nowhere }
    const program = await start(library)
    expect(mapsOf(program)).toEqual([`${statSync(table).ino} ${table}`])
    expect(await classesBy(program)).toEqual(classes)
    expect(await program.end()).toBe(0)
    expect(program.errors()).toMatch(
      /\[file_uncopied\] IpriskWarning: .*table\.iprisk is mapped in place/,
    )
  })

  it('is not made for addresses given as arguments, which are answered sooner', async () => {
    mkdirSync(join(folder, 'cache'))
    const program = run([programPath, 'check', '9.1.2.3', '--table', table, '--format', 'text'])
    expect(await program.ask('')).toContain('tor')
    expect(await program.end()).toBe(0)
    expect(readdirSync(join(folder, 'cache'))).toEqual([])
  })
})
