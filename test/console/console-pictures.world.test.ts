// The pictures of docs/console/README.md: each page in both colour schemes, on a wide screen and on
// a phone. IPRISK_TEST_SHOTS=docs/console takes them anew; without it, those that are there are held
// to their sizes.

import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { type TestBrowser, overhangOf, startBrowser } from '../browser.ts'
import { describeWith } from '../deploy/need.ts'
import { openConsole, views } from './console-page.ts'
import { type FixtureServer, startFixtureServer } from './fixture-server.ts'
import { hostile } from './fixture-views.ts'

const folder = process.env['IPRISK_TEST_SHOTS']
const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1280, 390].map((width) => ({ colorScheme, width })),
)
const heightsMax: Readonly<Record<number, number>> = { 1280: 1500, 390: 1700 }
const shown = views.filter(({ name }) => name !== 'start' && name !== 'address-ipv6')

/** What is done on a page before its picture is taken. */
const begun: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  async many(page) {
    const all = Array.from({ length: 1200 }, (_, at) => `185.220.${100 + (at >> 8)}.${at & 255}`)
    await page.fill('textarea', all.join('\n'))
    await page.click('button:text("Look up")')
    await page.waitForSelector('.pager', { state: 'attached' })
  },
  async policies(page) {
    await page.locator('.rule textarea').nth(1).fill('risk_scor >= 60')
    await page.waitForSelector('.rule .warn')
    await page.locator('.rule textarea').first().fill('"vpn_')
    await page.waitForSelector('[role=option]')
  },
}

/** As WebP, which is a third of a PNG: the browser itself converts. */
async function keepPicture(page: Page, file: string, height: number): Promise<void> {
  const clip = { x: 0, y: 0, width: page.viewportSize()!.width, height }
  const png = (await page.screenshot({ fullPage: true, clip })).toString('base64')
  const webp = await page.evaluate<string>(`(async () => {
    const bytes = Uint8Array.from(atob('${png}'), (one) => one.charCodeAt(0))
    const image = await createImageBitmap(new Blob([bytes]))
    const canvas = document.createElement('canvas')
    canvas.width = image.width
    canvas.height = image.height
    canvas.getContext('2d').drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', 0.85).split(',')[1]
  })()`)
  writeFileSync(file, Buffer.from(webp, 'base64'))
}

describeWith('chromium', ['--version'], () => {
  let server: FixtureServer
  let browser: TestBrowser

  beforeAll(async () => {
    server = await startFixtureServer()
    browser = await startBrowser([401])
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  describe.runIf(folder !== undefined).each(looks)('$colorScheme at $width px', (look) => {
    it('takes its pictures', async () => {
      const { page, show } = await openConsole(browser, server, look)
      // The names that test for injection are no example.
      await page.route(/\/(?:admin|status)/, async (route) => {
        const response = await route.fetch()
        const body = (await response.text()).replaceAll(
          JSON.stringify(hostile).slice(1, -1),
          'Example Networks',
        )
        await route.fulfill({ response, body })
      })
      await page.reload()
      for (const { name, hash, shows } of shown) {
        await show(hash, shows)
        await page.mouse.move(0, 0)
        await begun[name]?.(page)
        await page.waitForLoadState('networkidle')
        const whole = await page.evaluate<number>(
          'scrollTo(0, 0), document.documentElement.scrollHeight',
        )
        const height = Math.min(whole, heightsMax[look.width]!)
        const file = `${name}-${look.colorScheme}-${look.width}.webp`
        await keepPicture(page, join(folder!, file), height)
        expect([file, await overhangOf(page)]).toEqual([file, 0])
      }
      await page.context().close()
    })
  })
})

it('has every picture, of at most 150 kB, and of 3.5 MB in all', () => {
  const pictures = join(packageRoot, 'docs/console')
  const wanted = shown.flatMap(({ name }) =>
    looks.map(({ colorScheme, width }) => `${name}-${colorScheme}-${width}.webp`),
  )
  const there = readdirSync(pictures).filter((name) => !name.endsWith('.md'))
  expect(there.toSorted()).toEqual(wanted.toSorted())
  const bytes = there.map((name) => statSync(join(pictures, name)).size)
  expect(Math.max(...bytes)).toBeLessThanOrEqual(150_000)
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(3_500_000)
})
