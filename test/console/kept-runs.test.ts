// Work that a page starts and polls: one run at a time, and the last ones are remembered.

import { expect, it } from 'vitest'
import { createRuns } from '../../src/console/kept-runs.ts'
import { unnamedAdmin } from '../../src/admin/admin-caller.ts'

const newRuns = () =>
  createRuns({
    path: '/admin/runs',
    codes: ['past_day_running', 'past_day_unknown'],
    title: 'A run',
    prints: 'iprisk',
  })

async function viewOf({ view }: ReturnType<typeof newRuns>, name: string): Promise<unknown> {
  const request = {
    name,
    caller: unnamedAdmin,
    query: new URLSearchParams(),
    bytes: new Uint8Array(),
  }
  const { reply } = (await view.run(request)) as { readonly reply: { readonly body: Uint8Array } }
  return JSON.parse(Buffer.from(reply.body).toString())
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('shows the stage, then the report, and begins nothing meanwhile', async () => {
  const runs = newRuns()
  let finish: ((report: Uint8Array) => void) | undefined
  const { id } = runs.begin((said) => {
    said('days: 3 files')
    return new Promise((resolve) => (finish = resolve))
  })
  expect(await viewOf(runs, id)).toEqual({ id, status: 'running', stage: 'days: 3 files' })
  expect(() => runs.begin(() => Promise.reject(new Error('begun')))).toThrow(
    'A run is already running; try again',
  )
  finish?.(Buffer.from('{"a":1}\n'))
  await settled()
  expect(await viewOf(runs, id)).toEqual({ id, status: 'done', report: { a: 1 } })
})

it('says why one failed, and takes the next', async () => {
  const runs = newRuns()
  const { id } = runs.begin(() => Promise.reject(new Error('no history')))
  await settled()
  expect(await viewOf(runs, id)).toEqual({ id, status: 'failed', message: 'no history' })
  const { id: next } = runs.begin(() => Promise.resolve(Buffer.from('1')))
  await settled()
  expect(await viewOf(runs, next)).toMatchObject({ status: 'done' })
})

it('forgets all but the last twenty', async () => {
  const runs = newRuns()
  const ids: string[] = []
  for (let at = 0; at < 22; at++) {
    ids.push(runs.begin(() => Promise.resolve(Buffer.from('1'))).id)
    await settled()
  }
  const known = await Promise.allSettled(ids.map((id) => viewOf(runs, id)))
  expect(known.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(20)
  expect(known[0]).toMatchObject({ reason: { code: 'past_day_unknown' } })
})
