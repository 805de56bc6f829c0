// The console's page in a real Chromium, against the fixture: how tests open it and what every view
// is.

import type { Page } from 'playwright-core'
import type { Look, TestBrowser } from '../browser.ts'
import type { FixtureServer } from './fixture-server.ts'

/** Every view with where it is and what it shows when it is there. */
export const views = [
  { name: 'overview', hash: '#/overview', shows: '.overview .bars li' },
  { name: 'start', hash: '#/address', shows: '.invitation' },
  { name: 'address', hash: '#/address/185.220.101.33', shows: '.map path' },
  { name: 'address-ipv6', hash: '#/address/2001:db8::1', shows: '.cell.is-own' },
  { name: 'network', hash: '#/address/AS60729', shows: '.network .bars li' },
  { name: 'many', hash: '#/bulk', shows: 'textarea' },
  { name: 'traffic', hash: '#/traffic', shows: '.plot canvas >> nth=5' },
  { name: 'table', hash: '#/table', shows: '.spark >> nth=5' },
  { name: 'lists', hash: '#/rules/lists/attackers', shows: 'td button' },
  { name: 'policies', hash: '#/rules/policies', shows: '.rule' },
  { name: 'sets', hash: '#/rules/sets', shows: 'td button' },
  { name: 'audit', hash: '#/rules/audit', shows: 'td' },
  { name: 'keys', hash: '#/keys', shows: 'td' },
  { name: 'meaning', hash: '#/meaning/latency', shows: '.is-meant' },
] as const

export interface OpenConsole {
  readonly page: Page
  /** Goes to a view and waits until it shows what it has. */
  readonly show: (hash: string, shows: string) => Promise<void>
}

/** `YYYY-MM-DD`. */
export const dayIn = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

/** Fills the form of a new key, and sends it. */
export async function makeKey(page: Page, name: string): Promise<void> {
  await fillKey(page, name)
  await page.click('button:text("Create key")')
}

export async function fillKey(page: Page, name: string): Promise<void> {
  await page.fill('.fields input >> nth=0', name)
  await page.selectOption('.fields select', 'team')
  await page.fill('.fields input[type=date]', dayIn(90))
}

export async function openConsole(
  browser: TestBrowser,
  server: FixtureServer,
  look: Look,
  token = 'admin',
): Promise<OpenConsole> {
  const page = await browser.newPage(look)
  await page.goto(server.url)
  await signIn(page, token)
  await page.waitForSelector('.top')
  return {
    page,
    async show(hash, shows) {
      await page.goto(`${server.url}${hash}`)
      await page.waitForSelector(shows, { state: 'attached' })
    },
  }
}

export async function signIn(page: Page, token: string): Promise<void> {
  await page.fill('input[type=password]', token)
  await page.click('button[type=submit]')
}
