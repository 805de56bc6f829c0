// The console's page before a real server, in a real Chromium: what is done on the page is what the
// server then answers, hostile names are text, and other pages get nowhere.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { writeTable } from '../../build/write/write-table.ts'
import type { CheckAnswer } from '../../src/api/check-answer.ts'
import { type TestBrowser, startBrowser } from '../browser.ts'
import { describeWith } from '../deploy/need.ts'
import { type Server, keyedState, newState, startServer } from '../serve/server.ts'
import { newTable } from '../serve/small-tables.ts'
import { smallContent } from '../table/small-table.ts'
import { makeKey, signIn } from './console-page.ts'

const token = 'a'.repeat(32)
const hostile = '"><img src=x onerror="window.harmed=1"><script>window.harmed=1</script>'

describeWith('chromium', ['--version'], () => {
  let server: Server
  let browser: TestBrowser
  let page: Page
  let policies: string
  let key = ''

  async function check(ip: string, by = key): Promise<CheckAnswer> {
    const response = await fetch(`http://127.0.0.1:${server.port}/v1/intelligence/ip-risk/check`, {
      method: 'POST',
      headers: { authorization: `Bearer ${by}` },
      body: JSON.stringify({ ip }),
    })
    return (await response.json()) as CheckAnswer
  }

  const url = (hash: string): string => `http://127.0.0.1:${server.adminPort}/console${hash}`
  async function show(hash: string, shows: string): Promise<void> {
    await page.goto(url(hash))
    await page.waitForSelector(shows, { state: 'attached' })
  }

  beforeAll(async () => {
    const keyed = await keyedState()
    key = keyed.key
    const folder = newState()
    const file = join(folder, 'token')
    writeFileSync(file, token, { mode: 0o600 })
    policies = join(folder, 'policies.json')
    const rules = [{ name: 'tor', condition: 'signals.tor', action: 'block' }]
    const text = { policies: { default: { description: 'Ours', rules, otherwise: 'allow' } } }
    writeFileSync(policies, JSON.stringify(text), { mode: 0o644 })
    const table = newTable()
    const content = smallContent()
    const [first, ...others] = content.sources
    writeTable(table, { ...content, sources: [{ ...first!, provider: hostile }, ...others] })
    const args = ['--admin-token-file', file, '--policies', policies]
    server = await startServer({ table, state: keyed.state, args })
    browser = await startBrowser([400, 401, 403, 409])
    page = await browser.newPage({ colorScheme: 'light', width: 1280 })
    await page.goto(url(''))
    await signIn(page, token)
    await page.waitForSelector('.top')
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop('SIGKILL')
  })

  it('shows of an address what the server answers', async () => {
    await show('#/address/9.1.2.3', '.score-bar')
    const { risk_score: score, classification, reasons } = await check('9.1.2.3')
    const shown = await page.innerText('main')
    expect(shown).toContain(`${score} of 100`)
    expect(shown).toContain(classification)
    for (const code of reasons) expect(shown).toContain(code)
    expect(shown).toContain('block by rule tor of default')
    await page.locator('.cell').nth(4).click()
    await page.waitForSelector('.panel-aside code:text-is("9.1.2.4")')
  })

  it('an entry of a list counts at once', async () => {
    await show('#/rules/lists', '.new-list')
    await page.fill('.new-list input', 'ours')
    await page.selectOption('.new-list select', 'allow')
    await page.click('text=Create list')
    await page.waitForSelector('h2:text("ours")')
    await page.fill('.add-entries textarea', '9.1.2.0/24')
    await page.fill('.add-entries input >> nth=0', hostile)
    await page.click('.add-entries button')
    await page.waitForSelector('.notice:has-text("1 added")')
    expect(await check('9.1.2.3')).toMatchObject({ risk_score: 0, lists: ['ours'] })
    await show('#/address/9.1.2.3', '.own-lists li')
    const own = await page.innerText('.own-lists')
    expect(own).toContain('9.1.2.0/24')
    expect(own).toContain(hostile)
    await show('#/rules/lists/ours', '[aria-label="Remove 9.1.2.0/24"]')
    await page.click('[aria-label="Remove 9.1.2.0/24"]')
    await page.click('dialog[open] >> text=Remove it')
    await page.waitForSelector('text=No entries.')
    expect((await check('9.1.2.3')).lists).toBeUndefined()
  })

  it('a policy decides once it is saved, and keeps what the page does not show', async () => {
    await show('#/rules/policies', '.rule')
    await page.locator('.rule textarea').last().fill('signals.vpn')
    await page.waitForSelector('text=The draft is valid.')
    const line = (ip: string) => `${ip} - - [22/Aug/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 1`
    const log = ['9.1.2.3', '9.200.1.1', '9.200.1.2'].map(line).join('\n')
    const file = { name: 'access.log', mimeType: 'text/plain', buffer: Buffer.from(log) }
    await page.setInputFiles('input[type=file]', file)
    await page.waitForSelector('text=would get another decision')
    await expect.poll(() => page.innerText('main')).toContain('Example VPN')
    await page.click('button:text("Save")')
    await page.click('dialog[open] >> text=Save >> nth=-1')
    await page.waitForSelector('text=This is in effect.')
    expect((await check('9.200.1.1')).decision).toMatchObject({ action: 'block', rule: 'tor' })
    expect((await check('9.1.2.3')).decision?.action).toBe('allow')
    expect(readFileSync(policies, 'utf8')).toContain('"Ours"')
    await show('#/rules/audit', 'td')
    await expect.poll(() => page.innerText('main')).toContain('policies save')
  })

  it('a key works as soon as it is shown, and no more when it is revoked', async () => {
    await show('#/keys', 'td')
    await makeKey(page, 'shop')
    const secret = page.locator('code:text-matches("^irk_")').first()
    const made = await secret.innerText()
    expect((await check('9.1.2.3', made)).classification).toBe('tor')
    await page.click('[aria-label="Revoke shop"]')
    await page.click('dialog[open] >> text=Revoke key')
    await expect.poll(async () => 'error' in (await check('9.1.2.3', made))).toBe(true)
    await expect.poll(() => page.innerText('main')).not.toContain('irk_')
  })

  it('tables, feeds and traffic are those of the server', async () => {
    await show('#/table', 'td')
    await expect.poll(() => page.innerText('main')).toContain((await check('9.1.2.3')).table)
    // It has had one table only.
    await expect.poll(() => page.isDisabled('button:text("Roll back")')).toBe(true)
    await expect.poll(() => page.innerText('main')).toContain(hostile)
    await show('#/traffic', 'h1:text("Traffic")')
  })

  it('a page of another origin can neither change nor frame it', async () => {
    const framed = `<iframe src="${url('')}"></iframe>`
    const site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(`<!doctype html><title>evil</title>${framed}`)
    })
    await new Promise<void>((resolve) => void site.listen(0, '127.0.0.1', resolve))
    const { port } = site.address() as AddressInfo
    const other = await page.context().newPage()
    await other.goto(`http://127.0.0.1:${port}/`)
    const lists = `http://127.0.0.1:${server.adminPort}/admin/lists`
    const said = await other.evaluate<string>(
      `fetch('${lists}', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"name":"evil"}' })
        .then(({ type }) => type, String)`,
    )
    expect(said).toBe('opaque')
    await other.waitForLoadState('networkidle')
    expect(other.frames().map((frame) => frame.url())).not.toContain(url(''))
    await other.close()
    site.close()
    await show('#/rules/lists', '.new-list')
    await expect.poll(() => page.innerText('main')).not.toContain('evil')
  })

  it('nothing of a feed or of a note became a part of the page', async () => {
    expect(await page.evaluate('window.harmed')).toBeUndefined()
    expect(new Set(browser.asked.map((asked) => new URL(asked).hostname))).toEqual(
      new Set(['127.0.0.1']),
    )
  })
})
