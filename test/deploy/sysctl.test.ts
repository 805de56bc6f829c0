// What deploy/sysctl sets is what the doctor asks for, and all of it.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { checkMachine } from '../../src/cli/doctor/check-program.ts'
import { readSettings } from '../../src/config/settings.ts'
import { newFolder } from '../build/fetch/site.ts'

it('leaves the doctor nothing to say of the kernel', () => {
  const files = newFolder()
  const set = (key: string, value: string): void => {
    const path = join(files, 'proc/sys', key.replaceAll('.', '/'))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${value}\n`)
  }
  const flags = { workers: 1 }
  const settings = readSettings({ command: 'doctor', flags, environment: {}, cwd: files })
  const codes = (): readonly string[] => checkMachine(settings, files).map(({ code }) => code)
  set('net.ipv4.tcp_migrate_req', '0')
  expect(codes()).toEqual(['connections_not_migrated'])
  const text = readFileSync(join(packageRoot, 'deploy/sysctl/90-iprisk.conf'), 'utf8')
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  expect(lines.length).toBeGreaterThan(0)
  for (const line of lines) {
    const [, key = '', value = ''] = /^([a-z0-9_.]+) = (\d+)$/.exec(line) ?? []
    expect([line, key === '']).toEqual([line, false])
    set(key, value)
  }
  expect(codes()).toEqual([])
})
