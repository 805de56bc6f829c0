// A machine that only serves, as `npm ci --omit=dev` leaves it: the program beside the packages
// that package.json names for it, and no other. Not npm's own work: the packages are links.

import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { spawn, spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { newState } from '../serve/server.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { eventually } from '../eventually.ts'

const home = newState()
const program = join(home, 'dist/src/cli/main.js')
const ends: (() => void)[] = []

beforeAll(() => {
  for (const part of ['package.json', 'dist/src', 'dist/build']) {
    cpSync(join(packageRoot, part), join(home, part), { recursive: true })
  }
  const { dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  for (const part of ['data', ...Object.keys(dependencies).map((name) => `node_modules/${name}`)]) {
    mkdirSync(dirname(join(home, part)), { recursive: true })
    symlinkSync(join(packageRoot, part), join(home, part))
  }
})
afterAll(() => {
  for (const end of ends) end()
})

it('serves, and says at its start that --refresh-every cannot build', async () => {
  const places = ['--state', newState(), '--table', writeSmallTable(), '--refresh-every', '30d']
  const ports = ['--port', '0', '--admin-port', '0', '--workers', '1']
  const child = spawn(process.execPath, [program, 'serve', ...ports, ...places], {
    cwd: newState(),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  ends.push(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const [, admin] = await eventually(() => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${said}`)
    return /^iprisk serves .* on \S+?:(\d+)$/m.exec(said) ?? undefined
  })
  expect(said).toContain("--refresh-every cannot work. The compiler's packages are not installed")
  expect((await fetch(`http://127.0.0.1:${admin}/readyz`)).status).toBe(200)
})

it.each([
  ['build', []],
  ['history', ['import', '.']],
])('says of iprisk %s that the compiler is not there', (command, args) => {
  const { stderr, status } = spawnSync(process.execPath, [program, command, ...args], {
    cwd: newState(),
    encoding: 'utf8',
  })
  expect(stderr).toMatch(/^iprisk: The compiler's packages are not installed \(Cannot find .*'/)
  expect(stderr).toContain('npm install iprisk-compiler@')
  expect(stderr).not.toContain('Require stack')
  expect(status).toBe(1)
})

it('is told so by the doctor, who finds every binary', () => {
  const findings = (home: string, environment = {}): readonly string[] => {
    const main = join(home, 'dist/src/cli/main.js')
    const { stdout } = spawnSync(process.execPath, [main, 'doctor', '--json'], {
      cwd: newState(),
      env: { ...process.env, ...environment },
      encoding: 'utf8',
    })
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly { code: string }[] }
    return findings.map(({ code }) => code)
  }
  const refreshing = { IPRISK_REFRESH_EVERY: '1h' }
  expect(findings(home, refreshing)).toContain('compiler_missing')
  expect(findings(home, refreshing)).not.toContain('missing_binary')
  expect(findings(home)).not.toContain('compiler_missing')
  expect(findings(packageRoot, refreshing)).not.toContain('compiler_missing')
})
