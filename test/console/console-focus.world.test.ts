// The console by keyboard, by ear and on paper: where the focus is after an act, what is said, what
// stays in sight in forced colours and in print.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, afterEach, expect, it } from 'vitest'
import { type TestBrowser, startBrowser } from '../browser.ts'
import { describeWith } from '../deploy/need.ts'
import { type OpenConsole, fillKey, makeKey, openConsole, views } from './console-page.ts'
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

  const focused = (): Promise<string> =>
    page.evaluate(`(() => {
      const { tagName, ariaLabel, textContent } = document.activeElement
      return tagName === 'BODY' ? 'nothing' : (ariaLabel ?? textContent)
    })()`)
  const press = (key: string): Promise<void> => page.keyboard.press(key)
  const ruleNames = (): Promise<string[]> =>
    page
      .locator('.rule .field:first-of-type input')
      .evaluateAll((all) => all.map((one) => (one as { readonly value?: string }).value ?? ''))

  it('a question that is answered by no gives the focus back to its button', async () => {
    await show(list, 'td button')
    const first = page.locator('td button').first()
    await first.focus()
    const label = await first.getAttribute('aria-label')
    for (const keys of [['Escape'], ['Tab', 'Enter']]) {
      await press('Enter')
      await page.waitForSelector('dialog[open]')
      for (const key of keys) await press(key)
      await page.waitForSelector('dialog', { state: 'detached' })
      await expect.poll(focused, { message: keys.join(' ') }).toBe(label)
    }
  })

  it('a table takes the focus of the row that was removed', async () => {
    await show(list, 'td button')
    const rows = await page.locator('tbody tr').count()
    await page.locator('td button').nth(2).focus()
    await press('Enter')
    await page.waitForSelector('dialog[open]')
    await press('Enter')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(rows - 1)
    await expect.poll(focused).toBe('Entries')
  })

  it('a rule that is moved up twice goes up twice', async () => {
    await show('#/rules/policies', '.rule')
    const [first, second, third, ...rest] = await ruleNames()
    await page.locator('.rule button:text-is("Up")').nth(2).focus()
    await press('Enter')
    await expect.poll(focused).toBe(`Move ${third} up`)
    await press('Enter')
    await expect.poll(ruleNames).toEqual([third, first, second, ...rest])
    // There is nowhere to go.
    await press('Enter')
    expect(await ruleNames()).toEqual([third, first, second, ...rest])
  })

  it('an address that is looked up is said, and the next one can be typed', async () => {
    await show('#/address', '.invitation')
    await page.locator('.ask input').focus()
    await page.keyboard.type('185.220.101.33')
    await press('Enter')
    const said = page.locator('main > [role=status]')
    await page.waitForSelector('.cell.is-own')
    await expect.poll(() => said.textContent()).toBe('185.220.101.33: tor, score 91, critical')
    await press('Control+A')
    await page.keyboard.type('8.8.8.8')
    await press('Enter')
    await expect.poll(() => page.title()).toContain('8.8.8.8')
    await expect.poll(() => page.inputValue('.ask input')).toBe('8.8.8.8')
    await page.goBack()
    await expect.poll(() => page.title()).toContain('185.220')
    await expect.poll(() => page.inputValue('.ask input')).toBe('185.220.101.33')
  })

  it('arrow keys walk on from the neighbour that Enter has opened', async () => {
    await show('#/address/185.220.101.33', '.cell.is-own')
    await page.locator('.cell.is-own').focus()
    for (const ip of ['185.220.101.34', '185.220.101.35']) {
      await press('ArrowRight')
      await press('Enter')
      await expect.poll(focused).toContain(`${ip}:`)
      await page.waitForSelector(`.is-own[aria-label^="${ip}:"]`)
    }
  })

  it('what has the focus is never below the head of the page', async () => {
    await page.setViewportSize({ width: 1280, height: 500 })
    const covered: unknown[] = []
    for (const { name, hash, shows } of views.filter((one) => one.name !== 'address')) {
      await show(hash, shows)
      await page.evaluate('scrollTo(0, 1e6)')
      await page.evaluate(
        "[...document.querySelectorAll('main :is(a, button, input)')].findLast((one) => {" +
          'one.focus(); return one === document.activeElement })',
      )
      for (let i = 0; i < 60; i += 1) {
        await press('Shift+Tab')
        // Whether it is in the page, and by how much it is below the head.
        const [isHere, by] = await page.evaluate<[boolean, number]>(`(() => {
          const one = document.activeElement
          const { top, height } = one.getBoundingClientRect()
          const head = document.querySelector('.top').getBoundingClientRect().bottom
          return [one.closest('main') !== null, height > 200 ? 0 : Math.max(0, head - top)]
        })()`)
        if (!isHere) break
        if (by > 1) covered.push([name, await focused(), by])
      }
    }
    expect(covered).toEqual([])
  })

  it('each new secret stays until somebody has it, and has the focus first', async () => {
    await show('#/keys', 'td')
    const secrets = page.locator('.secret')
    await makeKey(page, 'shop')
    await secrets.nth(0).waitFor()
    await page.locator('td button:text-is("Rotate")').first().focus()
    await press('Enter')
    await page.click('dialog[open] >> text=Rotate secret')
    await secrets.nth(1).waitFor()
    await page.waitForSelector('dialog', { state: 'detached' })
    await expect
      .poll(() => page.innerText('main'))
      .toContain('irk_knew_the-secret-that-is-shown-once')
    await expect.poll(() => page.innerText('main')).toContain('_another-secret')
    await expect.poll(focused).toBe('The new secret')
    await page.click('.secret:has-text("another-secret") >> text=Done')
    await expect.poll(() => secrets.allInnerTexts()).toEqual([expect.stringContaining('irk_knew_')])
  })

  it('two clicks while the server takes its time make one key', async () => {
    await show('#/keys', 'td')
    let asked = 0
    await page.route('**/admin/keys', async (route) => {
      if (route.request().method() === 'POST') asked += 1
      await new Promise((done) => setTimeout(done, 300))
      await route.fallback()
    })
    await fillKey(page, 'shop')
    await page.dblclick('button:text("Create key")')
    await page.waitForSelector('.secret')
    expect(asked).toBe(1)
  })

  it('forced colours leave the neighbours, the dots and where one is', async () => {
    await page.emulateMedia({ forcedColors: 'active' })
    await show('#/address/185.220.101.33', '.cell.is-own')
    const colours = (of: string, member: string): Promise<string[]> =>
      page.locator(of).evaluateAll((all, name) => {
        const window = globalThis as unknown as {
          getComputedStyle: (one: unknown) => Record<string, string>
        }
        return [...new Set(all.map((one) => window.getComputedStyle(one)[name] ?? ''))]
      }, member)
    expect((await colours('.cell', 'backgroundColor')).length).toBeGreaterThan(2)
    expect((await colours('.dot', 'backgroundColor')).length).toBeGreaterThan(2)
    expect((await colours('.top nav a', 'borderBottomColor')).length).toBe(2)
    await show('#/rules/policies', '.rule')
    expect(await colours('.tabs [aria-pressed=true]', 'outlineStyle')).toEqual(['solid'])
  })

  it('paper has every row of a table, and no bars of the window', async () => {
    await show('#/table', '.spark >> nth=5')
    await page.emulateMedia({ media: 'print' })
    const cut = await page.evaluate(
      "[...document.querySelectorAll('.scroll')].some((one) => one.scrollHeight > one.clientHeight + 2)",
    )
    expect([cut, await page.isVisible('.top')]).toEqual([false, false])
  })
})
