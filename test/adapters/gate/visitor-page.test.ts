// The pages of the gate: their languages, their size, and that they load nothing.

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { pageHeaders, visitorPage } from '../../../src/adapters/gate/visitor-page.ts'

const languageOf = (accepted: string): string | undefined =>
  /lang="(\w+)"/.exec(visitorPage('blocked', accepted, 'id'))?.[1]

describe('a page', () => {
  it.each([
    ['', 'en'],
    ['de', 'de'],
    ['fr-CA', 'fr'],
    ['ES-419, en;q=0.9', 'es'],
    ['ja, pt;q=0.4, en;q=0.3', 'pt'],
    ['en;q=0.2, de ; q=0.8', 'de'],
    ['de;q=0', 'en'],
    ['constructor, ;;q=x, ,', 'en'],
    [`${'zh,'.repeat(5000)}de`, 'en'],
  ])('for %.30j is in %s', (accepted, language) => {
    expect(languageOf(accepted)).toBe(language)
  })

  it.each(['blocked', 'challenge'] as const)('%s is small and loads nothing', (kind) => {
    for (const language of ['en', 'de', 'fr', 'es', 'pt']) {
      const page = visitorPage(kind, language, 'id-1')
      expect(Buffer.byteLength(page)).toBeLessThan(2048)
      expect(page).not.toMatch(/<script|<img|<link|src=|href=|url\(/)
      expect(page).toContain('width=device-width')
      expect(page).toContain(': id-1</p>')
    }
  })

  it('is allowed its style alone', () => {
    const [, style = ''] = /<style>(.*)<\/style>/.exec(visitorPage('blocked', '', '')) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    expect(pageHeaders).toContain(`style-src 'sha256-${hash}';`)
  })
})
