// A real Chromium for tests of pages: it finds no host but this machine, everything that a page
// asks for and complains of is kept, and axe says what keeps people out.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type Page, chromium } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export interface Look {
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
  /** Default true. */
  readonly javaScriptEnabled?: boolean
}

/** Both colour schemes, on a wide screen and on a phone. */
export const looks = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 1280 },
  { colorScheme: 'light', width: 360 },
  { colorScheme: 'dark', width: 360 },
] as const satisfies readonly Look[]

const [, wideDark, smallLight] = looks

/** Where axe looks: each scheme and each width once; all four where pictures are kept. */
export const axeLooks: readonly Look[] =
  process.env['IPRISK_TEST_SHOTS'] === undefined ? [wideDark, smallLight] : looks

/** What pages did, whichever it was. */
export interface Watched {
  /** Every address that was asked for. */
  readonly asked: string[]
  /** A broken policy, a script that failed. Not: an answer of `refusals`. */
  readonly complaints: string[]
}

export interface TestBrowser extends Watched {
  /** A page that knows nothing of others: its own cookies. */
  readonly newPage: (look: Look) => Promise<Page>
  readonly close: () => Promise<void>
}

/** `refusals`: the statuses above 399 that a test asks for, of which the browser tells, too. */
export async function startBrowser(refusals: readonly number[]): Promise<TestBrowser> {
  const executablePath = spawnSync('which', ['chromium'], { encoding: 'utf8' }).stdout.trim()
  // Whatever asks for a name, the browser itself included, finds none.
  const noNames = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'
  const args = ['--no-sandbox', noNames]
  const browser: Browser = await chromium.launch({ executablePath, args })
  const asked: string[] = []
  const complaints: string[] = []
  const wanted = new RegExp(`responded with a status of (?:${refusals.join('|')}) `)
  return {
    asked,
    complaints,
    close: () => browser.close(),
    async newPage({ width, ...look }) {
      const viewport = { width, height: 800 }
      const context = await browser.newContext({ ...look, viewport, locale: 'en' })
      const page = await context.newPage()
      page.on('request', (request) => asked.push(request.url()))
      page.on('console', (message) => {
        const isComplaint = message.type() === 'error' && !wanted.test(message.text())
        // "Failed to load resource" does not say which one.
        if (isComplaint) complaints.push(`${message.text()} at ${message.location().url}`)
      })
      page.on('pageerror', (error) => complaints.push(error.message))
      return page
    },
  }
}

interface Finding {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/**
 * What axe finds wrong in an element, by default the whole page, each with its first places. The
 * page's policy holds for all but axe.
 */
export async function findingsOf(page: Page, within = 'html'): Promise<readonly unknown[]> {
  await page.evaluate(axe)
  // Without it axe also describes each place of each rule that holds.
  const only = "{ resultTypes: ['violations'] }"
  const run = `axe.run('${within}', ${only}).then((all) => all.violations)`
  const found = await page.evaluate<Finding[]>(run)
  return found.map(({ id, nodes }) => [id, nodes.slice(0, 3)])
}

/** By how much the page is wider than its window. */
export function overhangOf(page: Page): Promise<number> {
  return page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
}

/** Where IPRISK_TEST_SHOTS names a folder, a picture there of what is seen, down to that element. */
export async function keepShot(page: Page, name: string, until = 'body'): Promise<void> {
  const folder = process.env['IPRISK_TEST_SHOTS']
  if (folder === undefined) return
  const box = await page.locator(until).boundingBox()
  const { width, height } = page.viewportSize()!
  const bottom = box === null ? height : Math.min(height, Math.ceil(box.y + box.height) + 16)
  await page.screenshot({
    path: `${folder}/${name}.png`,
    clip: { x: 0, y: 0, width, height: bottom },
  })
}
