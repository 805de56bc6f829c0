// The configuration of a running server: what changed while it started, and a hang-up that came
// before anybody could do anything about it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLog } from '../../../src/base/log.ts'
import type { Plans } from '../../../src/config/plan.ts'
import { type Settings, readSettings } from '../../../src/config/settings.ts'
import { type SighupListener, captureSighup } from '../../../src/serve/signals.ts'
import { watchConfiguration } from '../../../src/serve/reload-config.ts'
import { type Watch, identityOrEmpty } from '../../../src/base/system/file-watch.ts'
import { eventually } from '../../eventually.ts'

let folder = ''
let hangUps: SighupListener
let watch: Watch | undefined
let used: Plans[] = []
let lines: string[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'iprisk-reload-'))
  hangUps = captureSighup()
  used = []
  lines = []
})
afterEach(() => {
  watch?.stop()
  hangUps.stop()
  rmSync(folder, { recursive: true })
})

const path = (): string => join(folder, 'iprisk.json')
const read = (): Settings =>
  readSettings({ command: 'serve', flags: {}, environment: {}, cwd: folder })
function writePlan(perSecond: number): void {
  const rate = { perSecond, burst: 10 }
  const plan = { apis: ['ip-risk'], rate, quotaPerMonth: 'none', insights: 'never' }
  writeFileSync(path(), JSON.stringify({ plans: { mine: plan } }))
}
function start(identity: string, settings: Settings): void {
  const log = createLog({
    level: 'info',
    name: 'test',
    pretty: false,
    write: (line) => void lines.push(line),
  })
  const configuration = { path: path(), named: false, identity, read }
  const use = (plans: Plans): void => void used.push(plans)
  watch = watchConfiguration({ settings, configuration, hangUps, use, log })
}
const rates = (): readonly unknown[] => used.map((plans) => plans['mine']?.rate?.perSecond)

describe('a configuration', () => {
  it('that changed while the server started is taken in', async () => {
    writePlan(1)
    const identity = identityOrEmpty(path())
    const settings = read()
    writePlan(22)
    start(identity, settings)
    await eventually(() => used.length > 0, 5000)
    expect(rates()).toEqual([22])
  })

  it('names a setting that is gone from it among those that wait for a restart', () => {
    writeFileSync(path(), JSON.stringify({ serve: { adminTokenFile: join(folder, 'token') } }))
    const settings = read()
    start(identityOrEmpty(path()), settings)
    writeFileSync(path(), '{}')
    process.emit('SIGHUP', 'SIGHUP')
    expect(lines.join('')).toContain('"serve.adminTokenFile"')
  })

  it('that is removed changes nothing, and the log says so', async () => {
    writePlan(1)
    start(identityOrEmpty(path()), read())
    rmSync(path())
    await eventually(() => lines.length > 0, 5000)
    expect(lines.join('')).toContain('"level":"warn"')
    expect(lines.join('')).toContain('is gone; the previous configuration stays.')
    expect(used).toEqual([])
  })

  it('that is the same is not read again', async () => {
    writePlan(1)
    const identity = identityOrEmpty(path())
    start(identity, read())
    // Longer than from one look at the file to the next: nothing may come of it.
    await new Promise((resolve) => setTimeout(resolve, 700))
    expect([used, lines]).toEqual([[], []])
  })
})

describe('a setting that only a new start takes in', () => {
  it('is named at every reading until then, and no more where it is as it was', () => {
    const written = (serve: object): void => writeFileSync(path(), JSON.stringify({ serve }))
    written({})
    start(identityOrEmpty(path()), read())
    for (const workers of [3, 3, undefined]) {
      written({ workers })
      process.emit('SIGHUP', 'SIGHUP')
    }
    const named = lines.map((line) => line.includes('"names":["serve.workers"]'))
    expect(named.filter(Boolean)).toHaveLength(2)
    expect(lines.at(-1)).toContain('no plan has changed')
  })
})

describe('a hang-up', () => {
  it('that comes while the server starts is kept until it can read again', () => {
    writePlan(1)
    const settings = read()
    process.emit('SIGHUP', 'SIGHUP')
    writePlan(22)
    start(identityOrEmpty(path()), settings)
    expect(rates()).toEqual([22])
    writePlan(333)
    process.emit('SIGHUP', 'SIGHUP')
    expect(rates()).toEqual([22, 333])
  })
})
