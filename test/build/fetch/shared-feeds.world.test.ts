// The shared real feeds, served as static files: what is obtained is what lies there, byte by byte.

import { createReadStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { dayOf, parseDay } from '../../../src/base/day.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import { loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import { obtainSnapshots } from '../../../build/fetch/obtain-snapshots.ts'
import { describeFeeds, feedsFolder, sharedFeeds, withSharedData } from '../../feeds.ts'
import { newFolder, openSite } from './site.ts'

describeFeeds('the shared feeds as a mirror', () => {
  it('are obtained byte-identical with their days, every file with role use', async () => {
    const site = await openSite()
    const index = sharedFeeds()
    for (const path of ['feeds.json', ...index.flatMap(({ files }) => files.map((f) => f.path))]) {
      site.handlers.set(`/${path}`, (_request, response) => {
        createReadStream(join(feedsFolder, path)).pipe(response)
      })
    }
    const feeds = withSharedData(loadCatalogue(join(packageRoot, 'data', 'feeds')))
    const mode = { kind: 'mirror', url: site.url } as const
    // One of the feeds is newer than the day of the tests: it would be yet to come.
    const today = dayOf(Date.now())
    const obtained = await obtainSnapshots({ feeds, mode, folder: newFolder(), today })
    // Of Bing's only the alternate is there.
    const whole = index.filter(({ id }) => id !== 'bot-bing')
    expect(new Set(obtained.map(({ feed }) => feed.id)).size).toBe(whole.length)
    for (const { feed, file, state, path, day, problem } of obtained) {
      const name = `${feed.id}/${file.path}`
      expect({ name, state, problem }).toEqual({ name, state: 'fresh', problem: undefined })
      const same = readFileSync(path ?? '').equals(readFileSync(join(feedsFolder, name)))
      expect({ name, same }).toEqual({ name, same: true })
      const listed = index.find(({ id }) => id === feed.id)?.snapshot_date ?? ''
      expect({ name, day }).toEqual({ name, day: parseDay(listed) })
    }
  })
})
