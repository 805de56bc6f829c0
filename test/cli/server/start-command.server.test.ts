// `iprisk start` without a table: the build has a process of its own, which ends with its parent,
// and whose failure is the command's.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatMajor, trailerBytes } from '../../../src/schema/table-layout.ts'
import { newTable } from '../../serve/small-tables.ts'
import { newFolder, programPath, runProgram } from '../program.ts'
import { eventually } from '../../eventually.ts'

describe('iprisk start without a table', () => {
  it('ends as the build does that fails, and serves nothing', async () => {
    const cwd = newFolder()
    const args = ['start', '--offline', '--port', '0', '--admin-port', '0', '--table', 'w.iprisk']
    const environment = { IPRISK_NETWORKS: 'none.mmdb' }
    const { code, out, err } = await runProgram(args, { cwd, environment })
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('Compiling one offline')
    expect(err.match(/^iprisk: .*none\.mmdb/gm)).toHaveLength(1)
    expect(err).not.toContain('iprisk serves')
  })

  it('compiles one in place of one that another version of the program reads', async () => {
    const cwd = newFolder()
    const bytes = readFileSync(newTable())
    // The format's major number, as the trailer has it.
    bytes.writeUInt32LE(formatMajor + 1, bytes.length - trailerBytes + 20)
    writeFileSync(join(cwd, 'w.iprisk'), bytes)
    const args = ['start', '--offline', '--port', '0', '--admin-port', '0', '--table', 'w.iprisk']
    const environment = { IPRISK_NETWORKS: 'none.mmdb' }
    const { code, err } = await runProgram(args, { cwd, environment })
    expect(code).toBe(1)
    expect(err).toMatch(
      /^The table at .*w\.iprisk was built by another version of iprisk\. Compiling/m,
    )
    expect(err.match(/^iprisk: .*none\.mmdb/gm)).toHaveLength(1)
  })

  it('ends the build when it is told to end', async () => {
    const cwd = newFolder()
    const own = ['--offline', '--port', '0', '--admin-port', '0', '--table', 'w.iprisk']
    const args = [programPath, 'start', ...own]
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
    const { pid = 0 } = child
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    await eventually(() => said.includes('fetch:'))
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    expect(children).toHaveLength(1)
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await ended).toEqual([143, null])
    expect(existsSync(`/proc/${children[0]}`)).toBe(false)
    expect(existsSync(join(cwd, 'w.iprisk'))).toBe(false)
  })
})
