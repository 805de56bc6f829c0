// The known agents (data/tables/agents.csv), and which of them a User-Agent names.
//
// Names are the catalogue's own and not those of crawler-user-agents, whose 1,500 regular
// expressions would run on a visitor's text for names that nothing can verify. A test holds the
// catalogue to its form and to that package's real texts.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { memoise } from '../base/memoise.ts'
import { packageRoot } from '../base/package-root.ts'
import { parseStrictCsv } from '../base/text/csv.ts'
import type { AgentAnswer } from '../api/agent-context.ts'

export const agentsFile = join(packageRoot, 'data', 'tables', 'agents.csv')
export const agentColumns =
  'name,tokens,operator,category,feeds,verifies,directory,source,day,note'.split(',')

export type KnownAgent = ReturnType<typeof readAgent>

function readAgent(fields: readonly string[]) {
  const [name = '', tokens = '', operator = '', category, feeds = '', verifies, directory] = fields
  return {
    name,
    tokens: tokens.toLowerCase().split('|'),
    operator,
    category: category as AgentAnswer['category'],
    /** The feeds with its ranges; in a feed of several agents, those of the provider. */
    feeds: feeds.split('|').map((feed) => {
      const [id = '', provider] = feed.split(':')
      return { id, provider }
    }),
    /** Its operator publishes the ranges as the way to verify it. */
    verifies: verifies === 'yes',
    /** The host whose directory holds its keys, or `''`. */
    directory,
  }
}

const load = memoise((path: string) => {
  const text = readFileSync(path, 'utf8')
  const { rows } = parseStrictCsv({ path, text, columns: agentColumns })
  const agents = rows.map(({ fields }) => readAgent(fields))
  const byToken = new Map(
    agents.flatMap((agent) => agent.tokens.map((token) => [token, agent] as const)),
  )
  const words = [...byToken.keys()]
    .toSorted((a, b) => b.length - a.length)
    .map((word) => word.replaceAll('.', String.raw`\.`))
  // Not `like Googlebot`, `Fake-Googlebot`, nor a page such as example.com/googlebot.html.
  const form = new RegExp(String.raw`(?<![\w./@-]|\blike )(?:${words.join('|')})(?![\w.@])`, 'gi')
  return {
    agents,
    named: (userAgent: string): readonly KnownAgent[] => {
      const found = userAgent.match(form) ?? []
      return [...new Set(found.map((token) => byToken.get(token.toLowerCase())!))]
    },
    byDirectory: (host: string) => agents.find(({ directory }) => directory === host),
  }
})

/** Loaded with the first agent. */
export const knownAgents = () => load(agentsFile)
