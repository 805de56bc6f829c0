// From feeds to snapshots on disk, against real servers: what is fresh, what is kept, what is said.

import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Day } from '../../../src/base/day.ts'
import { acquireFileLock } from '../../../src/base/system/file-lock.ts'
import { formatDay, parseDay } from '../../../src/base/day.ts'
import type {
  FetchProgress,
  ObtainOptions,
  ObtainedFile,
} from '../../../build/fetch/obtain-snapshots.ts'
import { missingFeeds } from '../../../build/evidence/read-snapshots.ts'
import { fetchWarnings } from '../../../build/fetch-report.ts'
import { openNetworkHealth } from '../../../build/fetch/network-health.ts'
import { obtainSnapshots } from '../../../build/fetch/obtain-snapshots.ts'
import type { Site } from './site.ts'
import { closedPort, newFeed, newFolder, openSite, quickLimits, text, today } from './site.ts'

type Options = Partial<ObtainOptions> & Pick<ObtainOptions, 'feeds' | 'folder'>

async function run(options: Options): Promise<{
  readonly obtained: readonly ObtainedFile[]
  readonly states: Record<string, string>
  readonly progress: readonly FetchProgress[]
}> {
  const progress: FetchProgress[] = []
  const obtained = await obtainSnapshots({
    mode: { kind: 'publisher', always: true },
    today,
    limits: quickLimits,
    onProgress: (each) => progress.push(each),
    ...options,
  })
  const states = Object.fromEntries(
    obtained.map(({ feed, file, state }) => [`${feed.id}/${file.path}`, state]),
  )
  return { obtained, states, progress }
}

function contents(obtained: readonly ObtainedFile[]): readonly (string | undefined)[] {
  return obtained.map(({ path }) => (path === undefined ? undefined : readFileSync(path, 'utf8')))
}

/** A feed of two files, one on the site each. */
async function twoFiles(): Promise<{
  readonly site: Site
  readonly feeds: ObtainOptions['feeds']
  readonly folder: string
}> {
  const site = await openSite({ '/4': text('192.0.2.1\n'), '/6': text('2001:db8::1\n') })
  const feeds = [newFeed('two', { 'v4.txt': `${site.url}/4`, 'v6.txt': `${site.url}/6` })]
  return { site, feeds, folder: newFolder() }
}

