// The fake does what the real client does, without a server.

import { expect, it, vi } from 'vitest'
import { createFakeClient } from '../../../src/client/testing/fake-client.ts'
import { answerFor } from '../stand-in.ts'

it.each(['203.0.113.7', '2001:db8::7'])('is wholly clean by default, for %s', async (ip) => {
  // Not even a bogon: no policy must meet what the test did not choose.
  const answer = answerFor(ip, { table: 'fake' })
  expect(await createFakeClient().check(ip)).toEqual({ ok: true, answer, decision: undefined })
  const chosen = createFakeClient({ '*': { action: 'block' } })
  const decision = { action: 'block', rule: 'fake', policy: '' }
  expect(await chosen.check(ip)).toEqual({ ok: true, answer: { ...answer, decision }, decision })
})

it('says what was chosen, and is clean elsewhere', async () => {
  const client = createFakeClient({
    '203.0.113.7': { classification: 'tor', risk_score: 85, action: 'block' },
    '203.0.113.8': 'timeout',
  })
  expect(await client.check('203.0.113.7', { policy: 'login' })).toMatchObject({
    ok: true,
    answer: { classification: 'tor', risk_score: 85, ip: '203.0.113.7' },
    decision: { action: 'block', policy: 'login' },
  })
  expect(await client.check('203.0.113.8')).toEqual({
    ok: false,
    reason: 'timeout',
    fallback: 'allow',
  })
  expect(await client.check('203.0.113.9')).toMatchObject({
    ok: true,
    answer: { classification: 'clean' },
    decision: undefined,
  })
  expect(await client.check('203.0.113.9', { policy: 'login' })).toMatchObject({
    decision: { action: 'allow', policy: 'login' },
  })
  expect(client.counts()).toMatchObject({ checked: 3, timeout: 1 })
  expect(client.asked).toHaveLength(4)
})

it('checks the address and applies the fallback as the real one does', async () => {
  const client = createFakeClient({ '*': 'unavailable' }, { fallback: { unavailable: 'block' } })
  expect(await client.check('203.0.113.7')).toMatchObject({ fallback: 'block' })
  expect(await client.check('203.0.113.7:80')).toMatchObject({
    reason: 'invalid_address',
    fallback: 'challenge',
  })
  client.answer('203.0.113.7', {})
  expect(await client.check('203.0.113.7')).toMatchObject({ ok: true })
  const signal = AbortSignal.abort()
  expect(await client.check('203.0.113.7', { signal })).toMatchObject({ reason: 'timeout' })
})

it('takes batches and feedback', async () => {
  const client = createFakeClient({ '203.0.113.7': 'limited' })
  const results = await client.checkBatch(['203.0.113.7', '203.0.113.8'])
  expect(results.map(({ ok }) => ok)).toEqual([false, true])
  const outcomes = [{ ip: '203.0.113.7', outcome: 'abusive' }] as const
  expect(await client.feedback(outcomes)).toEqual({ ok: true, accepted: 1 })
  expect(await client.report('203.0.113.8', 'legitimate', 'r1')).toBe(true)
  const reported = { ip: '203.0.113.8', outcome: 'legitimate', request_id: 'r1' }
  expect(client.outcomes).toEqual([...outcomes, reported])
  client.close()
})

it('waits only as long as it was told, so that a stopped clock does not stop a test', async () => {
  vi.useFakeTimers()
  try {
    expect(await createFakeClient().check('203.0.113.7')).toMatchObject({ ok: true })
    const late = createFakeClient({}, { delayMs: 1 }).check('203.0.113.7')
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await late).toMatchObject({ ok: true })
  } finally {
    vi.useRealTimers()
  }
})
