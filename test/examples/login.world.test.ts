// The worked example in a real Chromium: each thing that iprisk can say of a visitor, and each way
// in which it can fail to, as a person meets it. IPRISK_TEST_SHOTS=docs/examples/login/screenshots
// makes the pictures of its README anew.

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { defaultPoliciesText } from '../../src/policy/default-policies.ts'
import {
  type Look,
  type TestBrowser,
  axeLooks,
  findingsOf,
  keepShot,
  overhangOf,
  startBrowser,
} from '../browser.ts'
import { describeWith } from '../deploy/need.ts'
import { writeDeclarations } from '../deploy/write-declarations.ts'
import { type Server, makeKey, newState, startServer } from '../serve/server.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { type ExampleLogin, exampleFolder, startExample } from './example-login.ts'

const small: Look = { colorScheme: 'light', width: 600 }
const password = 'a password that is long'

describeWith('chromium', ['--version'], () => {
  let example: ExampleLogin
  let iprisk: Server
  let browser: TestBrowser
  /** Applications beside the one of all tests, with other keys. */
  const others: ExampleLogin[] = []
  const pages: Page[] = []

  beforeAll(async () => {
    await writeDeclarations()
    const cwd = newState()
    writeFileSync(join(cwd, 'policies.json'), defaultPoliciesText({ observe: true }))
    example = await startExample('start.js', {}, cwd)
    const state = newState()
    const policies = ['--policies', `${exampleFolder}/policies.json`]
    iprisk = await startServer({ table: writeSmallTable(), state, args: policies })
    browser = await startBrowser([403])
    const page = await visitor(1)
    await fill(page, 'signup', 'ada@example.org')
    await page.waitForSelector('text=You are signed in')
  })
  afterAll(async () => {
    await browser?.close()
    for (const one of [example, ...others]) await one?.stop()
    await iprisk?.stop()
  })

  // Ten open pages take two cores from everybody else.
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.context().close()
  })

  /** Somebody new, who comes from the test address of that number. */
  async function visitor(number: number, look: Look = small, url = example.url): Promise<Page> {
    const page = await browser.newPage(look)
    pages.push(page)
    await page.goto(`${url}/try/${number}`)
    return page
  }

  async function fill(
    page: Page,
    form: 'login' | 'signup',
    email: string,
    word = password,
  ): Promise<void> {
    await page.fill(`form[action="/${form}"] [name=email]`, email)
    await page.fill(`form[action="/${form}"] [name=password]`, word)
    await page.click(`form[action="/${form}"] button`)
  }

  const title = (page: Page): Promise<string> => page.innerText('h1')
  const action = (page: Page): Promise<string> => page.innerText('#action')

  /** Ticks the box and waits for the proof; its text is what the form then sends. */
  async function solve(page: Page): Promise<string> {
    await page.click('altcha-widget label')
    await page.waitForSelector('altcha-widget [data-state=verified]')
    return page.inputValue('altcha-widget [name=altcha]')
  }

  const send = (page: Page, proof: string): Promise<unknown> =>
    page
      .evaluate(
        `document.querySelector('altcha-widget [name=altcha]').value = ${JSON.stringify(proof)}`,
      )
      .then(() => page.click('form[action="/challenge"] button'))

  async function isSignedIn(page: Page): Promise<boolean> {
    await page.goto(example.url)
    return (await title(page)) === 'You are signed in'
  }

  it('begins without a warning, whatever policies the folder has where it is started', () => {
    expect(example.output()).not.toContain('warning')
  })

  it('fits the types of the packed client', () => {
    const compiler = join(packageRoot, 'node_modules/typescript/bin/tsc')
    const run = spawnSync(process.execPath, [compiler, '-p', exampleFolder], { encoding: 'utf8' })
    expect([run.stdout, run.status]).toEqual(['', 0])
  })

  it('an ordinary user signs up, out and in', async () => {
    const page = await visitor(1)
    await keepShot(page, 'welcome')
    await fill(page, 'signup', 'grace@example.org')
    expect(await title(page)).toBe('You are signed in')
    expect(await action(page)).toBe('allow')
    await keepShot(page, 'allowed', 'aside')
    await page.click('text=Sign out')
    expect(await title(page)).toBe('Welcome')
    await fill(page, 'login', 'grace@example.org', 'not her password')
    await expect
      .poll(() => page.innerText('[role=alert]'))
      .toContain('no account with this email and password')
    await fill(page, 'login', 'Grace@example.org ')
    expect(await isSignedIn(page)).toBe(true)
  })

  describe('whoever is challenged', () => {
    it('signs in with a proof, and the verification has the insights', async () => {
      const page = await visitor(6)
      await fill(page, 'login', 'ada@example.org')
      expect(await title(page)).toBe('One more step')
      await keepShot(page, 'challenge', 'main')
      await solve(page)
      await page.click('text=Go on')
      expect(await title(page)).toBe('You are signed in')
      expect(await action(page)).toBe('challenge')
      await page.click('summary')
      const answer = JSON.parse(await page.innerText('#answer')) as Record<string, object>
      expect(answer).toMatchObject({
        classification: 'tor',
        decision: { policy: 'login', rule: 'high-score' },
        insights: { reasons: [{ code: 'tor_exit_listed', points: 85 }] },
      })
      expect(example.output()).toMatch(/^proved: 198\.18\.0\.6 .*"tor_exit_listed"/m)
      await page.locator('#answer').evaluate((one) => one.scrollTo(0, one.scrollHeight))
      await keepShot(page, 'challenge-solved', 'aside')
    })

    it('is kept out with a proof of something else, and may try again', async () => {
      const page = await visitor(6)
      await fill(page, 'login', 'ada@example.org')
      const proof = await solve(page)
      const { challenge, solution } = JSON.parse(atob(proof)) as {
        readonly challenge: { readonly parameters: object }
        readonly solution: { readonly counter: number }
      }
      const other = { challenge, solution: { ...solution, derivedKey: '00'.repeat(32) } }
      await send(page, btoa(JSON.stringify(other)))
      expect(await title(page)).toBe('One more step')
      await expect.poll(() => page.innerText('[role=alert]')).toContain('did not hold')
      await keepShot(page, 'challenge-failed', 'main')
      expect(await isSignedIn(page)).toBe(false)
      await page.goto(`${example.url}/challenge`)
      await solve(page)
      await page.click('text=Go on')
      expect(await isSignedIn(page)).toBe(true)
    })

    it('is kept out with a proof that was used, and without one', async () => {
      const first = await visitor(6)
      await fill(first, 'login', 'ada@example.org')
      const proof = await solve(first)
      await first.click('text=Go on')
      expect(await title(first)).toBe('You are signed in')

      const second = await visitor(6)
      await fill(second, 'login', 'ada@example.org')
      await solve(second)
      await send(second, proof)
      expect(await page403(second)).toContain('did not hold')
      const { status } = await second.request
        .post(`${example.url}/challenge`, {
          form: {},
          headers: { origin: example.url },
        })
        .then((response) => ({ status: response.status() }))
      expect(status).toBe(403)
      expect(await isSignedIn(second)).toBe(false)
    })

    it('is not told before the proof whether the password was right', async () => {
      const page = await visitor(5)
      await fill(page, 'login', 'ada@example.org', 'a wrong password')
      expect(await title(page)).toBe('One more step')
      await solve(page)
      await page.click('text=Go on')
      expect(await page403(page)).toContain('no account with this email and password')
      expect(await isSignedIn(page)).toBe(false)
    })

    it('is not let in at a later address that is blocked', async () => {
      const page = await visitor(6)
      await fill(page, 'login', 'ada@example.org')
      await page.goto(`${example.url}/try/8`)
      await page.goto(`${example.url}/challenge`)
      await solve(page)
      await page.click('text=Go on')
      expect(await title(page)).toBe('Not from this connection')
      expect(await isSignedIn(page)).toBe(false)
    })

    it('signs up with a proof, too', async () => {
      const page = await visitor(3)
      await fill(page, 'signup', 'alan@example.org')
      expect(await title(page)).toBe('One more step')
      await solve(page)
      await page.click('text=Go on')
      expect(await isSignedIn(page)).toBe(true)
    })
  })

  const page403 = (page: Page): Promise<string> => page.innerText('[role=alert]')

  it.each([
    ['login', 8, 'through a VPN and a residential proxy'],
    ['signup', 6, 'through the Tor network'],
    ['signup', 7, 'through a residential proxy'],
  ] as const)('whoever is blocked at %s from %i reads why', async (form, number, why) => {
    const page = await visitor(number)
    await fill(page, form, form === 'login' ? 'ada@example.org' : `of-${number}@example.org`)
    expect(await title(page)).toBe('Not from this connection')
    await expect.poll(() => page.innerText('main')).toContain(why)
    expect(example.output()).toContain(
      `refused ${await page.innerText('code')}: 198.18.0.${number}`,
    )
    if (form === 'login') await keepShot(page, 'blocked', 'aside')
    expect(await isSignedIn(page)).toBe(false)
  })

  it.each([
    [23, 'timeout', 'time-out'],
    [22, 'unavailable', 'away'],
  ])('lets everybody in where iprisk cannot say (%i: %s)', async (number, reason, name) => {
    const page = await visitor(number)
    await fill(page, 'login', 'ada@example.org')
    expect(await title(page)).toBe('You are signed in')
    expect(await action(page)).toBe('allow')
    await expect
      .poll(() => page.innerText('aside'))
      .toContain(`no answer about 198.18.0.${number}: ${reason}`)
    if (number === 23) await keepShot(page, name, 'aside')
  })

  it('asks for proof while the key’s rate is spent', async () => {
    const page = await visitor(21)
    await fill(page, 'login', 'ada@example.org')
    expect(await title(page)).toBe('One more step')
    await solve(page)
    await page.click('text=Go on')
    expect(await title(page)).toBe('You are signed in')
    await expect
      .poll(() => page.innerText('aside'))
      .toContain('no answer about 198.18.0.21: limited')
  })

  it('lets everybody in with a wrong key, and says so where its operator looks', async () => {
    const wrong = await startExample('server.js', {
      IPRISK_URL: `http://127.0.0.1:${iprisk.port}`,
      IPRISK_KEY: 'irkt_0rhGxEULyzQd_qgM20LeJrkzKeVAi4FKmFFGOwANHTBbi3Rt7pk',
    })
    others.push(wrong)
    const page = await visitor(8, small, wrong.url)
    await fill(page, 'signup', 'ada@example.org')
    expect(await title(page)).toBe('You are signed in')
    await expect.poll(() => page.innerText('aside')).toContain('misconfigured')
    expect(wrong.output()).toContain(
      'iprisk is misconfigured; 1 request was not checked: "invalid_api_key',
    )
    expect(wrong.output()).not.toContain('qgM20LeJrkzKeVAi4FKmFFGOwANHTBbi3Rt7pk')
    await keepShot(page, 'wrong-key', 'aside')
  })

  it('has no insights with a key whose plan has none', async () => {
    const policies = ['login', 'signup']
    const key = await makeKey(iprisk.state, { plan: 'team', test: true, policies })
    const team = await startExample('server.js', {
      IPRISK_URL: `http://127.0.0.1:${iprisk.port}`,
      IPRISK_KEY: key,
    })
    others.push(team)
    const page = await visitor(3, small, team.url)
    await fill(page, 'signup', 'ada@example.org')
    await solve(page)
    await page.click('text=Go on')
    const answer = JSON.parse((await page.textContent('#answer')) ?? '') as object
    expect(answer).toMatchObject({ classification: 'hosting', insights: null })
  })

  it('takes the address from nobody with a real key', async () => {
    const key = await makeKey(iprisk.state, { policies: ['login', 'signup'] })
    const real = await startExample('server.js', {
      IPRISK_URL: `http://127.0.0.1:${iprisk.port}`,
      IPRISK_KEY: key,
    })
    others.push(real)
    const there = await fetch(`${real.url}/try/1`)
    expect(there.status).toBe(404)
    const form = { email: 'ada@example.org', password }
    const { headers } = await fetch(`${real.url}/signup`, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { origin: real.url, cookie: 'try=8', 'x-forwarded-for': '198.18.0.8' },
      redirect: 'manual',
    })
    const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
    const home = await fetch(real.url, { headers: { cookie } })
    expect(await home.text()).toContain('no answer about 127.0.0.1: <strong>misconfigured')
  })

  describe.each(axeLooks)('$colorScheme at $width px', (look) => {
    it('keeps nobody out, and does not scroll sideways', async () => {
      const page = await visitor(1, look)
      const isClean = async (shown: string): Promise<void> => {
        expect(await title(page)).toBe(shown)
        expect([shown, await findingsOf(page), await overhangOf(page)]).toEqual([shown, [], 0])
      }
      await isClean('Welcome')
      await fill(page, 'login', 'ada@example.org')
      await page.click('summary')
      await isClean('You are signed in')
      await page.click('text=Sign out')
      await page.goto(`${example.url}/try/6`)
      await fill(page, 'login', 'ada@example.org')
      await page.waitForSelector('altcha-widget input[type=checkbox]')
      await isClean('One more step')
      await solve(page)
      await isClean('One more step')
      await page.goto(`${example.url}/try/8`)
      await fill(page, 'login', 'ada@example.org')
      await isClean('Not from this connection')
    })
  })

  it('nothing left the machine, and the browser had nothing to complain of', () => {
    const own = [example, ...others].map(({ url }) => `${url}/`)
    expect(browser.asked.length).toBeGreaterThan(50)
    const isOwn = (url: string): boolean => own.some((start) => url.startsWith(start))
    expect(browser.asked.filter((url) => !isOwn(url) && url !== 'data:,')).toEqual([])
    expect(browser.complaints).toEqual([])
  })
})
