// Each known agent on the world table, by an address of each list that its operator publishes and by
// one of a household. The ranges are read from the raw files, apart from the compiler's own parsers.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { loadCatalogue } from '../../build/catalogue/load-catalogue.ts'
import { knownAgents } from '../../src/agents/agent-catalogue.ts'
import { contextAnswer, contextOf } from '../../src/context/context.ts'
import { newQuery, parseQuery } from '../../src/table/lookup/query.ts'
import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import { describeFeeds, feedsFolder, withSharedData } from '../feeds.ts'
import { worldTable } from '../world/world-tables.ts'

/** Comcast in California. */
const home = '73.162.10.20'
const feeds = withSharedData(loadCatalogue('data/feeds'))

type Services = Readonly<Record<string, { readonly provider: string }>>

/** The first address of a list; of one service where the file has several. */
function addressIn(id: string, provider: string | undefined): string | undefined {
  const { files = [] } = feeds.find((feed) => feed.id === id) ?? {}
  for (const { path, options } of files) {
    let text = readFileSync(join(feedsFolder, id, path), 'utf8')
    if (provider !== undefined) {
      const services = Object.entries((options?.['services'] ?? {}) as Services)
      const of = services.find(([, service]) => service.provider === provider)?.[0] ?? ''
      const { services: lists } = JSON.parse(text) as { services: Record<string, unknown> }
      text = JSON.stringify(lists[of] ?? '')
    }
    const first = /(?<![\d.])\d+\.\d+\.\d+\.\d+(?=[/"\s])/.exec(text)?.[0]
    if (first !== undefined) return first
  }
  return undefined
}

/** By their operators' word; bingbot's own list is of 2022, the copy beside it is of the day. */
const spoofable = `
  Googlebot GoogleOther Google-InspectionTool Storebot-Google Google-CloudVertexBot
  AdsBot-Google Mediapartners-Google APIs-Google bingbot Applebot
  GPTBot OAI-SearchBot ChatGPT-User ClaudeBot Claude-User
  Claude-SearchBot PerplexityBot Perplexity-User DuckDuckBot DuckAssistBot
  AhrefsBot CCBot`

describeFeeds('the known agents', () => {
  const { agents } = knownAgents()
  let table: OpenTable
  beforeAll(async () => {
    table = openTable(await worldTable())
  })
  const query = newQuery()
  const agentAt = (ip: string, user_agent: string) => {
    parseQuery(query, Buffer.from(ip), 0, ip.length)
    return contextAnswer(contextOf({ agent: { user_agent } })!, table.answer(query)).agent
  }
  const userAgent = ([token = '']: readonly string[]) => `Mozilla/5.0 (compatible; ${token}/1.0)`

  it('are verified by each list of theirs, and by no list where they have none', () => {
    const verified = new Set<string>()
    const wrong: unknown[] = []
    for (const { name, tokens, feeds: lists } of agents) {
      for (const { id, provider } of lists) {
        const ip = addressIn(id, provider)
        if (ip === undefined) continue
        const answer = agentAt(ip, userAgent(tokens))
        verified.add(name)
        const isVerified =
          answer?.status === 'verified' && answer.identified_by === 'published_range'
        if (!isVerified || answer.name !== name) wrong.push([name, id, ip, answer])
      }
    }
    expect(wrong).toEqual([])
    expect(agents.length).toBeGreaterThanOrEqual(60)
    expect(verified.size).toBeGreaterThanOrEqual(40)
  })

  it('are spoofed from a household where their operators say so, and are else unverified', () => {
    const statuses = agents.map(({ name, tokens }) => [name, agentAt(home, userAgent(tokens))])
    const expected = agents.map(({ name, operator, category }) => {
      const status = spoofable.split(/\s+/).includes(name) ? 'spoofed' : 'unverified'
      return [name, { status, name, operator, category, identified_by: '', directory: '' }]
    })
    expect(statuses).toEqual(expected)
  })
})
