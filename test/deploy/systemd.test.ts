// The unit of systemd, judged by systemd itself: it is well-formed, shut in, and its time to end
// fits the server's.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { optionVariable, options } from '../../src/config/options.ts'
import { readSettings } from '../../src/config/settings.ts'
import { describeWith } from './need.ts'

const file = join(packageRoot, 'deploy/systemd/iprisk.service')
const unit = readFileSync(file, 'utf8')
const value = (name: string): string | undefined =>
  new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1]

/** Of 10; what systemd calls OK is below 5. */
const exposureMax = 1.5

describeWith('systemd-analyze', ['--version'], () => {
  it('finds the unit well-formed', () => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], {
      encoding: 'utf8',
    })
    // Where the program is not installed at its place, it says so; nothing else may be said.
    const said = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('iprisk.service'))
    const missing = said.filter((line) => line.includes('is not executable'))
    expect(said.filter((line) => !missing.includes(line))).toEqual([])
    expect(status === 0 || missing.length > 0).toBe(true)
  })

  it(`finds it exposed to ${exposureMax} of 10 at most`, () => {
    const args = ['security', '--offline=true', '--no-pager', file]
    const { stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
    const [, level] = /Overall exposure level for iprisk\.service: ([\d.]+)/.exec(stdout) ?? []
    expect(Number(level)).toBeGreaterThan(0)
    expect(Number(level)).toBeLessThanOrEqual(exposureMax)
  })
})

describe('the unit', () => {
  it('gives options that exist, and more time than the server takes to end', () => {
    const known = ['IPRISK_CONFIG', ...options.map(optionVariable)]
    const names = unit.match(/IPRISK_\w+/g) ?? []
    expect(names.length).toBeGreaterThan(2)
    expect(names.filter((name) => !known.includes(name))).toEqual([])
    const settings = readSettings({ command: 'serve', flags: {}, environment: {}, cwd: '/' })
    const seconds = Number(value('TimeoutStopSec'))
    expect(seconds).toBeGreaterThanOrEqual(settings.serve.drainSeconds + 10)
    expect(value('KillMode')).toBe('mixed')
  })

  it('has its places also in the settings for commands', () => {
    const flags = { config: join(packageRoot, 'deploy/systemd/iprisk.json') }
    const found = readSettings({ command: 'build', flags, environment: {}, cwd: '/' })
    const ofUnit = (name: string): string | undefined =>
      new RegExp(`^Environment=IPRISK_${name}=(.*)$`, 'm').exec(unit)?.[1]
    const { table, state, build } = found
    const ofCommands = [table, state, build.snapshots, build.history]
    expect(ofCommands).toEqual(['TABLE', 'STATE', 'SNAPSHOTS', 'HISTORY'].map(ofUnit))
  })
})
