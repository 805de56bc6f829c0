// The command line against texts that steer a terminal, in processes: a forged table, a hostile
// input, names of files, arguments and variables. What they print holds none of them, and no line
// that they did not write.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { writeForgedTable } from '../../table/forged-table.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { type Ended, newFolder, programPath, runHere } from '../program.ts'
import { forged, hostile, hostileName, steeringIn, wellFormed } from './steering.ts'

const cwd = newFolder()
const name = hostileName.slice(0, 80).replaceAll('/', '')
const folder = join(cwd, name)
mkdirSync(folder)
const good = writeSmallTable()
const evil = writeForgedTable({
  string: (text) => `${text}${hostile}`,
  source: (text) => `${text}${hostile}`,
})
/** Its id is refused when it is opened. */
const misnamed = writeForgedTable({ id: '\u001B[2J\u202E\n\u009B1m' })
const table = join(folder, `${name}.iprisk`)
copyFileSync(evil, table)
const addresses = ['9.1.2.3', '11.1.1.1', '11.66.0.1', '12.0.0.5', '2a01:4f8::1', '10.0.0.1']
const list = join(folder, 'list')
writeFileSync(list, [...addresses, hostile.replaceAll('\n', '')].join('\n'))
const log = join(folder, 'log')
writeFileSync(log, `${addresses[0]} - - "GET /"\n${hostile.replaceAll(/\s/g, '')} - "GET /"\n`)
const json = join(folder, 'json')
writeFileSync(json, [...addresses, hostile].map((ip) => JSON.stringify({ ip })).join('\n'))

function expectClean({ out, err }: Pick<Ended, 'out' | 'err'>): void {
  expect(steeringIn(out)).toEqual([])
  expect(steeringIn(err)).toEqual([])
  expect(`\n${out}\n${err}`).not.toContain(`\n${forged}`)
}

const run = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  runHere(args, { cwd, environment })

describe('output of hostile texts cannot steer a terminal', () => {
  it.each<readonly [string, readonly string[]]>([
    ['check', ['check', ...addresses, name, hostileName, '--format', 'text', '--table', table]],
    ['check a file', ['check', list, '--format', 'text', '--table', table]],
    ['check a log', ['check', log, '--log', 'common', '--format', 'text', '--table', table]],
    ['check JSON', ['check', json, '--json-field', 'ip', '--format', 'text', '--table', table]],
    ['a column', ['check', list, '--column', hostileName, '--table', table]],
    ['summarize', ['summarize', json, '--json-field', 'ip', '--table', table]],
    ['summarize as JSON', ['summarize', list, '--json', '--table', table]],
    ['explain', ['explain', '11.1.1.1', '--table', table]],
    ['explain as JSON', ['explain', '11.1.1.1', '--json', '--table', table]],
    ['explain no address', ['explain', hostileName, '--table', good]],
    ['table info', ['table', 'info', table]],
    ['table info of a forged id', ['table', 'info', misnamed]],
    ['table verify', ['table', 'verify', table]],
    ['no table', ['table', 'info', `${folder}/none${name}`]],
    ['an unknown command', [hostileName]],
    ['an unknown command like a known one', [`chek${name}`]],
    ['an unknown option', ['check', `--${hostileName}`, '9.1.2.3']],
    ['a missing configuration', ['check', '9.1.2.3', '--config', `${folder}/none${name}`]],
    ['a folder as table', ['check', '9.1.2.3', '--table', folder]],
    ['a wrong value', ['serve', '--port', hostileName]],
    ['an unknown plan', ['keys', 'create', '--plan', hostileName, '--state', folder]],
    ['no such id', ['keys', 'show', hostileName, '--state', folder]],
    ['no file of keys', ['keys', 'import', `${folder}/none${name}`, '--state', folder]],
    ['no acts', ['keys', 'audit', '--state', folder]],
    ['no such history', ['history', 'import', folder, '--history', folder]],
    ['no such timeline', ['history', 'show', hostileName]],
    ['an empty timeline', ['history', 'show', '9.1.2.3', '--history', folder]],
    ['no such networks', ['build', '--offline', '--networks', `${folder}/none${name}`]],
    ['info', ['info', '--table', table, '--admin-socket', join(folder, 'none')]],
    ['info as JSON', ['info', '--json', '--table', table, '--admin-port', '1']],
    ['doctor', ['doctor', '--table', table, '--state', folder, '--admin-port', '1']],
    ['doctor as JSON', ['doctor', '--json', '--table', evil, '--state', folder]],
    ['reload', ['reload', '--state', folder, '--port', '1']],
  ])('of %s', async (_name, args) => {
    const ended = await run(args)
    expect(ended.out.length + ended.err.length).toBeGreaterThan(0)
    expectClean(ended)
  })

  it('of variables and a configuration file', async () => {
    const environment = { IPRISK_PORT: hostileName, IPRISK_TABLE: table }
    const refused = await run(['serve'], environment)
    expect(refused.code).toBe(2)
    expectClean(refused)
    const config = join(folder, 'config.json')
    writeFileSync(config, JSON.stringify({ [hostile]: 1, port: hostile, plans: { [hostile]: 1 } }))
    expectClean(await run(['serve', '--config', config]))
    writeFileSync(config, `{ ${hostile}`)
    expectClean(await run(['serve', '--config', config]))
  })

  it('of a server that starts', async () => {
    const served = writeForgedTable({ string: (text) => `${text}\u001B[2J\u202E` })
    const socket = join(cwd, '\u001B[2J\u202E\u009B.sock')
    const args = ['serve', '--port', '0', '--workers', '1', '--admin-socket', socket]
    const more = ['--table', served, '--state', folder]
    const child = spawn(process.execPath, [programPath, ...args, ...more], { cwd })
    const said = { out: '', err: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text))
    await eventually(() => said.err.includes('iprisk serves'))
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
    expect(said.err).toContain('\\u001b[2J\\u202e\\u009b.sock')
    expectClean(said)
  })
})

describe('what is not text for people stays as it is', () => {
  it('JSON lines of a check in a pipe are those of the API, byte for byte', async () => {
    const { out } = await run(['check', json, '--json-field', 'ip', '--json', '--table', good])
    const last = out.trimEnd().split('\n').at(-1) ?? ''
    expect(last.startsWith(`{"ip":${JSON.stringify(wellFormed(hostile))},`)).toBe(true)
  })

  it('JSON of other commands says the same when it is parsed', async () => {
    const { out } = await run(['explain', '11.1.1.1', '--json', '--table', table])
    const said = JSON.parse(out) as { readonly network: { readonly organization: string } }
    expect(said.network.organization).toContain(wellFormed(hostile))
  })
})
