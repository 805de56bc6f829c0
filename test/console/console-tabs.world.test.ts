// The login of the console in a real Chromium before a real server: what tabs of the console share,
// and that a server on another port of the same host, which the browser hands the cookie to, can do
// nothing with it.

import { type Server as Site, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type TestBrowser, startBrowser } from '../browser.ts'
import { describeWith } from '../deploy/need.ts'
import { type Server, keyedState, newState, startServer } from '../serve/server.ts'
import { newTable } from '../serve/small-tables.ts'
import { adminClient, ownPage } from './console-client.ts'
import { signIn } from './console-page.ts'

const tokens = { admin: 'a'.repeat(32), viewer: 'c'.repeat(32) } as const

describeWith('chromium', ['--version'], () => {
  let server: Server
  let browser: TestBrowser
  let page: Page

  const url = (hash = ''): string => `http://127.0.0.1:${server.adminPort}/console${hash}`
  const isIn = (tab: Page) => tab.waitForSelector('.top')
  const isOut = (tab: Page) => tab.waitForSelector('input[type=password]')
  const role = (tab: Page) => tab.innerText('.who span')
  const stored = (tab: Page): Promise<unknown> =>
    tab.evaluate("sessionStorage.getItem('iprisk-session')")
  async function newTab(hash = ''): Promise<Page> {
    const tab = await page.context().newPage()
    await tab.goto(url(hash))
    return tab
  }
  const noSession = async (): Promise<void> => {
    await page.context().clearCookies()
  }

  beforeAll(async () => {
    const { state } = await keyedState()
    const folder = newState()
    const [admin, more] = [join(folder, 'token'), join(folder, 'tokens')]
    writeFileSync(admin, tokens.admin, { mode: 0o600 })
    writeFileSync(more, `viewer wall ${tokens.viewer}\n`, { mode: 0o600 })
    const args = ['--admin-token-file', admin, '--admin-tokens-file', more]
    server = await startServer({ table: newTable(), state, args })
    browser = await startBrowser([401, 403])
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop('SIGKILL')
  })
  beforeEach(async () => {
    page = await browser.newPage({ colorScheme: 'light', width: 1280 })
    await page.goto(url('#/address/9.1.2.3'))
    await isOut(page)
    await signIn(page, tokens.admin)
    await isIn(page)
    return () => page.context().close()
  })

  it('a reload keeps the session, and a second tab is in without a login', async () => {
    await page.reload()
    await isIn(page)
    const other = await newTab('#/keys')
    await other.waitForSelector('td')
    expect(await stored(other)).toBe(await stored(page))
    // Its own reload asks no other tab.
    await page.close()
    await other.reload()
    await isIn(other)
  })

  it('a server on another port of the host has the cookie, and can do nothing with it', async () => {
    let cookie = ''
    const site: Site = createServer((request, response) => {
      cookie = request.headers.cookie ?? cookie
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>evil</title>')
    })
    await new Promise<void>((resolve) => void site.listen(0, '127.0.0.1', resolve))
    const { port } = site.address() as AddressInfo
    try {
      const evil = await page.context().newPage()
      await evil.goto(`http://127.0.0.1:${port}/`)
      expect(cookie).toMatch(/^iprisk_console_\d+=[\w-]{43}$/)
      // The server asks, as a browser of the console's own page would.
      const ask = adminClient(server.adminPort)
      const headers = { ...ownPage, cookie }
      for (const [method, path] of [
        ['GET', '/console/session'],
        ['GET', '/admin/keys'],
        ['HEAD', '/admin/keys'],
        ['POST', '/admin/keys'],
        ['POST', '/console/logout'],
      ] as const) {
        const reply = await ask(method, path, { headers, body: { name: 'evil', plan: 'team' } })
        expect([method, path, reply.status]).toEqual([method, path, 401])
        expect(reply.text).not.toContain('"csrf"')
      }
      // Its page asks, and asks the console's tabs.
      const keys = `http://127.0.0.1:${server.adminPort}/admin/keys`
      const asked = await evil.evaluate<string[]>(`Promise.all([
        fetch('${keys}', { credentials: 'include' }).then(() => 'read', () => 'refused'),
        fetch('${keys}', { method: 'POST', credentials: 'include', body: '{"plan":"team"}',
          headers: { 'x-iprisk-csrf': 'x' } }).then(() => 'made', () => 'refused'),
        fetch('${keys}', { method: 'POST', mode: 'no-cors', credentials: 'include',
          body: '{"plan":"team"}' }).then(({ type }) => type),
        new Promise((resolve) => {
          const channel = new BroadcastChannel('iprisk-session')
          channel.onmessage = ({ data }) => resolve(data.kind)
          channel.postMessage({ kind: 'asked' })
          setTimeout(() => resolve('nobody answers'), 1000)
        }),
        sessionStorage.getItem('iprisk-session') ?? 'nothing',
      ])`)
      expect(asked).toEqual(['refused', 'refused', 'opaque', 'nobody answers', 'nothing'])
      // A cookie of the same name that it sets beside the session's does not close the console.
      const [name] = cookie.split('=')
      const more = { name: name!, value: 'A'.repeat(43), domain: '127.0.0.1', path: '/admin' }
      await page.context().addCookies([more])
      await page.goto(url('#/keys'))
      await page.waitForSelector('td')
      await expect.poll(() => page.innerText('tbody')).not.toContain('evil')
      await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
    } finally {
      site.close()
      site.closeAllConnections()
    }
  })

  it('a logout in one tab ends the others and clears them', async () => {
    await page.goto(url('#/bulk'))
    await page.fill('textarea', '9.1.2.3')
    const other = await newTab()
    await isIn(other)
    await other.click('text=Sign out')
    await isOut(page)
    expect([await stored(page), await stored(other)]).toEqual([null, null])
    await page.reload()
    await isOut(page)
    // A login in one of them brings the others in.
    await signIn(other, tokens.viewer)
    await isIn(page)
    expect(await role(page)).toBe('viewer')
    await expect.poll(() => page.inputValue('textarea')).toBe('')
  })

  it('a session that has ended is dropped by every tab', async () => {
    const other = await newTab()
    await isIn(other)
    await noSession()
    await page.click('button:text("Look up")')
    await isOut(page)
    await isOut(other)
    expect([await stored(page), await stored(other)]).toEqual([null, null])
    // As does a page that comes back from the back/forward cache.
    await signIn(page, tokens.admin)
    await isIn(page)
    await noSession()
    await page.evaluate(
      "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })) && undefined",
    )
    await isOut(page)
  })

  it('a tab that missed a login uses it, and repeats no request by itself', async () => {
    await page.goto(url('#/rules/lists'))
    await page.waitForSelector('.new-list')
    await page.fill('.new-list input', 'ours')
    const other = await newTab()
    await isIn(other)
    await other.evaluate("sessionStorage.removeItem('iprisk-session')")
    await other.evaluate(`fetch('/console/login', { method: 'POST', body: '{"token":"${tokens.admin}"}' })
      .then((answer) => answer.json())
      .then(({ csrf }) => sessionStorage.setItem('iprisk-session', csrf))`)
    await other.reload()
    await isIn(other)
    await page.click('text=Create list')
    await page.waitForSelector('.notice:has-text("Try again.")')
    expect(await stored(page)).toBe(await stored(other))
    await page.click('text=Create list')
    await page.waitForSelector('h2:text("ours")')
  })
})
