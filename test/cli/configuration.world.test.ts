// Whose configuration a command obeys, as the program itself: in a folder that several users share,
// another one's iprisk.json decides nothing; and a server stays alive whatever takes the place of
// its file.

import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { serversOfTests } from '../serve/server.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { newFolder, runProgram } from './program.ts'

const startServer = serversOfTests()
const create = ['keys', 'create', '--plan', 'internal', '--json'] as const

describe('a configuration that is only found', () => {
  it.skipIf(process.getuid?.() !== 0)('and another user’s decides nothing', async () => {
    const cwd = newFolder()
    chmodSync(cwd, 0o1777)
    const path = join(cwd, 'iprisk.json')
    writeFileSync(path, JSON.stringify({ state: join(cwd, 'his'), build: { out: '/etc/x' } }))
    chownSync(path, 12_345, 12_345)
    for (const args of [create, ['build', '--offline']]) {
      const { code, out, err } = await runProgram(args, { cwd })
      expect([code, out]).toEqual([2, ''])
      expect(err).toContain(`"${path}" (the default): it cannot be used: it belongs to user 12345`)
      expect(err).toContain(`pass --config ${path}`)
    }
    expect(existsSync(join(cwd, 'his'))).toBe(false)

    const named = await runProgram([...create, '--config', path], { cwd })
    expect(named.code).toBe(0)
    expect(named.err).toContain(`iprisk: settings from ${path}\n`)
    expect(named.err).toContain(`iprisk: warning: ${path} is used because it was named, but it`)
  })

  it('and one’s own is obeyed, and said where the command changes something', async () => {
    const cwd = newFolder()
    const path = join(cwd, 'iprisk.json')
    writeFileSync(path, JSON.stringify({ state: 'mine' }))
    const changed = await runProgram(create, { cwd })
    expect([changed.code, changed.err.split('\n')[0]]).toEqual([0, `iprisk: settings from ${path}`])
    expect(JSON.parse(changed.out)).toMatchObject({ plan: 'internal' })
    const looked = await runProgram(['keys', 'list', '--json'], { cwd })
    expect([looked.code, looked.err]).toEqual([0, ''])
  })
})

describe('a file of keys', () => {
  it('may come through a pipe that takes its time', async () => {
    const cwd = newFolder()
    await runProgram([...create, '--state', 'a'], { cwd })
    const { out } = await runProgram(['keys', 'export', '--state', 'a'], { cwd })
    writeFileSync(join(cwd, 'keys.json'), out)
    execFileSync('mkfifo', [join(cwd, 'pipe')])
    const writer = spawn('sh', ['-c', '{ head -c 50; sleep 0.3; cat; } < keys.json > pipe'], {
      cwd,
    })
    const { code, err } = await runProgram(['keys', 'import', 'pipe', '--state', 'b'], { cwd })
    writer.kill()
    expect([code, err]).toEqual([0, ''])
  })
})

describe('a running server', () => {
  it('lives on when a pipe takes the place of its configuration, and takes the next file', async () => {
    const folder = newFolder()
    const path = join(folder, 'iprisk.json')
    writeFileSync(path, '{}')
    const server = await startServer({ table: writeSmallTable(), args: ['--config', path] })
    rmSync(path)
    execFileSync('mkfifo', [path])
    await eventually(() => server.stderr().includes('it is a pipe, and must be a regular file'))
    expect((await server.admin('/readyz')).status).toBe(200)
    writeFileSync(`${path}.new`, '{"plans":{"team":{"rate":{"burst":77}}}}')
    renameSync(`${path}.new`, path)
    await eventually(() => server.stderr().includes('Changed plans are in use.'))
    expect((await server.admin('/readyz')).status).toBe(200)
  })
})
