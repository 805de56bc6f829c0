// The reference as a person meets it: in a real Chromium, in both colour schemes, on a wide screen
// and on a phone of 360 px, with axe, which finds what keeps people out. Nothing that a page does
// leaves the machine, and "try it" asks the server that sent it.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Look,
  type TestBrowser,
  findingsOf,
  keepShot,
  looks,
  overhangOf,
  startBrowser,
} from '../../browser.ts'
import { describeWith } from '../../deploy/need.ts'
import { type Server, keyedState, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'

describeWith('chromium', ['--version'], () => {
  let server: Server
  let testKey = ''
  let browser: TestBrowser

  beforeAll(async () => {
    const keyed = await keyedState({ test: true })
    testKey = keyed.key
    server = await startServer({ table: writeSmallTable(), state: keyed.state })
    browser = await startBrowser([429, 503])
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  async function visit(
    path: string,
    look: Look,
    act: (page: Page) => Promise<void>,
  ): Promise<void> {
    const page = await browser.newPage(look)
    await page.goto(`http://127.0.0.1:${server.port}${path}`)
    await act(page)
    await page.context().close()
  }

  describe.each(looks)('$colorScheme at $width px', (how) => {
    it.each(['/docs', '/docs/errors'])(
      '%s keeps nobody out, and does not scroll sideways',
      (path) =>
        visit(path, how, async (page) => {
          for (const details of await page.locator('main details').all()) {
            await details.evaluate((one) => one.setAttribute('open', ''))
          }
          expect(await findingsOf(page)).toEqual([])
          expect(await overhangOf(page)).toBe(0)
          const name = `${path.replaceAll('/', '-').slice(1)}-${how.colorScheme}-${how.width}`
          await keepShot(page, name)
        }),
    )
  })

  it('a doc_url lands on its paragraph', () =>
    visit('/docs/errors#api_quota_exceeded', looks[2], async (page) => {
      const heading = page.locator(':target')
      expect(await heading.textContent()).toContain('api_quota_exceeded')
      const top = await heading.evaluate((one) => one.getBoundingClientRect().top)
      expect(top).toBeGreaterThanOrEqual(0)
      expect(top).toBeLessThan(800)
    }))

  describe('"try it"', () => {
    const tryIt = async (page: Page, key: string, address: string): Promise<string> => {
      await page.fill('#try-key', key)
      await page.selectOption('#try-case', address)
      await expect.poll(() => page.inputValue('#try-address')).toBe(address)
      await page.click('#try-form button')
      return page.locator('#try-status').filter({ hasNotText: 'Asking' }).innerText()
    }

    it.each([
      ['198.18.0.6', '200', '"classification": "tor"'],
      ['198.18.0.21', '429', '"code": "api_quota_exceeded"'],
      ['198.18.0.22', '503', '"code": "upstream_unavailable"'],
    ])('asks about %s with a test key, and shows %s', async (address, status, shown) => {
      await visit('/docs', looks[2], async (page) => {
        expect(await tryIt(page, testKey, address)).toContain(status)
        await expect.poll(() => page.innerText('#try-body')).toContain(shown)
        await expect.poll(() => page.innerText('#try-headers')).toContain('x-request-id')
        await expect.poll(() => page.innerText('#try-curl')).not.toContain(testKey)
        // The rest of the page is as it was looked at above.
        expect(await findingsOf(page, 'section[aria-labelledby=try]')).toEqual([])
        await page.locator('#try-curl').scrollIntoViewIfNeeded()
        await keepShot(page, `try-${status}`)
      })
    })

    it('takes no real key, and sends none', async () => {
      const before = browser.asked.length
      await visit('/docs', looks[0], async (page) => {
        expect(await tryIt(page, 'irk_abc_def', '198.18.0.6')).toContain('test keys only')
      })
      expect(browser.asked.slice(before).filter((url) => url.includes('/v1/'))).toEqual([])
    })
  })

  it('nothing left the machine, and the browser had nothing to complain of', () => {
    expect(browser.asked.length).toBeGreaterThan(30)
    const own = `http://127.0.0.1:${server.port}/`
    expect(browser.asked.filter((url) => !url.startsWith(own) && url !== 'data:,')).toEqual([])
    expect(browser.complaints).toEqual([])
  })
})
