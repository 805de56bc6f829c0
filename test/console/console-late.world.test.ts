// The console's page where answers come late or not at all, and where there is more than it reads
// at once.

import type { Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type TestBrowser, startBrowser } from '../browser.ts'
import { describeWith } from '../deploy/need.ts'
import { type OpenConsole, openConsole } from './console-page.ts'
import { type FixtureServer, startFixtureServer } from './fixture-server.ts'

const wide = { colorScheme: 'light', width: 1280 } as const
const list = '#/rules/lists/attackers'

describeWith('chromium', ['--version'], () => {
  let server: FixtureServer
  let browser: TestBrowser
  let page: Page
  let show: OpenConsole['show']

  beforeAll(async () => {
    server = await startFixtureServer()
    browser = await startBrowser([401])
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })
  beforeEach(async () => {
    ;({ page, show } = await openConsole(browser, server, wide))
  })
  afterEach(() => page.context().close())

  it('a file that replaces a list asks first, and says so where it has no entry', async () => {
    await show(list, 'td button')
    await page.click('summary:text("Import a file")')
    await page.check('text=replace existing entries')
    const take = (text: string): Promise<void> => {
      const buffer = Buffer.from(text)
      const file = { name: 'ours.txt', mimeType: 'text/plain', buffer }
      return page.setInputFiles('input[type=file]', file)
    }
    const imports = () => server.fixture.acts.filter((act) => act.endsWith('/import')).length
    const dialog = page.locator('dialog[open]')
    await take('# nothing yet\n\n')
    await expect.poll(() => dialog.innerText()).toContain('one entry a line: 0 entries')
    await dialog.locator('text=Cancel').click()
    await dialog.waitFor({ state: 'detached' })
    expect(imports()).toBe(1)
    await take('192.0.2.1\n# a note\n192.0.2.2\n')
    await expect.poll(() => dialog.innerText()).toContain('2 would be added, 0 changed, 0 removed')
    await dialog.locator('text=Replace entries').click()
    await page.waitForSelector('.notice')
    // Two previews, and the import.
    expect(imports()).toBe(3)
  })

  it('a search that found nothing yet says how far it read, and reads on', async () => {
    const pages = 23
    const answer = async (route: Route): Promise<void> => {
      const after = Number(new URL(route.request().url()).searchParams.get('after') ?? 0)
      const shown = Array.from({ length: 1000 }, (_, at) => ({
        entry: `2001:db8:${after.toString(16)}::${at.toString(16)}`,
        added: '2026-11-20T09:30:00Z',
        ...(after === 21 && at === 7 ? { note: 'needle' } : {}),
      }))
      const next = after + 1 < pages ? String(after + 1) : null
      await route.fulfill({ json: { shown, next } })
    }
    await page.route('**/admin/lists/attackers*', answer)
    await show(list, 'td button')
    await page.fill('input[type=search]', 'needle')
    const text = 'None of the first 10,000 entries match; there are more.'
    await page.waitForSelector(`text=${text}`)
    await page.click('text=Continue')
    await page.waitForSelector('text=None of the first 20,000')
    await page.click('text=Continue')
    await page.waitForSelector('tbody tr:has-text("needle")')
    await page.fill('input[type=search]', 'hay')
    await page.waitForSelector('text=No entry matches.')
    await expect.poll(() => page.locator('text=Continue').count()).toBe(0)
  })

  it('a rehearsal goes on after a look that had no answer', async () => {
    await show('#/rules/policies', '.rule')
    let looks = 0
    await page.route('**/admin/rehearsals/r1', async (route) => {
      looks += 1
      await (looks === 1 ? route.abort() : route.fallback())
    })
    await page.click('text=Rehearse on the sample')
    await page.waitForSelector('.problem:has-text("does not answer")')
    await expect.poll(() => page.locator('.running').count()).toBe(1)
    await page.waitForSelector('h3:text("Decisions")')
    await expect.poll(() => page.locator('.problem').count()).toBe(0)
  })

  it('traffic says that it no longer follows, until it does again', async () => {
    await page.clock.install()
    await show('#/traffic', '.plot canvas >> nth=8')
    await page.route('**/admin/traffic*', (route) => route.abort())
    await page.clock.runFor(15_000)
    await page.waitForSelector('.problem:has-text("does not answer")')
    await expect.poll(() => page.locator('.plot canvas').count()).toBe(9)
    await page.unroute('**/admin/traffic*')
    await page.clock.runFor(15_000)
    await page.waitForSelector('.problem', { state: 'detached' })
  })
})
