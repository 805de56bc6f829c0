// The lease files of one state folder: what a live worker holds stays its own, what a dead one
// held is taken over by exactly one other, and nothing of another run of the machine is.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noLeaseSlot, openLeaseFile } from '../../../src/account/limits/lease-file.ts'
import type { Month } from '../../../src/account/limits/quota-period.ts'
import { packageRoot } from '../../../src/base/package-root.ts'

const boot = '0c2a1c0e-0000-4000-8000-000000000001'
const month = 679 as Month
let state: string

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'iprisk-leases-'))
})
afterEach(() => rmSync(state, { recursive: true }))

const files = (): readonly string[] => readdirSync(join(state, 'leases'))

/** A process that holds `units` for key `abc` and is then killed. */
async function killHolder(units: number): Promise<void> {
  const program = `
    const { openLeaseFile } = await import(${JSON.stringify(join(packageRoot, 'dist/src/account/limits/lease-file.js'))})
    const file = openLeaseFile(${JSON.stringify(state)}, { boot: '${boot}' })
    const at = file.claim('abc', ${month})
    file.words[at] = ${units}
    process.stdout.write('held\\n')
    setInterval(() => undefined, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const own = openLeaseFile(state, { boot, slots: 4 })
  expect(own.takeOver(), 'it lives').toEqual([])
  own.close()
  child.kill('SIGKILL')
  await once(child, 'exit')
}

describe('a lease file', () => {
  it('gives what a killed process held to the first that asks, and only to that one', async () => {
    await killHolder(41)
    const [one, other] = [1, 2].map(() => openLeaseFile(state, { boot, slots: 4 }))
    expect(one?.takeOver()).toEqual([{ keyId: 'abc', month, units: 41 }])
    expect(other?.takeOver()).toEqual([])
    one?.close()
    other?.close()
    expect(files()).toEqual([])
  })

  it('of another run of the machine is removed and gives nothing', async () => {
    await killHolder(41)
    for (const name of files()) {
      const older = name.replace(boot, '0c2a1c0e-0000-4000-8000-000000000000')
      renameSync(join(state, 'leases', name), join(state, 'leases', older))
    }
    const own = openLeaseFile(state, { boot, slots: 4 })
    expect(own.takeOver()).toEqual([])
    own.close()
    expect(files().filter((name) => name.endsWith('.map'))).toEqual([])
  })

  it('has no slot for more leases than slots, or for an id that is too long', () => {
    const file = openLeaseFile(state, { boot, slots: 3 })
    const [first, second] = [file.claim('a', month), file.claim('b', month)]
    expect([first, second].includes(noLeaseSlot)).toBe(false)
    expect(file.claim('c', month)).toBe(noLeaseSlot)
    file.words[first] = 7
    file.free(first)
    expect(file.words[first]).toBe(0)
    expect(file.claim('x'.repeat(25), month)).toBe(noLeaseSlot)
    expect(file.claim('d', month)).toBe(first)
    file.close()
  })
})
