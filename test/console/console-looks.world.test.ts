// The console as users meet it: dark on a screen of 1,280 px, light on one of 2,000 px and on a phone
// of 360 px, with axe, which finds what keeps people out; what it weighs, and when it is first seen;
// and that no text of a feed becomes more than text.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { type TestBrowser, axeLooks, findingsOf, overhangOf, startBrowser } from '../browser.ts'
import { describeWith } from '../deploy/need.ts'
import { openConsole, views } from './console-page.ts'
import { type FixtureServer, startFixtureServer } from './fixture-server.ts'
import { hostile } from './fixture-views.ts'

const built = join(packageRoot, 'dist/console')
const wide = { colorScheme: 'light', width: 1280 } as const

describeWith('chromium', ['--version'], () => {
  let server: FixtureServer
  let browser: TestBrowser

  beforeAll(async () => {
    server = await startFixtureServer()
    // Before the login there is no session.
    browser = await startBrowser([401])
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  describe.each([...axeLooks, { ...wide, width: 2000 }])('$colorScheme at $width px', (look) => {
    it('keeps nobody out, and does not scroll sideways', async () => {
      const { page, show } = await openConsole(browser, server, look)
      const found: unknown[] = []
      for (const { name, hash, shows } of views) {
        await show(hash, shows)
        const findings = [...(await findingsOf(page)), await overhangOf(page)]
        if (findings.length > 1 || findings[0] !== 0) found.push([name, findings])
      }
      expect(found).toEqual([])
      expect(await page.evaluate('window.harmed')).toBeUndefined()
      await page.click('text=Sign out')
      await page.waitForSelector('input[type=password]')
      await page.click('summary')
      expect([await findingsOf(page), await overhangOf(page)]).toEqual([[], 0])
      await page.context().close()
    })
  })

  it('shows hostile names as they are written', async () => {
    const { page, show } = await openConsole(browser, server, wide)
    for (const hash of ['#/address/185.220.101.33', '#/table', '#/rules/lists', '#/keys']) {
      await show(hash, `text=${hostile.slice(0, 20)}`)
      await expect.poll(() => page.innerText('main')).toContain(hostile)
      await expect.poll(() => page.locator('main img, main script, main [onerror]').count()).toBe(0)
    }
    expect(await page.evaluate('window.harmed')).toBeUndefined()
    await page.context().close()
  })

  it('weighs at most 200 kB gzipped, and the login a fifth of it', async () => {
    const files = readdirSync(built, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(html|js|css|json)$/.test(name))
      .map((name) => ({ name, bytes: gzipSync(readFileSync(join(built, name))).length }))
    const sum = (of: typeof files): number => of.reduce((all, { bytes }) => all + bytes, 0)
    expect(files.length).toBeGreaterThan(4)
    expect(sum(files)).toBeLessThanOrEqual(200_000)
    const page = await browser.newPage(wide)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(server.url)
    await page.waitForSelector('input[type=password]')
    const first = files.filter(({ name }) => asked.some((url) => url.endsWith(name)))
    expect(first.map(({ name }) => name.replace(/-[\w-]{8}\./, '.')).toSorted()).toEqual([
      'assets/index.js',
      'assets/style.css',
    ])
    expect(sum(first)).toBeLessThanOrEqual(45_000)
    await page.context().close()
  })

  it('is first seen within a second', async () => {
    const seen: number[] = []
    for (let i = 0; i < 3; i += 1) {
      const page = await browser.newPage(wide)
      await page.goto(server.url)
      await page.waitForSelector('input[type=password]')
      seen.push(
        await page.evaluate<number>(
          'new Promise((done) => new PerformanceObserver((list) => done(list.getEntriesByName' +
            "('first-contentful-paint')[0].startTime)).observe({ type: 'paint', buffered: true }))",
        ),
      )
      await page.context().close()
    }
    expect(Math.min(...seen)).toBeLessThanOrEqual(1000)
  })

  it('has no script and no style but files of its own', () => {
    const html = readFileSync(join(built, 'index.html'), 'utf8')
    expect(html).not.toMatch(/<style|style=|<script(?![^>]* src="\/console\/assets\/)| on\w+=/)
    const scripts = readdirSync(join(built, 'assets')).filter((name) => name.endsWith('.js'))
    for (const name of scripts) {
      const text = readFileSync(join(built, 'assets', name), 'utf8')
      expect([
        name,
        /\beval\(|new Function\(|https?:\/\/(?!www\.w3\.org\/|\[|db-ip\.com`|example\.com|10\.0\.)/.exec(
          text,
        )?.[0],
      ]).toEqual([name, undefined])
    }
    const pages = join(packageRoot, 'src/console/page')
    const sources = readdirSync(pages, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.tsx?$/.test(name),
    )
    const unsafe = sources.filter((name) =>
      /dangerouslySetInnerHTML|innerHTML|\bstyle=/.test(readFileSync(join(pages, name), 'utf8')),
    )
    expect(unsafe).toEqual([])
  })

  it('asked nobody else, and the browser had nothing to complain of', () => {
    const { origin } = new URL(server.url)
    expect(browser.asked.length).toBeGreaterThan(100)
    const isOwn = (url: string): boolean => url.startsWith(`${origin}/`) || url === 'data:,'
    expect(browser.asked.filter((url) => !isOwn(url))).toEqual([])
    expect(browser.complaints).toEqual([])
  })
})
