// The catalogue of agents against real User-Agents (crawler-user-agents) and against the feeds.

import { readFileSync } from 'node:fs'
import crawlers from 'crawler-user-agents'
import { describe, expect, it } from 'vitest'
import { loadCatalogue } from '../../build/catalogue/load-catalogue.ts'
import { agentColumns, agentsFile, knownAgents } from '../../src/agents/agent-catalogue.ts'
import { parseDay } from '../../src/base/day.ts'
import { parseStrictCsv } from '../../src/base/text/csv.ts'
import { agentCategories } from '../../src/model/kind.ts'

const { agents, named, byDirectory } = knownAgents()
const namesOf = (userAgent: string) => named(userAgent).map(({ name }) => name)

/** Newer than the package, or with the User-Agent of a browser. */
const without = ['ChatGPT agent', 'OAI-AdsBot']

describe('catalogue', () => {
  it('has a source and a day in each row, and words that are known', () => {
    const text = readFileSync(agentsFile, 'utf8')
    const { rows, problems } = parseStrictCsv({ path: agentsFile, text, columns: agentColumns })
    const wrong = rows.filter(({ fields }) => {
      const [, tokens = '', , category, , verifies = '', , source = '', day = ''] = fields
      const isSourced = URL.canParse(source) && parseDay(day) !== undefined
      const isKnown = agentCategories.some((each) => each === category) && category !== ''
      const isForm = tokens.split('|').every((token) => /^[\w.! -]+$/.test(token))
      return !isSourced || !isKnown || !isForm || !/^(?:yes|no)$/.test(verifies)
    })
    expect([problems, wrong]).toEqual([[], []])
    const tokens = agents.flatMap((agent) => agent.tokens)
    expect(new Set(tokens).size).toBe(tokens.length)
  })

  it('has sixty agents, and names each in a real User-Agent', () => {
    expect(agents.length).toBeGreaterThanOrEqual(60)
    const texts = crawlers.flatMap(({ instances }) => instances)
    const found = new Set(texts.flatMap(namesOf))
    const missing = agents.map(({ name }) => name).filter((name) => !found.has(name))
    expect(missing).toEqual(without)
  })

  it('names feeds that there are, with a provider wherever a feed has several', () => {
    const feeds = loadCatalogue('data/feeds')
    const wrong = agents.flatMap((agent) =>
      agent.feeds.filter(({ id, provider = '' }) => {
        if (id === '') return agent.verifies
        const feed = feeds.find((one) => one.id === id)
        const services = feed?.files.flatMap(({ options }) =>
          Object.values((options?.['services'] ?? {}) as Record<string, { provider: string }>),
        )
        const isOne = services?.length === 0 && provider === ''
        return (
          feed?.kind !== 'bot' || (!isOne && !services?.some((one) => one.provider === provider))
        )
      }),
    )
    expect(wrong).toEqual([])
  })

  it.each([
    ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/138.0.0.0', []],
    ['acapbot/0.1;treat like Googlebot', []],
    ['Mozilla/5.0 (compatible; Fake-Googlebot)', []],
    ['x (+https://example.com/googlebot.html)', []],
    ['someone@googlebot.com', []],
    ['GoogleBot', ['Googlebot']],
    ['Googlebot-Image/1.0', ['Googlebot']],
    ['TelegramBot (like TwitterBot)', ['Telegram']],
    ['Googlebot/2.1 bingbot/2.0', ['Googlebot', 'bingbot']],
    ['', []],
  ])('%s', (userAgent, names) => {
    expect(namesOf(userAgent)).toEqual(names)
  })

  it('knows who signs', () => {
    expect(byDirectory('chatgpt.com')?.operator).toBe('OpenAI')
    expect(byDirectory('chatgpt.com.evil.example')).toBeUndefined()
  })
})
