// Policies on the answers of test keys, asked by the client: an integration can try every decision
// without a bad address.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ClientFailure } from '../../../src/client/core/outcome-report.ts'
import type { Client } from '../../../src/client/core/check-result.ts'
import { createClient } from '../../../src/client/node-client.ts'
import { newFolder } from '../../cli/program.ts'
import { type Server, makeKey, newState, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'

const policies = {
  default: { rules: [], otherwise: 'allow' },
  login: {
    rules: [
      { name: 'any-hosting', condition: 'signals.hosting', action: 'allow', observe: true },
      { name: 'no-tor', condition: 'signals.tor', action: 'block' },
      { name: 'unsure', condition: 'risk_score >= 50', action: 'challenge' },
    ],
    otherwise: 'allow',
  },
}

const told: ClientFailure[] = []
let server: Server
let client: Client

beforeAll(async () => {
  const file = join(newFolder(), 'policies.json')
  writeFileSync(file, JSON.stringify({ policies }), { mode: 0o600 })
  const state = newState()
  const key = await makeKey(state, { test: true, policies: ['default', 'login'] })
  server = await startServer({ table: writeSmallTable(), state, args: ['--policies', file] })
  client = createClient({
    url: `http://127.0.0.1:${server.port}`,
    key,
    timeoutMs: 10_000,
    onMisconfigured: (failure) => told.push(failure),
  })
})
afterAll(async () => {
  client.close()
  await server.stop()
})

const login = { policy: 'login' }

it('decides by the policy that is named, else by the default one of the key', async () => {
  expect(await client.check('198.18.0.6')).toMatchObject({
    decision: { action: 'allow', policy: 'default', rule: '' },
  })
  const tor = await client.check('198.18.0.6', login)
  expect(tor).toMatchObject({ decision: { action: 'block', policy: 'login', rule: 'no-tor' } })
  expect(await client.check('198.18.0.3', login)).toMatchObject({
    answer: { observed: ['any-hosting'] },
  })
})

it('decides batches and answers with insights, too', async () => {
  const results = await client.checkBatch(['198.18.0.1', '198.18.0.6'], login)
  expect(results).toMatchObject([
    { decision: { action: 'allow' } },
    { decision: { action: 'block' } },
  ])
  expect(await client.check('198.18.0.6', { ...login, insights: true })).toMatchObject({
    answer: { insights: { table: { id: 'test' } } },
    decision: { action: 'block' },
  })
})

it('refuses an unknown policy, and says which member is wrong', async () => {
  const result = await client.check('198.18.0.1', { policy: 'signup' })
  expect(result).toMatchObject({ ok: false, reason: 'misconfigured' })
  expect(told.at(-1)).toMatchObject({ status: 400, code: 'invalid_input' })
  const batch = await client.checkBatch(['198.18.0.1'], { policy: 'signup' })
  expect(batch).toMatchObject([{ reason: 'misconfigured' }])
})