describe('from publishers', () => {
  it('is fresh, then unchanged, then fresh, each with its day', async () => {
    const site = await openSite()
    let content = '192.0.2.1\n'
    site.handlers.set('/a', (request, response) => {
      const etag = `"${content.length}"`
      if (request.headers['if-none-match'] === etag) response.writeHead(304).end()
      else text(content, { etag })(request, response)
    })
    const feeds = [newFeed('a', { 'a.txt': `${site.url}/a` })]
    const folder = newFolder()
    const first = await run({ feeds, folder })
    expect(first.states).toEqual({ 'a/a.txt': 'fresh' })
    expect(first.obtained[0]).toMatchObject({ path: join(folder, 'a', 'a.txt'), day: today })
    const tomorrow = (today + 1) as Day
    const second = await run({ feeds, folder, today: tomorrow })
    expect(second.states).toEqual({ 'a/a.txt': 'unchanged' })
    expect(second.obtained[0]?.day).toBe(tomorrow)
    content = '192.0.2.1\n192.0.2.2\n'
    const third = await run({ feeds, folder })
    expect(third.states).toEqual({ 'a/a.txt': 'fresh' })
    expect(contents(third.obtained)).toEqual([content])
    expect(site.requests.map(({ headers }) => headers['if-none-match'])).toEqual([
      undefined,
      '"10"',
      '"10"',
    ])
  })

  it('finds the same bytes unchanged without a word of the server', async () => {
    const { feeds, folder } = await twoFiles()
    await run({ feeds, folder })
    const { states } = await run({ feeds, folder })
    expect(states).toEqual({ 'two/v4.txt': 'unchanged', 'two/v6.txt': 'unchanged' })
    expect(readdirSync(join(folder, 'two')).sort()).toEqual(['snapshots.json', 'v4.txt', 'v6.txt'])
    expect(readdirSync(folder)).toEqual(['two'])
  })

  it('keeps the stored copy of the one file that cannot be had, and says which', async () => {
    const { site, feeds, folder } = await twoFiles()
    await run({ feeds, folder, today: (today - 1) as Day })
    site.handlers.set('/4', text('192.0.2.9\n'))
    site.handlers.delete('/6')
    const { obtained, states, progress } = await run({ feeds, folder })
    expect(states).toEqual({ 'two/v4.txt': 'fresh', 'two/v6.txt': 'stored' })
    expect(contents(obtained)).toEqual(['192.0.2.9\n', '2001:db8::1\n'])
    expect(obtained.map(({ day }) => day)).toEqual([today, today - 1])
    expect(obtained[0]?.problem).toBeUndefined()
    expect(obtained[1]?.problem).toContain(`${site.url}/6: status 404`)
    expect(progress).toMatchObject([{ kind: 'feed', feed: 'two', state: 'fresh' }])
    expect(readdirSync(join(folder, 'two')).sort()).toEqual(['snapshots.json', 'v4.txt', 'v6.txt'])
    const offline = await run({ feeds, folder, mode: { kind: 'offline' } })
    expect(offline.obtained.map(({ day }) => day)).toEqual([today, today - 1])
  })

  it('leaves out a file that never was, and says so', async () => {
    const { site, feeds, folder } = await twoFiles()
    site.handlers.delete('/6')
    const { obtained, states, progress } = await run({ feeds, folder })
    expect(states).toEqual({ 'two/v4.txt': 'fresh', 'two/v6.txt': 'missing' })
    expect(obtained[1]?.problem).toMatch(/\/6: status 404.*; the feed's other files are used$/)
    expect(progress).toMatchObject([{ state: 'fresh', problem: obtained[1]?.problem }])
    expect(missingFeeds(obtained)).toEqual([])
    const warnings = fetchWarnings(obtained, { mode: { kind: 'publisher' }, notices: [] })
    expect(warnings).toEqual([`two: ${obtained[1]?.problem}`])
  })

  const csv = { format: 'csv', options: { address: 'ip' } } as const
  const list = { format: 'list' } as const
  const json = { format: 'json', options: { entries: ['/prefixes/*/ipv4Prefix'] } } as const
  it.each([
    [
      'of JSON that names a new address',
      '{"Action needed": "Use the new address", "prefixes": []}',
      json,
      /has none of the members that are its entries: \/prefixes\/\*\/ipv4Prefix; the publisher has moved it/,
    ],
    ['of JSON that is none', 'moved', json, /is not JSON/],
    ['of a list of comments', '# none today\n', list, /it has no entries; the publisher/],
    ['of a CSV with other columns', 'a,b\n1,2\n', csv, /has no column "ip"/],
  ])('keeps the stored copy in place of a body without entries: %s', async (_, body, file, why) => {
    const good =
      file.format === 'json' ? '{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}' : 'ip\n192.0.2.1\n'
    const site = await openSite({ '/a': text(good) })
    const feeds = [newFeed('a', { 'a.txt': `${site.url}/a` }, { file })]
    const folder = newFolder()
    await run({ feeds, folder, today: (today - 1) as Day })
    site.handlers.set('/a', text(body))
    const { obtained } = await run({ feeds, folder })
    expect(obtained).toMatchObject([{ state: 'stored', day: today - 1 }])
    expect(obtained[0]?.problem).toMatch(why)
    expect(contents(obtained)).toEqual([good])
    expect(readdirSync(join(folder, 'a')).sort()).toEqual(['a.txt', 'snapshots.json'])
  })

  it('is missing where there never was a copy, and costs no other feed', async () => {
    const { site, feeds, folder } = await twoFiles()
    const bad = newFeed('bad', { 'x.txt': `${site.url}/none` })
    const { states, obtained } = await run({ feeds: [bad, ...feeds], folder })
    expect(states).toEqual({
      'bad/x.txt': 'missing',
      'two/v4.txt': 'fresh',
      'two/v6.txt': 'fresh',
    })
    expect(obtained[0]).not.toHaveProperty('path')
    expect(obtained[0]?.problem).toMatch(/status 404.*no stored copy/)
  })

  it('takes an alternate in place of the only file of a feed, until that is there', async () => {
    const site = await openSite({ '/b': text('192.0.2.2\n') })
    const both = newFeed('a', { 'a.txt': `${site.url}/a`, 'b.txt': `${site.url}/b` })
    const [use, other] = both.files
    const feeds = [{ ...both, files: [use!, { ...other!, role: 'alternate' as const }] }]
    const folder = newFolder()
    const first = await run({ feeds, folder })
    expect(first.states).toEqual({ 'a/b.txt': 'fresh' })
    expect(first.obtained[0]?.problem).toMatch(/\/a: status 404.*; b\.txt stands in$/)
    expect((await run({ feeds, folder })).states).toEqual({ 'a/b.txt': 'unchanged' })
    const offline = await run({ feeds, folder, mode: { kind: 'offline' } })
    expect(contents(offline.obtained)).toEqual(['192.0.2.2\n'])
    site.handlers.set('/a', text('192.0.2.1\n'))
    const later = await run({ feeds, folder })
    expect(later.states).toEqual({ 'a/a.txt': 'fresh' })
    expect(readdirSync(join(folder, 'a')).sort()).toEqual(['a.txt', 'snapshots.json'])
    site.handlers.delete('/a')
    expect((await run({ feeds, folder })).states).toEqual({ 'a/a.txt': 'stored' })
  })

  it('fetches only files of role use', async () => {
    const { site, feeds, folder } = await twoFiles()
    const files = feeds[0]?.files.map((file, index) =>
      index === 0 ? file : { ...file, role: 'alternate' as const },
    )
    const { states } = await run({ feeds: [{ ...feeds[0]!, files: files ?? [] }], folder })
    expect(states).toEqual({ 'two/v4.txt': 'fresh' })
    expect(site.count('/6')).toBe(0)
  })

  it('does not ask again within the cadence on the same day, unless it shall', async () => {
    const site = await openSite({ '/a': text('1\n') })
    const urls = { 'a.txt': `${site.url}/a` }
    const folder = newFolder()
    const start = Date.parse('2026-08-22T01:00:00Z')
    const ask = async (
      cadence: 'hourly' | 'daily',
      hours: number,
      day = today,
    ): Promise<number> => {
      const before = site.requests.length
      await run({
        feeds: [newFeed(cadence, urls, { cadence })],
        folder,
        mode: { kind: 'publisher' },
        today: day,
        now: () => start + hours * 3_600_000,
      })
      return site.requests.length - before
    }
    expect(await ask('hourly', 0)).toBe(1)
    expect(await ask('hourly', 0.4)).toBe(0)
    expect(await ask('hourly', 0.6)).toBe(1)
    expect(await ask('daily', 0)).toBe(1)
    expect(await ask('daily', 5)).toBe(0)
    expect(await ask('daily', 5, (today + 1) as Day)).toBe(1)
    expect(await ask('daily', 5)).toBe(1)
    // A clock that went back does not stop it for ever.
    expect(await ask('daily', -50)).toBe(1)
    const feeds = [newFeed('daily', urls, { cadence: 'daily' })]
    await run({ feeds, folder, now: () => start })
    expect(site.requests).toHaveLength(7)
  })

  it('fetches again what is damaged on disk, and asks for it whole', async () => {
    const site = await openSite({
      '/a': (request, response) => {
        if (request.headers['if-none-match'] === undefined)
          text('1\n', { etag: '"1"' })(request, response)
        else response.writeHead(304).end()
      },
    })
    const feeds = [newFeed('a', { 'a.txt': `${site.url}/a` })]
    const folder = newFolder()
    await run({ feeds, folder })
    writeFileSync(join(folder, 'a', 'a.txt'), '2\n')
    const { states, obtained } = await run({ feeds, folder })
    expect(states).toEqual({ 'a/a.txt': 'fresh' })
    expect(contents(obtained)).toEqual(['1\n'])
  })

  it('removes what a killed run left, and no stranger’s file', async () => {
    const { feeds, folder } = await twoFiles()
    mkdirSync(join(folder, 'two'))
    writeFileSync(join(folder, 'two', '.v4.txt.abc.tmp'), 'half')
    writeFileSync(join(folder, '.feeds.json.abc.tmp'), 'half')
    writeFileSync(join(folder, 'two', 'note.txt'), 'mine')
    await run({ feeds, folder })
    expect(readdirSync(folder)).toEqual(['two'])
    expect(readdirSync(join(folder, 'two')).sort()).toEqual([
      'note.txt',
      'snapshots.json',
      'v4.txt',
      'v6.txt',
    ])
  })

  it('keeps to its bounds on one host', async () => {
    let running = 0
    let most = 0
    const urls: Record<string, string> = {}
    const site = await openSite()
    for (let index = 0; index < 12; index++) {
      urls[`${index}.txt`] = `${site.url}/${index}`
      site.handlers.set(`/${index}`, (request, response) => {
        most = Math.max(most, ++running)
        setTimeout(() => {
          running--
          text('1\n')(request, response)
        }, 15)
      })
    }
    const feeds = Object.entries(urls).map(([path, url]) =>
      newFeed(`f${path[0]}${path.length}`, { [path]: url }),
    )
    await run({ feeds: feeds.slice(0, 10), folder: newFolder() })
    expect(most).toBe(quickLimits.perHost)
  })
})

describe('without a network', () => {
  it('is dead where nothing is connected to in time, and alive behind a slow answer', async () => {
    const limits = { ...quickLimits, reachMs: 50, headersMs: 5000, wholeMs: 5000 }
    const site = await openSite({
      '/slow': (_request, response) => void setTimeout(() => response.end('192.0.2.1\n'), 200),
    })
    const slow = [newFeed('slow', { 'a.txt': `${site.url}/slow` })]
    const { states } = await run({ feeds: slow, folder: newFolder(), limits })
    expect(states).toEqual({ 'slow/a.txt': 'fresh' })
    const health = openNetworkHealth({ hosts: 9, deadHosts: 4 })
    health.endIfUnreached(3000)
    expect(health.signal.reason).toMatchObject({
      code: 'fetch_no_network',
      message: expect.stringContaining('no connection within 3 s'),
    })
  })

  it('offline asks nobody and writes nothing', async () => {
    const { site, feeds, folder } = await twoFiles()
    const none = join(folder, 'none')
    const empty = await run({ feeds, folder: none, mode: { kind: 'offline' } })
    expect(empty.states).toEqual({ 'two/v4.txt': 'missing', 'two/v6.txt': 'missing' })
    expect(existsSync(none)).toBe(false)
    await run({ feeds, folder })
    const asked = site.requests.length
    const { states, obtained } = await run({ feeds, folder, mode: { kind: 'offline' } })
    expect(states).toEqual({ 'two/v4.txt': 'stored', 'two/v6.txt': 'stored' })
    expect(obtained.some(({ problem }) => problem !== undefined)).toBe(false)
    expect(site.requests).toHaveLength(asked)
  })

  it('gives up soon, says so once, and uses what is stored', async () => {
    const { feeds, folder } = await twoFiles()
    await run({ feeds, folder })
    const many = []
    for (let index = 0; index < 30; index++) {
      const port = await closedPort()
      many.push(newFeed(`dead-${index}`, { 'a.txt': `http://127.0.0.1:${port}/a` }))
    }
    const port = await closedPort()
    const dead = newFeed('two', {
      'v4.txt': `http://127.0.0.1:${port}/4`,
      'v6.txt': `http://127.0.0.1:${port}/6`,
    })
    const started = performance.now()
    const limits = { ...quickLimits, backoffMs: 100, backoffMsMax: 100 }
    const { states, progress, obtained } = await run({ feeds: [...many, dead], folder, limits })
    // Thirty-one hosts one after another, eight at once, would take four times as long.
    expect(performance.now() - started).toBeLessThan(1000)
    expect(states['two/v4.txt']).toBe('stored')
    expect(states['dead-29/a.txt']).toBe('missing')
    expect(obtained).toHaveLength(32)
    const notices = progress.filter(({ kind }) => kind === 'notice')
    expect(notices).toHaveLength(1)
    expect(notices[0]).toMatchObject({ message: expect.stringContaining('no host can be reached') })
  })

  it('is not what one dead publisher among others means', async () => {
    const { feeds, folder } = await twoFiles()
    const dead = []
    for (let index = 0; index < 6; index++) {
      const port = await closedPort()
      dead.push(newFeed(`dead-${index}`, { 'a.txt': `http://127.0.0.1:${port}/a` }))
    }
    const { states, progress } = await run({ feeds: [...feeds, ...dead], folder })
    expect(states).toMatchObject({ 'two/v4.txt': 'fresh', 'dead-5/a.txt': 'missing' })
    expect(progress.filter(({ kind }) => kind === 'notice')).toEqual([])
  })

  it('ends at its time limit with what it has', async () => {
    const { site, feeds, folder } = await twoFiles()
    site.handlers.set('/slow', () => undefined)
    const slow = newFeed('slow', { 'a.txt': `${site.url}/slow` })
    const limits = { ...quickLimits, headersMs: 10_000, wholeMs: 10_000 }
    const all = [...feeds, slow]
    const timed = await run({ feeds: all, folder, limits: { ...limits, obtainMs: 300 } })
    expect(timed.states).toEqual({
      'two/v4.txt': 'fresh',
      'two/v6.txt': 'fresh',
      'slow/a.txt': 'missing',
    })
    expect(timed.obtained[2]?.problem).toContain('limit for one run')
  })
})

describe('two runs on one folder', () => {
  it('the second uses what is stored and says why', async () => {
    const { feeds, folder, site } = await twoFiles()
    const lock = acquireFileLock(join(folder, '.lock'))
    const { states, progress } = await run({ feeds, folder })
    expect(states).toEqual({ 'two/v4.txt': 'missing', 'two/v6.txt': 'missing' })
    expect(progress[0]).toMatchObject({ message: expect.stringContaining('another run') })
    expect(site.requests).toHaveLength(0)
    lock?.release()
  })

  it('started together leave one whole set', async () => {
    const { feeds, folder } = await twoFiles()
    const runs = await Promise.all([run({ feeds, folder }), run({ feeds, folder })])
    expect(runs.map(({ states }) => states['two/v4.txt'])).toContain('fresh')
    const after = await run({ feeds, folder, mode: { kind: 'offline' } })
    expect(contents(after.obtained)).toEqual(['192.0.2.1\n', '2001:db8::1\n'])
  })

  it('the first keeps its lock, whatever the lock file says', async () => {
    const { feeds, folder, site } = await twoFiles()
    let second: Awaited<ReturnType<typeof run>> | undefined
    site.handlers.set('/6', (request, response) => {
      writeFileSync(join(folder, '.lock'), JSON.stringify({ token: 'y', pid: 1, machine: 'other' }))
      const answer = async (): Promise<void> => {
        second = await run({ feeds, folder })
        text('2001:db8::1\n')(request, response)
      }
      void answer()
    })
    const { states } = await run({ feeds, folder })
    expect(states).toEqual({ 'two/v4.txt': 'fresh', 'two/v6.txt': 'fresh' })
    expect(second?.progress[0]).toMatchObject({ message: expect.stringContaining('another run') })
    expect(readdirSync(folder)).toEqual(['two'])
  })
})

describe('from a mirror', () => {
  const index = (day: string): string =>
    JSON.stringify([{ id: 'two', snapshot_date: day }, { id: 'odd', snapshot_date: 'soon' }, null])

  async function mirrored(): Promise<
    Awaited<ReturnType<typeof twoFiles>> & { readonly mode: { kind: 'mirror'; url: string } }
  > {
    const feeds = [
      newFeed('two', { 'v4.txt': 'http://never.example/4', 'v6.txt': 'http://never.example/6' }),
    ]
    const site = await openSite({
      '/m/feeds.json': text(index('2026-08-20')),
      '/m/two/v4.txt': text('192.0.2.1\n'),
      '/m/two/v6.txt': text('2001:db8::1\n'),
    })
    return { site, feeds, folder: newFolder(), mode: { kind: 'mirror', url: `${site.url}/m` } }
  }

  it('takes the day that the mirror states, and the fetch day where it states none', async () => {
    const { site, feeds, folder, mode } = await mirrored()
    site.handlers.set(
      '/m/odd/v4.txt',
      text('192.0.2.3\n', { 'last-modified': 'Sat, 01 Aug 2026 00:00:00 GMT' }),
    )
    const odd = newFeed('odd', { 'v4.txt': 'http://never.example/' })
    const { obtained } = await run({ feeds: [...feeds, odd], folder, mode })
    expect(obtained.map(({ day }) => day)).toEqual([
      parseDay('2026-08-20'),
      parseDay('2026-08-20'),
      today,
    ])
    const records = JSON.parse(readFileSync(join(folder, 'two', 'snapshots.json'), 'utf8'))
    expect(records.files['v4.txt']).toMatchObject({
      from: 'mirror',
      day: '2026-08-20',
      url: `${site.url}/m/two/v4.txt`,
    })
    site.handlers.delete('/m/feeds.json')
    const without = await run({ feeds, folder, mode })
    expect(without.obtained.map(({ day }) => day && formatDay(day))).toEqual([
      '2026-08-22',
      '2026-08-22',
    ])
    expect(site.requests.map(({ url }) => url)).not.toContain('/m/two/snapshots.json')
  })

  it('states no day that is yet to come', async () => {
    const { site, feeds, folder, mode } = await mirrored()
    const dayStated = async (stated: string) => {
      site.handlers.set('/m/feeds.json', text(index(stated)))
      const { obtained } = await run({ feeds, folder, mode })
      return obtained[0]?.day && formatDay(obtained[0].day)
    }
    expect(await dayStated('2099-01-01')).toBe('2026-08-22')
    // A mirror may be ahead of UTC.
    expect(await dayStated('2026-08-23')).toBe('2026-08-23')
  })

  it('goes to another day with the same bytes, and does not trust file times there', async () => {
    const { site, feeds, folder, mode } = await mirrored()
    const time = 'Sat, 22 Aug 2026 00:00:00 GMT'
    site.handlers.set('/m/two/v4.txt', text('192.0.2.1\n', { 'last-modified': time }))
    await run({ feeds, folder, mode })
    site.handlers.set('/m/feeds.json', text(index('2026-08-21')))
    site.handlers.set('/m/two/v4.txt', (request, response) => {
      if (request.headers['if-modified-since'] !== undefined) response.writeHead(304).end()
      else text('192.0.2.8\n')(request, response)
    })
    const { states, obtained } = await run({ feeds, folder, mode })
    expect(states).toEqual({ 'two/v4.txt': 'fresh', 'two/v6.txt': 'unchanged' })
    expect(obtained.map(({ day }) => day)).toEqual([parseDay('2026-08-21'), parseDay('2026-08-21')])
    expect(contents(obtained)[0]).toBe('192.0.2.8\n')
  })

  it('that lacks one file gives the others of that feed', async () => {
    const { site, feeds, folder, mode } = await mirrored()
    site.handlers.set('/m/one/a.txt', text('1\n'))
    const one = newFeed('one', { 'a.txt': 'http://never.example/' })
    site.handlers.delete('/m/two/v6.txt')
    const { states } = await run({ feeds: [...feeds, one], folder, mode })
    expect(states).toEqual({
      'two/v4.txt': 'fresh',
      'two/v6.txt': 'missing',
      'one/a.txt': 'fresh',
    })
  })

  it('whose index is broken or that is not there is said once, with what is stored', async () => {
    const { site, feeds, folder, mode } = await mirrored()
    await run({ feeds, folder, mode })
    for (const [handler, message] of [
      [text('{"a":1}'), /not an array of feeds/],
      [text('<html>'), /web page/],
    ] as const) {
      site.handlers.set('/m/feeds.json', handler)
      const { states, progress } = await run({ feeds, folder, mode })
      expect(states).toEqual({ 'two/v4.txt': 'stored', 'two/v6.txt': 'stored' })
      const notices = progress.filter(({ kind }) => kind === 'notice')
      expect(notices).toEqual([{ kind: 'notice', message: expect.stringMatching(message) }])
    }
    const dead = { kind: 'mirror', url: `http://127.0.0.1:${await closedPort()}/` } as const
    const { states, progress } = await run({ feeds, folder, mode: dead })
    expect(states).toEqual({ 'two/v4.txt': 'stored', 'two/v6.txt': 'stored' })
    expect(progress.filter(({ kind }) => kind === 'notice')).toHaveLength(1)
  })

  it('that is no address is the caller’s fault', async () => {
    const { feeds, folder } = await mirrored()
    const mode = { kind: 'mirror', url: 'mirror.example' } as const
    await expect(run({ feeds, folder, mode })).rejects.toThrow(/not an http or https address/)
  })
})
