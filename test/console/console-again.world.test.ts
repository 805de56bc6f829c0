// The console's page before a real server, where a thing is done a second time, or by two at once:
// two admins, back from another view, a session that ended. Two tabs: console-tabs.world.test.ts.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestBrowser, startBrowser } from '../browser.ts'
import { describeWith } from '../deploy/need.ts'
import { type Server, keyedState, newState, startServer } from '../serve/server.ts'
import { newTable, replaceTable } from '../serve/small-tables.ts'
import { signIn } from './console-page.ts'

const token = 'a'.repeat(32)
const policiesText = (description: string): string =>
  JSON.stringify({
    policies: {
      default: {
        description,
        rules: [{ name: 'tor', condition: 'signals.tor', action: 'block' }],
        otherwise: 'allow',
      },
    },
  })

describeWith('chromium', ['--version'], () => {
  let server: Server
  let browser: TestBrowser
  let page: Page
  let policies: string
  let table: string

  const url = (hash: string): string => `http://127.0.0.1:${server.adminPort}/console${hash}`
  async function show(hash: string, shows: string): Promise<void> {
    await page.goto(url(hash))
    await page.waitForSelector(shows, { state: 'attached' })
  }
  const noticed = (text: string) => page.waitForSelector(`.notice:has-text("${text}")`)
  const condition = () => page.locator('.rule textarea').last()

  beforeAll(async () => {
    const { state } = await keyedState()
    const folder = newState()
    const file = join(folder, 'token')
    writeFileSync(file, token, { mode: 0o600 })
    policies = join(folder, 'policies.json')
    writeFileSync(policies, policiesText('Ours'), { mode: 0o644 })
    const args = ['--admin-token-file', file, '--policies', policies]
    table = newTable()
    server = await startServer({ table, state, args })
    browser = await startBrowser([400, 401, 403, 409])
    page = await browser.newPage({ colorScheme: 'light', width: 1280 })
    await page.goto(url('#/address/9.1.2.3'))
    await signIn(page, token)
    await page.waitForSelector('.score-bar')
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop('SIGKILL')
  })

  it('a tab is named for its address, and asks again for the same one', async () => {
    await expect.poll(() => page.title()).toBe('9.1.2.3 · iprisk console')
    const again = page.waitForResponse((response) => response.url().endsWith('?ip=9.1.2.3'))
    await page.click('button:text("Look up")')
    expect((await again).status()).toBe(200)
    await page.click('nav >> text=Address')
    await page.waitForSelector('.invitation')
    await expect.poll(() => page.title()).toBe('Address · iprisk console')
  })

  it('many addresses are still there when one comes back from one of them', async () => {
    await show('#/bulk', 'textarea')
    await page.fill('textarea', '9.1.2.3\n9.200.1.1')
    await page.click('button:text("Look up")')
    await page.fill('input[type=search]', 'tor')
    await page.click('td a:text-is("9.1.2.3")')
    await page.waitForSelector('.score-bar')
    await page.goBack()
    await page.waitForSelector('td a:text-is("9.1.2.3")')
    await expect.poll(() => page.inputValue('textarea')).toBe('9.1.2.3\n9.200.1.1')
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
  })

  it('imports a file after its preview, and tells the line of a mistake', async () => {
    await show('#/rules/lists', '.new-list')
    await page.fill('.new-list input', 'ours')
    await page.click('text=Create list')
    await page.waitForSelector('h2:text("ours")')
    await expect.poll(() => page.innerText('.menu')).toContain('ours')
    await page.click('summary:text("Import a file")')
    const take = (text: string): Promise<void> => {
      const buffer = Buffer.from(text)
      const file = { name: 'ours.txt', mimeType: 'text/plain', buffer }
      return page.setInputFiles('input[type=file]', file)
    }
    await take('9.1.2.3\n')
    await page.click('dialog button:text-is("Import")')
    await noticed('1 added')
    await take('9.1.2.4\n\n\nnonsense\n')
    await page.waitForSelector('dialog:has-text("lines:4")')
    await page.click('dialog button:text-is("Cancel")')
    await take('9.1.2.4\n\n\nnonsense\nand more\n')
    await page.waitForSelector('.problem:has-text("lines:5")')
    await page.check('text=replace existing entries')
    await take(`9.1.2.5\n# ${'x'.repeat(1_500_000)}\n9.1.2.3\n`)
    await noticed('Import it with')
    const entries = () => page.locator('tbody code').allInnerTexts()
    await expect.poll(entries).toEqual(['9.1.2.3'])
    await take('# nobody\n')
    await page.click('button:text("Replace entries")')
    await noticed('1 removed')
    // The notice comes before the list has been read again.
    await expect.poll(entries).toEqual([])
  })

  it('keeps a draft while another view is shown, and until whoever wrote it signs out', async () => {
    await show('#/rules/policies', '.rule')
    await condition().fill('signals.vpn')
    await page.click('nav >> text=Audit')
    await page.click('nav >> text=Policies')
    await page.waitForSelector('.rule')
    await expect.poll(() => condition().inputValue()).toBe('signals.vpn')
    // The session ends: the next look for mistakes says so.
    await page.context().clearCookies()
    await condition().fill('signals.proxy')
    await page.waitForSelector('input[type=password]')
    await signIn(page, token)
    await page.waitForSelector('.rule')
    await expect.poll(() => condition().inputValue()).toBe('signals.proxy')
    await page.click('text=Sign out')
    await signIn(page, token)
    await page.waitForSelector('.rule')
    await expect.poll(() => condition().inputValue()).toBe('signals.tor')
  })

  it('does not save over what another admin has only described otherwise', async () => {
    await condition().fill('signals.vpn')
    await page.waitForSelector('text=The draft is valid.')
    writeFileSync(policies, policiesText('Theirs'))
    const save = async (): Promise<void> => {
      await page.click('button:text("Save")')
      await page.click('dialog[open] >> text=Save >> nth=-1')
    }
    await save()
    await page.waitForSelector('.problem:has-text("changed in the meantime")')
    expect(readFileSync(policies, 'utf8')).toBe(policiesText('Theirs'))
    // The draft that comes next is one of the file as it is read now.
    const read = page.waitForResponse(
      (response) =>
        response.url().endsWith('/admin/policies') && response.request().method() === 'GET',
    )
    await page.click('text=Discard')
    await (await read).finished()
    await page.waitForSelector('text=This is in effect.')
    await expect.poll(() => page.locator('.problem').count()).toBe(0)
    await condition().fill('signals.vpn')
    await page.waitForSelector('text=The draft is valid.')
    await save()
    await noticed('Policies saved')
    expect(readFileSync(policies, 'utf8')).toContain('"Theirs"')
  })

  it('says of a rehearsal that its draft was changed since', async () => {
    await page.waitForSelector('text=This is in effect.')
    const line = '9.1.2.3 - - [22/Aug/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 1\n'
    const file = { name: 'access.log', mimeType: 'text/plain', buffer: Buffer.from(line) }
    await page.setInputFiles('input[type=file]', file)
    await page.waitForSelector('h3:text("Decisions")')
    const said = page.locator('text=The draft has changed since.')
    expect(await said.count()).toBe(0)
    await condition().fill('signals.hosting')
    await said.waitFor()
  })

  it('shows feeds and changes of the table that answers, whoever took it in', async () => {
    await show('#/table', 'text=There is no earlier table.')
    replaceTable(table, '2026-08-23')
    const sent = await fetch(`http://127.0.0.1:${server.adminPort}/admin/table/reload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: '{"force":true}',
    })
    expect(sent.status).toBe(200)
    await page.waitForSelector('.panel-aside:has-text("against 20260822")')
  })

  it('says that it shows the newest keys alone, where there are more, and which have ended', async () => {
    await page.route('**/admin/keys', async (route) => {
      const response = await route.fetch()
      const { keys } = (await response.json()) as { readonly keys: readonly object[] }
      const ended = keys.map((key) => ({
        ...key,
        state: 'expired',
        expires: '2026-08-22T00:00:00Z',
      }))
      await route.fulfill({ response, json: { keys: ended, total: 5000 } })
    })
    await show('#/keys', 'td')
    await expect
      .poll(() => page.innerText('main'))
      .toContain('These are the newest 1 of 5,000 keys.')
    await expect.poll(() => page.innerText('tbody')).toContain('expired 2026-08-22')
  })
})
