// What people do at the console, done in a real Chromium: each view's main task on a wide light
// screen and on a dark phone of 360 px, by the keyboard alone where it says so, and what a role may
// not do is not offered.

import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Look, type TestBrowser, findingsOf, overhangOf, startBrowser } from '../browser.ts'
import { describeWith } from '../deploy/need.ts'
import { type OpenConsole, dayIn, makeKey, openConsole, signIn } from './console-page.ts'
import { type FixtureServer, startFixtureServer } from './fixture-server.ts'
import { hostile, setsView } from './fixture-views.ts'

const looks = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 360 },
] as const satisfies readonly Look[]

const logLine =
  '10.0.0.4 - - [22/Nov/2026:04:10:00 +0000] "GET / HTTP/1.1" 200 5 "-" "-" "185.220.101.33, 10.0.0.1"'

describeWith('chromium', ['--version'], () => {
  let server: FixtureServer
  let browser: TestBrowser
  let open: OpenConsole | undefined

  beforeAll(async () => {
    browser = await startBrowser([400, 401, 403, 409, 422])
  })
  afterAll(() => browser?.close())
  beforeEach(async () => {
    server = await startFixtureServer()
  })
  afterEach(async () => {
    await open?.page.context().close()
    open = undefined
    await server.stop()
  })

  async function start(look: Look, token = 'admin'): Promise<OpenConsole> {
    open = await openConsole(browser, server, look, token)
    return open
  }

  const main = (page: Page): Promise<string> => page.innerText('main')
  const dialog = 'dialog[open]'
  const saveDraft = async (page: Page): Promise<void> => {
    await page.click('button:text-is("Save"):enabled')
    await page.click(`${dialog} >> text=Save >> nth=-1`)
    await page.waitForSelector('text=This is in effect.')
  }

  describe.each(looks)('$colorScheme at $width px', (look) => {
    it('somebody signs in and out', async () => {
      const page = await browser.newPage(look)
      await page.goto(`${server.url}#/keys`)
      await signIn(page, 'wrong')
      await expect.poll(() => page.innerText('[role=alert]')).toContain('The token is wrong.')
      await signIn(page, 'admin')
      await page.waitForSelector('h1:text("Keys")')
      await page.reload()
      await page.waitForSelector('h1:text("Keys")')
      await page.click('text=Sign out')
      await page.waitForSelector('input[type=password]')
      await page.reload()
      await page.waitForSelector('input[type=password]')
      await page.context().close()
    })

    it('a link signs in once, and its secret does not stay in the URL', async () => {
      const page = await browser.newPage(look)
      await page.goto(`${server.url}#once=right-link`)
      await page.waitForSelector('.top')
      expect(page.url()).toBe(server.url)
      await page.click('text=Sign out')
      await page.waitForSelector('input[type=password]')
      await page.goto(`${server.url}#once=right-link`)
      await expect.poll(() => page.innerText('[role=alert]')).toContain('used already')
      expect(page.url()).toBe(server.url)
      await page.context().close()
    })

    it('the home page names what needs attention, and each number leads on', async () => {
      const { page, show } = await start(look)
      await show('#/', '.overview .bars li')
      const shown = await main(page)
      for (const text of ['residential-captured', 'status 404', '+30.9 %', 'AS60729'])
        expect(shown).toContain(text)
      await page.click('.figures a >> nth=3')
      await page.waitForSelector('h1:text("Traffic")')
      await page.goBack()
      await page.click('.overview a:text("AS60729")')
      await page.waitForSelector('h2:has-text("AS60729")')
      await expect.poll(() => main(page)).toContain('627 (+24) · 35.1 %')
      await page.fill('.ask input', '185.220.101.0/24')
      await page.press('.ask input', 'Enter')
      await page.waitForSelector('h2:has-text("185.220.101.0/24")')
      await page.click('nav >> text=Overview')
      await page.click('.overview a:text("residential-captured")')
      await page.waitForSelector('h1:text("Table and feeds")')
    })

    it('the line of a log becomes an answer, its reasons and its neighbours', async () => {
      const { page, show } = await start(look)
      await show('#/address', '.ask')
      await page.fill('.ask input', logLine)
      await page.waitForSelector('text=Addresses in this line:')
      await page.press('.ask input', 'Enter')
      await page.waitForSelector('.map path')
      expect(new URL(page.url()).hash).toBe('#/address/185.220.101.33')
      const bar = await page.getAttribute('.score-bar', 'aria-label')
      expect(bar).toBe('91: tor_exit_listed 85, blocklist_match 9, hosting_network 6, cap_tor -9')
      const strip = page.locator('.strip').first()
      await expect
        .poll(() => strip.getAttribute('aria-label'))
        .toMatch(/^listed on \d\d of \d\d days/)
      await page.selectOption('.asked select', 'tor-exit-list')
      await page.waitForSelector('.asked-answer >> text=41')
      await page.fill('.asked input', '60')
      await page.waitForSelector('.asked-answer >> text=12')
      await page.fill('.asked input.mono', '192.0.2.1')
      await page.press('.asked input.mono', 'Enter')
      const travelled = 'text=2,400 km in 1 hour, 2,400 km/h, not reliable (tor, hosting) challenge'
      await page.waitForSelector(`.asked-answer >> ${travelled}`)
      await page.selectOption('.asked select >> nth=1', 'a day ago')
      await page.waitForSelector('.asked-answer >> text=2,400 km in 24 hours, 100 km/h')
      await page.fill('.asked input.mono', 'office')
      await page.press('.asked input.mono', 'Enter')
      await page.waitForSelector('.asked-answer >> text=It must be one IPv4 or IPv6 address')
      await page.click('summary:text("The answer as JSON")')
      await expect.poll(() => page.innerText('.raw')).toContain('"classification": "tor"')
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.click('text=Copy as curl')
      const command = await page.evaluate<string>('navigator.clipboard.readText()')
      expect(command).toContain('/admin/address?ip=185.220.101.33')
      await page.locator('.cell').nth(32).click()
      await page.waitForSelector('.panel-aside code:text-is("185.220.101.32")')
      await page.goBack()
      await page.waitForSelector('.panel-aside code:text-is("185.220.101.33")')
    })

    it('an address is judged as on a past day', async () => {
      const { page, show } = await start(look, 'analyst')
      await show('#/address/185.220.101.33', '.map path')
      const judge = async (day: string): Promise<void> => {
        await page.fill('.panel input[type=date]', day)
        await page.click('text=Show verdict')
      }
      await judge('2025-01-01')
      await page.waitForSelector('.problem:has-text("There is no history in data.")')
      await judge('2026-07-13')
      await page.waitForSelector('h3:text("On 2026-07-13")')
      const shown = await main(page)
      for (const text of ['79', 'today’s networks and locations', '2026-05-02 – 2026-07-13'])
        expect(shown).toContain(text)
      await page.click('summary:text("Left out: 3 feeds without a snapshot up to that day")')
      await expect.poll(() => main(page)).toContain('block-spamhaus-drop, ')
      expect(await overhangOf(page)).toBe(0)
      expect(await findingsOf(page)).toEqual([])
    })

    it('ten thousand addresses become a table that sorts, filters and goes along', async () => {
      const { page, show } = await start(look)
      await show('#/bulk', 'textarea')
      const all = Array.from({ length: 10_050 }, (_, at) => `185.${at >> 8}.101.${at & 255}`)
      const log = {
        name: 'access.log',
        mimeType: 'text/plain',
        buffer: Buffer.from(`${all.map((ip) => `${ip} - - "GET /"`).join('\n')}\nno address\n`),
      }
      // Of `zstd -19`: two addresses.
      const zstd = 'KLUv/QRYuQAAMTg1LjIyMC4xMDEuMzMKOC44LjguOApUq1so'
      await page.setInputFiles('input[type=file]', {
        name: 'access.log.zst',
        mimeType: 'application/zstd',
        buffer: Buffer.from(zstd, 'base64'),
      })
      await page.waitForSelector('text=2 addresses')
      await page.setInputFiles('input[type=file]', log)
      await page.waitForSelector('.pager')
      expect(await main(page)).toContain('10,000 addresses · 1 line without one · 50 more')
      await page.click('th button:text("Score")')
      await expect.poll(() => page.locator('td.number').first().innerText()).toBe('83')
      await page.click('text=Next')
      await expect.poll(() => page.innerText('.pager')).toContain('101–200 of 10,000')
      await page.fill('.filter input', 'residential challenge')
      await expect.poll(() => page.innerText('.filter')).toMatch(/^Filter; \d+ rows of 10,000/)
      const download = page.waitForEvent('download')
      await page.click('text=Download CSV')
      const csv = readFileSync(await (await download).path(), 'utf8').split('\r\n')
      expect(csv[0]).toMatch(/^ip,classification,/)
      expect(csv.slice(1, -1).every((line) => line.includes('residential_proxy'))).toBe(true)
      await page.fill('.filter input', 'proxy >= 80, tor')
      await page.waitForSelector('text=No row matches.')
      await page.fill('.filter input', '>= 80')
      await page.click('.bars button:text-is("IN")')
      await expect.poll(() => page.inputValue('.filter input')).toBe('>= 80 IN')
      await page.waitForSelector('.shares .bars:has-text("IN"):not(:has-text("DE"))')
    })

    it('traffic is drawn, walked along by the keyboard, and says what it means', async () => {
      const { page, show } = await start(look)
      await show('#/traffic', '.plot canvas')
      const plot = page.locator('.plot').first()
      await plot.focus()
      const newest = await plot.getAttribute('aria-valuetext')
      expect(newest).toMatch(/^04:08 UTC: clean \d+\/s, /)
      await page.keyboard.press('ArrowLeft')
      await page.keyboard.press('ArrowLeft')
      await expect.poll(() => plot.getAttribute('aria-valuetext')).toMatch(/^04:06 UTC/)
      await page.click('label:text("1 h")')
      await expect.poll(() => plot.getAttribute('aria-valuemax')).toBe('59')
      await page.click('h2 a:text("Time to answer")')
      await page.waitForSelector('.is-meant:has-text("iprisk_request_duration_seconds")')
    })

    it('the feeds are refreshed, and a refused rollback says why', async () => {
      const { page, show } = await start(look)
      await show('#/table', '.spark')
      const changed = '48,213 IPv4 addresses and 70,656 /64s of IPv6 changed.'
      await expect.poll(() => main(page)).toContain(changed)
      expect(await main(page)).toContain('proxy-free-lists is in quarantine: It shrank')
      await page.click('text=Refresh the feeds')
      await page.waitForSelector('text=Refresh: fetching 12 of 90')
      await page.click('button:text("Roll back")')
      await page.click(`${dialog} >> text=Roll back >> nth=-1`)
      const refused = page.locator('.notice.is-bad:has-text("There is no earlier table")')
      await refused.waitFor()
      await refused.locator('button:text("Close")').click()
      await refused.waitFor({ state: 'detached' })
      await page.fill('.filter input', 'tor')
      await expect.poll(() => page.innerText('.filter')).toContain('1 feed')
    })

    it('an entry goes into a list, is found, and goes again', async () => {
      const { page, show } = await start(look, 'analyst')
      await show('#/address/192.0.2.7', 'text=Add to a list')
      await page.click('text=Add to a list')
      await page.waitForSelector('.add-entries')
      await expect.poll(() => page.inputValue('.add-entries textarea')).toBe('192.0.2.7')
      await page.selectOption('.add-entries select', '7d')
      await page.fill('.add-entries input >> nth=0', 'asked for by the help desk')
      await page.click('.add-entries button')
      await page.click('.notice:has-text("1 added; in effect") button:text("Undo")')
      await page.waitForSelector('.notice:has-text("1 removed")')
      expect(server.fixture.acts).toContain('POST /admin/lists/attackers/undo')
      await page.fill('.filter input', 'help desk')
      await page.waitForSelector('td:has-text("2026-11-29 04:10 UTC")')
      await page.click('[aria-label="Remove 192.0.2.7"]')
      await page.click(`${dialog} >> text=Remove it`)
      await page.waitForSelector('text=No entry matches.')
      await page.fill('.add-entries textarea', 'nonsense!')
      await page.click('.add-entries button')
      await page.waitForSelector('.add-entries [role=alert]:has-text("is no entry")')
      await page.fill('.new-list input', 'tests')
      await page.selectOption('.new-list select', 'block')
      await page.click('text=Create list')
      await page.waitForSelector('h2:text("tests")')
      await page.click('text=Import a file')
      await page.setInputFiles('input[type=file]', {
        name: 'entries.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('192.0.2.1\n192.0.2.2\n'),
      })
      await page.click(`${dialog} >> button:text-is("Import")`)
      await page.waitForSelector('text=192.0.2.2')
      await page.click('button:text("Delete")')
      await page.click(`${dialog} >> text=Delete it`)
      await page.waitForSelector('h2:text("attackers")')
    })

    it('a policy is mended at the place of its mistake, rehearsed and saved', async () => {
      const { page, show } = await start(look)
      await show('#/rules/policies', '.rule')
      const condition = page.locator('.rule textarea').last()
      await condition.fill('risk_scor >= 60')
      const mistake = page.locator('.rule').last().locator('.warn')
      await expect
        .poll(() => mistake.allInnerTexts())
        .toEqual([expect.stringContaining('column 1')])
      await expect.poll(() => page.isDisabled('button:text("Save")')).toBe(true)
      await condition.fill('')
      await condition.pressSequentially('risk_sc')
      await page.keyboard.press('Enter')
      await expect.poll(() => condition.inputValue()).toBe('risk_score')
      await condition.pressSequentially(' >= 60 && "att')
      await page.click('[role=option]:text-is("attackers")')
      await condition.pressSequentially('" in lists && !(risk_level in ["')
      await page.keyboard.press('ArrowDown')
      await page.waitForSelector('[role=option][aria-selected=true]:text-is("medium")')
      expect([await findingsOf(page), await overhangOf(page)]).toEqual([[], 0])
      await page.keyboard.press('Enter')
      await condition.pressSequentially('"])')
      const whole = 'risk_score >= 60 && "attackers" in lists && !(risk_level in ["medium"])'
      await expect.poll(() => condition.inputValue()).toBe(whole)
      await page.waitForSelector('text=The draft is valid.')
      await condition.fill('risk_score >= 60')
      await page.keyboard.press('Control+ ')
      await page.waitForSelector('[role=option]:text-is("risk_level")')
      await page.keyboard.press('Escape')
      await page.waitForSelector('[role=listbox]', { state: 'detached' })
      await page.waitForSelector('text=The draft is valid.')
      await page.click('text=Rehearse on the sample')
      await page.waitForSelector('text=would get another decision')
      expect(await main(page)).toContain('allow → challenge')
      await page.locator('.rule').last().locator('text=only observe').click()
      await expect.poll(() => page.innerText('.steps')).toMatch(/Observe: [1-9] of/)
      await page.click('button:text("Enforce all")')
      await expect.poll(() => page.innerText('.steps')).toContain('Observe: 0 of')
      await page.click('button:text("Save")')
      await expect.poll(() => page.innerText(`${dialog} pre`)).toContain(': risk_score >= 60 → ')
      await page.click(`${dialog} >> text=Save >> nth=-1`)
      await page.waitForSelector('text=This is in effect.')
      expect(JSON.stringify(server.fixture.policies)).toContain('risk_score >= 60')
    })

    it('a policy is added, removed, and the first one is written', async () => {
      const { page, show } = await start(look)
      await show('#/rules/policies', '.rule')
      await expect.poll(() => page.locator('text=Remove default').count()).toBe(0)
      await page.fill('label:has-text("New policy") input', 'signup')
      await page.keyboard.press('Enter')
      await page.waitForSelector('button:text("signup")[aria-pressed=true]')
      await page.waitForSelector('text=The draft is valid.')
      await saveDraft(page)
      expect(Object.keys(server.fixture.policies as object)).toEqual(['default', 'signup'])
      await page.click('button:text-is("signup")')
      await page.click('text=Remove signup')
      await page.waitForSelector('text=The draft is valid.')
      await saveDraft(page)
      expect(Object.keys(server.fixture.policies as object)).toEqual(['default'])
      server.fixture.policies = null
      await page.reload()
      await page.waitForSelector('text=This server has no policies')
      await page.click('button:text-is("Add")')
      await saveDraft(page)
      expect(Object.keys(server.fixture.policies as object)).toEqual(['default'])
    })

    it('a key is made, shown once, rotated and revoked', async () => {
      const { page, show } = await start(look)
      await show('#/keys', 'td')
      await page.click('text=Create key')
      await expect.poll(() => page.locator('.fields :invalid').count()).toBe(3)
      expect(await page.locator('.secret').count()).toBe(0)
      await makeKey(page, 'a new service')
      await page.waitForSelector('text=irk_knew_the-secret')
      await page.click('text=Done')
      expect(await main(page)).not.toContain('irk_')
      await page.click('[aria-label="Rotate a new service"]')
      await page.click(`${dialog} >> text=Rotate secret`)
      await page.waitForSelector('text=irk_knew_another-secret')
      expect(await main(page)).toContain('The old secret works until 2026-11-23 04:10 UTC')
      await page.reload()
      await page.waitForSelector('td')
      expect(await main(page)).not.toContain('irk_')
      await page.click('[aria-label="Revoke a new service"]')
      await page.click(`${dialog} >> text=Revoke key`)
      await page.waitForSelector('.notice:has-text("The key a new service is revoked.")')
      await expect.poll(() => main(page)).not.toContain('a new service')
      await page.click('text=Show revoked')
      await expect.poll(() => main(page)).toContain('a new service')
    })
  })

  it('an old table is warned of, and the audit says who did what, and how', async () => {
    const { page, show } = await start(looks[0])
    await show('#/address/192.0.2.3', '.problem:has-text("The table is 12 days old")')
    await show('#/rules/audit', 'td')
    await page.selectOption('select', 'console')
    await expect
      .poll(() => page.locator('tbody tr').allInnerTexts())
      .toEqual([expect.stringMatching(/ada\s+console\s+lists add/)])
    await page.fill('[type=search]', 'rotate')
    await page.waitForSelector('text=No act matches.')
    await page.selectOption('select', '')
    await expect
      .poll(() => page.locator('tbody tr').allInnerTexts())
      .toEqual([expect.stringMatching(/deploy\s+command line\s+rotate/)])
  })

  it.each(looks)('a set is tried, and its key made, at $width px', async (look) => {
    const { page, show } = await start(look)
    await show('#/rules/sets', 'td button')
    const { hostname } = new URL(server.url)
    expect(await main(page)).toContain(`https://${hostname}:8080/lists/tor`)
    expect(await main(page)).toContain('1,201 IPv4, 188 IPv6')
    expect(await page.locator('td.number').nth(1).innerText()).toBe('−13')
    await page.locator('select').first().selectOption('nft')
    expect(await main(page)).toContain('/lists/tor?format=nft')
    expect(await main(page)).toContain('22,318')
    await page.click('[aria-label="Create a key for tor"]')
    await page.click(`${dialog} >> text=Create key`)
    await page.waitForSelector('.secret >> text=irk_knew_the-secret')
    expect(server.fixture.wishes).toEqual([{ name: 'list tor', plan: 'business', api: ['lists'] }])

    await page.fill('.stack input', 'abuse')
    await page.fill('.stack textarea', 'risk_score >= 75 &&\n  signals.tot')
    await page.click('text=Try it')
    await page.waitForSelector('[aria-invalid=true]')
    await expect
      .poll(() => page.innerText('.stack .warn'))
      .toContain('condition, line 2, column 3: signals has no member tot')
    await page.fill('.stack textarea', "decision.action != 'allow'")
    await page.click('text=Try it')
    await expect.poll(() => page.innerText('[role=alert]')).toContain('4,300,000 prefixes')
    await page.fill('.stack textarea', 'risk_score >= 60')
    await page.click('text=Try it')
    await page.waitForSelector('pre >> text=risk_score >= 60')
    expect(await main(page)).toMatch(/IPv4: 2,603 prefixes, 4,210,332 addresses/i)
    expect(await main(page)).toMatch(/IPv6: 1 prefix, 1 \/64$/im)
    expect(await main(page)).toContain(hostile)
    const member = await page.innerText('pre >> nth=-1')
    const { partners } = Object.fromEntries(
      setsView.sets.map(({ name, condition }) => [name, condition]),
    )
    expect(JSON.parse(`{${member}}`)).toEqual({
      lists: { published: { partners, abuse: 'risk_score >= 60' } },
    })
    expect([await findingsOf(page), await overhangOf(page)]).toEqual([[], 0])
    await page.fill('.stack input', 'tor')
    await page.waitForSelector('text=The set tor is built in')
    expect(await page.locator('pre >> text=risk_score').count()).toBe(0)
    await page.fill('.stack textarea', 'signals.vpn')
    await page.waitForSelector('.bars', { state: 'detached' })
  })

  it('all is reached by the keyboard alone', async () => {
    const page = await browser.newPage(looks[0])
    await page.goto(server.url)
    await page.waitForSelector('input[type=password]')
    await page.keyboard.press('Tab')
    await page.keyboard.type('admin')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.top')
    await page.keyboard.press('Tab')
    await page.waitForSelector('.skip:focus')
    await page.keyboard.press('/')
    await page.waitForSelector('.ask input:focus')
    await page.keyboard.type('185.220.101.33')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.cell.is-own')
    for (let i = 0; i < 40; i += 1) {
      await page.keyboard.press('Tab')
      if ((await page.locator('.cell:focus').count()) === 1) break
    }
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.panel-aside code:text-is("185.220.101.18")')
    expect(new URL(page.url()).hash).toBe('#/address/185.220.101.18')
    await page.context().close()
  })

  it('rules are changed and keys made by the keyboard alone', async () => {
    const { page, show } = await start(looks[0])
    /** To what matches a selector, and says a text where one is wanted. */
    const tabTo = async (selector: string, text = ''): Promise<void> => {
      const [matched, said] = [JSON.stringify(selector), JSON.stringify(text)]
      for (let i = 0; i < 80; i += 1) {
        const one = 'document.activeElement'
        const isThere = `${one}.matches(${matched}) && ${one}.textContent.includes(${said})`
        if (await page.evaluate<boolean>(isThere)) return
        await page.keyboard.press('Tab')
      }
      throw new Error(`Tab does not lead to ${selector} ${text}.`)
    }
    await show('#/rules/policies', '.rule')
    await tabTo('.rule:last-child textarea')
    await page.keyboard.press('Control+A')
    await page.keyboard.type('risk_score >= 61')
    await page.waitForSelector('text=The draft is valid.')
    await tabTo('button', 'Save')
    await page.keyboard.press('Enter')
    await tabTo(`${dialog} button.primary`)
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=This is in effect.')
    expect(JSON.stringify(server.fixture.policies)).toContain('risk_score >= 61')
    await show('#/rules/lists/attackers', 'td')
    await tabTo('.add-entries textarea')
    await page.keyboard.type('198.51.100.77')
    await tabTo('.add-entries button')
    await page.keyboard.press('Enter')
    await page.waitForSelector('td >> text=198.51.100.77')
    await show('#/keys', 'td')
    await tabTo('.fields input')
    await page.keyboard.type('by the keyboard')
    await tabTo('.fields select')
    await page.keyboard.type('team')
    await tabTo('.fields input[type=date]')
    const [year, month, day] = dayIn(90).split('-')
    await page.keyboard.type(`${month}${day}${year}`)
    await tabTo('button', 'Create key')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=irk_knew_the-secret')
  })

  it.each([
    ['viewer', 0, 0],
    ['analyst', 1, 0],
    ['admin', 1, 1],
  ])('%s is offered what that role may do', async (role, lists, admin) => {
    const { page, show } = await start(looks[0], role)
    await show('#/rules/lists/attackers', 'td')
    await expect.poll(() => page.locator('.add-entries').count()).toBe(lists)
    await expect.poll(() => page.locator('td button').count()).toBe(13 * lists)
    await expect.poll(() => page.locator('nav >> text=Keys').count()).toBe(admin)
    await show('#/table', '.spark')
    await expect.poll(() => page.locator('text=Refresh the feeds').count()).toBe(admin)
    await show('#/rules/policies', '.rule')
    await expect.poll(() => page.locator('button:text("Save")').count()).toBe(admin)
    await expect.poll(() => page.locator('text=Rehearse on the sample').count()).toBe(lists)
    await show('#/rules/sets', 'td')
    await expect.poll(() => page.locator('text=Create a key').count()).toBe(5 * admin)
    await expect.poll(() => page.locator('text=Try it').count()).toBe(lists)
    await page.goto(`${server.url}#/keys`)
    await page.waitForSelector(admin === 1 ? 'td' : 'text=Only admins can see keys')
    expect(server.fixture.acts.includes('GET /admin/keys')).toBe(admin === 1)
  })

  it('whoever asks for nonsense reads why, and a session that is over leads to the login', async () => {
    const { page, show } = await start(looks[0])
    await show('#/address/nonsense!', '[role=alert]')
    expect(await main(page)).toContain('nonsense! is no address.')
    await page.context().clearCookies()
    await page.click('text=Traffic')
    await page.waitForSelector('input[type=password]')
  })

  it('the browser had nothing to complain of', () => {
    expect(browser.complaints).toEqual([])
  })
})
