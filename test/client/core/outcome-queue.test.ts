// Outcomes that are reported: together, off the login's path, once more after a failure, and counted
// where they are lost.

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { FeedbackResult, Outcome } from '../../../src/client/core/check-result.ts'
import { createOutcomeQueue } from '../../../src/client/core/outcome-queue.ts'
import { createOutcomeReport } from '../../../src/client/core/outcome-report.ts'
import { createClient as createFetchClient } from '../../../src/client/client.ts'
import { createClient } from '../../../src/client/node-client.ts'
import { createEmbedded } from '../../../src/embedded/embedded.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { answering, standIn } from '../stand-in.ts'

const ip = '203.0.113.1'
const accepted: FeedbackResult = { ok: true, accepted: 1 }
const refused = (reason: 'unavailable' | 'misconfigured' | 'limited' | 'timeout') =>
  ({ ok: false, reason }) as const

/** A queue whose requests end as `results` says, the last one for all further ones. */
function queueOf(results: readonly FeedbackResult[], gathers = true) {
  const sent: (readonly Outcome[])[] = []
  const quiet = (): undefined => undefined
  const told = { onMisconfigured: vi.fn<typeof quiet>(), onUnavailable: vi.fn<typeof quiet>() }
  const report = createOutcomeReport({ ...told, now: () => 0 })
  const send = (outcomes: readonly Outcome[]): Promise<FeedbackResult> => {
    sent.push(outcomes)
    return Promise.resolve(results[sent.length - 1] ?? results.at(-1)!)
  }
  const queue = createOutcomeQueue({ send, report, gathers })
  const counts = () => {
    const { outcomes_sent: all, outcomes_lost: lost } = report.counts()
    return [all, lost]
  }
  return { queue, sent, counts, told }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('goes with others a second later, a thousand in a request', async () => {
  const { queue, sent, counts } = queueOf([accepted])
  const all = Array.from({ length: 1001 }, () => queue.report(ip, 'abusive', 'r1'))
  await vi.advanceTimersByTimeAsync(999)
  expect(sent).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(sent.map(({ length }) => length)).toEqual([1000, 1])
  expect(sent[1]).toEqual([{ ip, outcome: 'abusive', request_id: 'r1' }])
  expect(new Set(await Promise.all(all))).toEqual(new Set([true]))
  expect([counts(), vi.getTimerCount()]).toEqual([[1001, 0], 0])
})

it.each([
  ['passes', [refused('unavailable'), accepted], 2, [1, 0]],
  ['passes, of a spent rate', [refused('limited'), accepted], 2, [1, 0]],
  ['stays', [refused('timeout')], 2, [0, 1]],
  ['will not pass', [refused('misconfigured')], 1, [0, 1]],
] as const)('is sent once more where a failure %s', async (_how, results, requests, counted) => {
  const { queue, sent, counts } = queueOf(results)
  const one = queue.report(ip, 'legitimate')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await one).toBe(counted[0] === 1)
  expect([sent.length, counts()]).toEqual([requests, counted])
})

it('is lost, counted and told where it has no room, no address or no such word', async () => {
  const { queue, counts, told, sent } = queueOf([refused('unavailable')])
  for (let i = 0; i < 10_000; i++) void queue.report(ip, 'abusive')
  expect(await queue.report(ip, 'abusive')).toBe(false)
  expect(told.onUnavailable).toHaveBeenCalledOnce()
  expect(await queue.report('here', 'abusive')).toBe(false)
  expect(await queue.report(null as unknown as string, 'abusive')).toBe(false)
  expect(await queue.report(ip, 'bad' as 'abusive')).toBe(false)
  expect(told.onMisconfigured).toHaveBeenCalledOnce()
  expect(counts()).toEqual([0, 4])
  await queue.close()
  expect([counts(), sent.length]).toEqual([[0, 10_004], 10])
})

it('goes at once when the client closes, and after that, too', async () => {
  const { queue, sent, counts } = queueOf([accepted])
  void queue.report(ip, 'abusive', 'of a proxy: no id')
  await queue.close()
  expect([sent, counts()]).toEqual([[[{ ip, outcome: 'abusive' }]], [1, 0]])
  void queue.report(ip, 'abusive')
  await queue.close()
  expect(counts()).toEqual([2, 0])
})

it('goes alone and at once where timers end with a request', async () => {
  const { queue, sent } = queueOf([accepted], false)
  const all = [queue.report(ip, 'abusive'), queue.report(ip, 'abusive')]
  expect(sent.map(({ length }) => length)).toEqual([1, 1])
  expect([await Promise.all(all), vi.getTimerCount()]).toEqual([[true, true], 0])
})

it.each([
  ['sockets', createClient],
  ['fetch', createFetchClient],
])('carries the id of the check, over %s', async (_over, create) => {
  vi.useRealTimers()
  const server = await standIn((asked, response) =>
    asked.path.endsWith('/feedback')
      ? { status: 202, body: { accepted: 1 } }
      : answering(asked, response),
  )
  const client = create({ url: server.url, key: 'irk_k', timeoutMs: 5000, cacheMs: 60_000 })
  const result = await client.check(ip)
  expect(result).toMatchObject({ ok: true, requestId: 'r1' })
  const again = await client.check(ip)
  expect(again.ok && again.requestId).toBeUndefined()
  const reported = client.report(ip, 'abusive', 'r1')
  await client.close()
  expect(await reported).toBe(true)
  expect(server.asked.at(-1)?.body).toEqual({
    outcomes: [{ ip, outcome: 'abusive', request_id: 'r1' }],
  })
  expect(client.counts()).toMatchObject({ outcomes_sent: 1, outcomes_lost: 0, cached: 1 })
})

it('goes to `onFeedback` of the embedded client', async () => {
  vi.useRealTimers()
  const onFeedback = vi.fn<(outcomes: readonly Outcome[]) => void>()
  const client = createEmbedded({ table: writeSmallTable(), onFeedback })
  const reported = client.report(ip, 'abusive')
  expect(onFeedback).not.toHaveBeenCalled()
  await client.close()
  expect([await reported, onFeedback.mock.calls]).toEqual([true, [[[{ ip, outcome: 'abusive' }]]]])
})
