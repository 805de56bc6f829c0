// Policies of a file in the process, which decide as the server's do, and are swapped.

import { mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { Client } from '../../src/client/core/check-result.ts'
import type { ClientFailure } from '../../src/client/core/outcome-report.ts'
import { createEmbedded } from '../../src/embedded/embedded.ts'
import { eventually } from '../eventually.ts'
import { writeSmallTable } from '../table/small-table.ts'

let client: Client
afterEach(() => client.close())

const folder = mkdtempSync(join(tmpdir(), 'iprisk-embedded-'))
const file = join(folder, 'policies.json')
function write(condition: string): void {
  const login = { rules: [{ name: 'rule', condition, action: 'block' }], otherwise: 'allow' }
  const policies = { default: { rules: [], otherwise: 'allow' }, login }
  writeFileSync(`${file}.new`, JSON.stringify({ policies }), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

it('decides by the file, takes a new one, and refuses a wrong one', async () => {
  write('signals.tor')
  const refused: ClientFailure[] = []
  client = createEmbedded({
    table: writeSmallTable(),
    policies: file,
    watchMs: 10,
    onMisconfigured: () => undefined,
    onRefused: (failure) => {
      refused.push(failure)
      throw new Error('of the application')
    },
  })
  const login = () => client.check('9.1.2.3', { policy: 'login' })
  expect(await login()).toMatchObject({
    ok: true,
    decision: { action: 'block', rule: 'rule', policy: 'login' },
  })
  expect(await client.check('9.1.2.3')).toMatchObject({ decision: { policy: 'default' } })
  expect(await client.check('9.1.2.3', { policy: 'no' })).toMatchObject({
    reason: 'misconfigured',
  })
  write('signals.vpn')
  await eventually(async () => {
    const result = await login()
    return result.ok && result.decision?.action === 'allow'
  })
  write('signals.nothing')
  await eventually(() => refused.length > 0)
  expect(await login()).toMatchObject({ decision: { action: 'allow' } })
})

it('without a file that can be used checks nothing, and says so', async () => {
  client = createEmbedded({
    table: writeSmallTable(),
    policies: join(folder, 'absent.json'),
    onMisconfigured: () => undefined,
  })
  expect(await client.check('9.1.2.3')).toMatchObject({ ok: false, reason: 'misconfigured' })
})

it('uses a file with a condition that never matches, and reports it as a misconfiguration', async () => {
  write('location.country_code == "UK"')
  const told: ClientFailure[] = []
  client = createEmbedded({
    table: writeSmallTable(),
    policies: file,
    onMisconfigured: (failure) => told.push(failure),
  })
  expect(await client.check('9.1.2.3', { policy: 'login' })).toMatchObject({
    decision: { action: 'allow', rule: '' },
  })
  expect(told).toMatchObject([
    { reason: 'misconfigured', message: expect.stringContaining('did you mean GB?') },
  ])
})
