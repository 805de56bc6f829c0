// How far a run of fetching got, on runs against real servers: who was asked, who answered, and
// whether some were not even tried.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fetchReport, fetchWarnings, isUnanswered } from '../../build/fetch-report.ts'
import { type ObtainOptions, obtainSnapshots } from '../../build/fetch/obtain-snapshots.ts'
import { closedPort, newFeed, newFolder, openSite, quickLimits, text, today } from './fetch/site.ts'

async function run(
  feeds: ObtainOptions['feeds'],
  folder: string,
  more: Partial<ObtainOptions> = {},
) {
  const notices: string[] = []
  const mode = more.mode ?? ({ kind: 'publisher' } as const)
  const files = await obtainSnapshots({
    feeds,
    folder,
    today,
    limits: quickLimits,
    onProgress: (one) => void (one.kind === 'notice' && notices.push(one.message)),
    ...more,
    mode,
  })
  const report = fetchReport(files, { mode, notices })
  return { files, report, warnings: fetchWarnings(files, { mode, notices }) }
}

it('a copy of a short while ago is no answer of a publisher', async () => {
  const site = await openSite({ '/a': text('192.0.2.1\n') })
  const had = newFeed('had', { 'a.txt': `${site.url}/a` })
  const gone = newFeed('gone', { 'a.txt': `http://127.0.0.1:${await closedPort()}/a` })
  const folder = newFolder()
  const first = await run([had, gone], folder)
  expect(first.report).toEqual({ asked: 2, answered: 1, cut_short: null })
  expect(isUnanswered(first.report)).toBe(false)
  const second = await run([had, gone], folder)
  expect(second.files.map(({ state }) => state)).toEqual(['recent', 'missing'])
  expect(second.report).toEqual({ asked: 1, answered: 0, cut_short: null })
  expect(isUnanswered(second.report)).toBe(true)
  const third = await run([had], folder)
  expect(third.report).toEqual({ asked: 0, answered: 0, cut_short: null })
  expect(isUnanswered(third.report)).toBe(false)
})

it('a run that ends by its time, without a network or offline is cut short', async () => {
  const site = await openSite({ '/a': text('192.0.2.1\n'), '/slow': () => undefined })
  const had = newFeed('had', { 'a.txt': `${site.url}/a` })
  const slow = newFeed('slow', { 'a.txt': `${site.url}/slow` })
  const limits = { ...quickLimits, headersMs: 10_000, wholeMs: 10_000, obtainMs: 300 }
  const timed = await run([had, slow], newFolder(), { limits })
  const over = 'fetching has taken 0.3 s, the limit for one run'
  expect(timed.report).toEqual({ asked: 2, answered: 1, cut_short: over })
  const dead = await Promise.all(
    [1, 2, 3, 4].map(async (each) =>
      newFeed(`dead-${each}`, { 'a.txt': `http://127.0.0.1:${await closedPort()}/a` }),
    ),
  )
  const none = await run(dead, newFolder())
  expect(none.report).toMatchObject({ asked: 4, answered: 0 })
  expect(none.report.cut_short).toContain('no host can be reached')
  expect(none.warnings).toHaveLength(1)
  const offline = await run([had], newFolder(), { mode: { kind: 'offline' } })
  expect(offline.report).toEqual({ asked: 1, answered: 0, cut_short: 'offline' })
})

it('a damaged copy is told of, and is not called never fetched', async () => {
  const site = await openSite({ '/a': text('192.0.2.1\n') })
  const had = newFeed('had', { 'a.txt': `${site.url}/a` })
  const never = newFeed('never', { 'a.txt': `${site.url}/a` })
  const folder = newFolder()
  await run([had], folder)
  writeFileSync(join(folder, 'had/a.txt'), '192.0.2.2\n')
  const damage = `${join(folder, 'had/a.txt')} does not match snapshots.json and is not used`
  const offline = await run([had, never], folder, { mode: { kind: 'offline' } })
  expect(offline.files[0]).toMatchObject({ state: 'missing', problem: damage })
  expect(offline.warnings).toEqual([
    expect.stringMatching(/^1 feeds have no stored copy, so this table has no new data from them/),
    `had: ${damage}`,
  ])
})

it('four feeds or more that fail are one line with their count', async () => {
  const site = await openSite({ '/a': text('192.0.2.1\n') })
  const feeds = (count: number) =>
    Array.from({ length: count }, (_, at) =>
      newFeed(`gone-${at}`, { 'a.txt': `${site.url}/${at}` }),
    )
  const had = newFeed('had', { 'a.txt': `${site.url}/a` })
  expect((await run([had, ...feeds(3)], newFolder())).warnings).toHaveLength(3)
  expect((await run([had, ...feeds(5)], newFolder())).warnings).toEqual([
    '5 feeds could not be fetched (gone-0, gone-1, gone-2 and 2 more); `iprisk feeds list` shows why',
  ])
})

it('what has cost no feed is neither said nor counted', async () => {
  const site = await openSite({ '/a': text('192.0.2.1\n') })
  const { files } = await run([newFeed('had', { 'a.txt': `${site.url}/a` })], newFolder())
  const of = { mode: { kind: 'publisher' }, notices: ['the time is over'] } as const
  expect(fetchReport(files, of)).toEqual({ asked: 1, answered: 1, cut_short: null })
  expect(fetchWarnings(files, of)).toEqual([])
})
