// The reference as a person meets it: in a real Chromium, dark on a wide screen and light on a phone
// of 360 px, with axe, which finds what keeps people out. Nothing that a page does leaves the
// machine, and "try it" asks the server that sent it.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Look,
  type TestBrowser,
  axeLooks,
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

  describe.each(axeLooks)('$colorScheme at $width px', (how) => {
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
      return page.locator('#try-status').filter({ hasNotText: 'Sending' }).innerText()
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
        expect(await page.content()).not.toContain(testKey)
        // The rest of the page is as it was looked at above.
        expect(await findingsOf(page, 'section[aria-labelledby=try]')).toEqual([])
        await page.locator('#try-body').scrollIntoViewIfNeeded()
        await keepShot(page, `try-${status}`)
      })
    })

    it('takes no real key, and sends none', async () => {
      const before = browser.asked.length
      await visit('/docs', looks[0], async (page) => {
        expect(await tryIt(page, 'irk_abc_def', '198.18.0.6')).toContain('Only test keys')
      })
      expect(browser.asked.slice(before).filter((url) => url.includes('/v1/'))).toEqual([])
    })
  })

  describe('the examples', () => {
    const check = '[aria-labelledby=request-checkAddress]'

    it("name the server's own address, in the language that was chosen", () =>
      visit('/docs', looks[3], async (page) => {
        await page.click(`${check} .languages >> text=Python`)
        const shown = await page.locator('[data-language]:visible code').allInnerTexts()
        expect(shown).toHaveLength(11)
        for (const text of shown) {
          expect(text).toContain(`"http://127.0.0.1:${server.port}`)
          expect(text).toContain('import ')
        }
        expect(await page.content()).not.toContain('127.0.0.1:8080')
        expect(await page.evaluate('document.activeElement.textContent')).toBe('Python')
        expect(await findingsOf(page, check)).toEqual([])
        expect(await overhangOf(page)).toBe(0)
      }))

    it('follow the sample answer that was chosen', () =>
      visit('/docs', looks[0], async (page) => {
        await page.selectOption('#sample-name', 'vpn')
        expect(await page.innerText('#sample-checkAddress')).toContain('"classification": "vpn"')
        const shown = await page.locator(`${check} .calls code`).allTextContents()
        expect(shown.filter((text) => text.includes('198.18.0.5'))).toHaveLength(3)
      }))

    it('are copied by a button', () =>
      visit('/docs', looks[0], async (page) => {
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
        const button = page.locator(`${check} .calls button:visible >> text=Copy`)
        await button.click()
        await expect.poll(() => page.locator('button >> text=Copied').count()).toBe(1)
        const copied = await page.evaluate<string>('navigator.clipboard.readText()')
        expect(copied).toBe(await page.locator(`${check} .calls code`).first().textContent())
      }))

    it('stand there without scripts, in all languages', async () => {
      const page = await browser.newPage({ ...looks[2], javaScriptEnabled: false })
      await page.goto(`http://127.0.0.1:${server.port}/docs`)
      expect(await page.locator('[data-language]:visible').count()).toBe(33)
      for (const one of ['#search', '#try-form', 'main button']) {
        expect(await page.locator(`${one}:visible`).count()).toBe(0)
      }
      await page.context().close()
    })
  })

  describe('the search', () => {
    it.each([
      ['feedback', 'Report', 'request-reportOutcomes'],
      ['api quota', 'api_quota_exceeded', 'error-api_quota_exceeded'],
      ['percent_days', 'percent_days_seen', 'member-Proxy-percent_days_seen'],
      ['tor exit listed', 'tor_exit_listed', 'reason-tor_exit_listed'],
    ])('finds by "%s" %s, and leads there', (text, title, id) =>
      visit('/docs', looks[2], async (page) => {
        await page.keyboard.press('/')
        await page.keyboard.type(text)
        expect(await page.locator('#search-results a').first().innerText()).toContain(title)
        expect(await page.innerText('#search-status')).toMatch(/^\d+ of \d+ results$/)
        expect(await findingsOf(page, 'nav')).toEqual([])
        await page.keyboard.press('Enter')
        await expect.poll(() => page.evaluate('location.hash')).toBe(`#${id}`)
      }),
    )

    it('reports that it found nothing, and shows the contents when it is cleared', () =>
      visit('/docs/errors', looks[0], async (page) => {
        await page.fill('#search-text', 'zebra')
        expect(await page.innerText('#search-status')).toBe('0 of 0 results')
        expect(await page.locator('nav details:visible').count()).toBe(0)
        await page.press('#search-text', 'Escape')
        expect(await page.locator('nav details:visible').count()).toBe(1)
      }))
  })

  it('the contents mark where the reader is', () =>
    visit('/docs#classification-tor', looks[0], async (page) => {
      const current = page.locator('nav [aria-current]')
      await expect.poll(() => current.innerText()).toBe('tor')
      await page.evaluate('scrollTo(0, 0)')
      await expect.poll(() => current.getAttribute('href')).toBe('#start')
    }))

  it('nothing left the machine, and the browser had nothing to complain of', () => {
    expect(browser.asked.length).toBeGreaterThan(30)
    const own = `http://127.0.0.1:${server.port}/`
    expect(browser.asked.filter((url) => !url.startsWith(own) && url !== 'data:,')).toEqual([])
    expect(browser.complaints).toEqual([])
  })
})
