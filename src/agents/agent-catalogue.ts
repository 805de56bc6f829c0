// The known agents (data/tables/agents.csv), and which of them a User-Agent names.
//
// Names are the catalogue's own and not those of crawler-user-agents, whose 1,500 regular
// expressions would run on a visitor's text for names that nothing can verify; a test holds the
// catalogue to that package's real texts.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseDay } from '../base/day.ts'
import { assert } from '../base/assert.ts'
import { packageRoot } from '../base/package-root.ts'
import { parseStrictCsv } from '../base/text/csv.ts'
import { type AgentCategory, agentCategories } from '../model/agent.ts'

export interface KnownAgent {
  readonly name: string
  readonly operator: string
  readonly category: AgentCategory
  /** The feeds with its ranges; in a feed of several agents, those of the provider. */
  readonly feeds: readonly { readonly id: string; readonly provider: string | undefined }[]
  /** Its operator publishes the ranges as the way to verify it. */
  readonly verifies: boolean
  /** The host whose directory holds its keys, or `''`. */
  readonly directory: string
}

const columns = 'name,tokens,operator,category,feeds,verifies,directory,source,day,note'.split(',')
const rowsMax = 500

export type AgentCatalogue = ReturnType<typeof loadAgents>

let loaded: AgentCatalogue | undefined

/** Loaded with the first agent. A damaged catalogue throws: it is part of the package. */
export function knownAgents(): AgentCatalogue {
  return (loaded ??= loadAgents(join(packageRoot, 'data', 'tables', 'agents.csv')))
}

export function loadAgents(path: string) {
  const { rows, problems } = parseStrictCsv({ path, text: readFileSync(path, 'utf8'), columns })
  assert(problems.length === 0 && rows.length <= rowsMax, problems.join('\n'))
  const byToken = new Map<string, KnownAgent>()
  const agents = rows.map(({ place, fields }) => {
    const [name = '', tokens = '', operator = '', category = '', feeds = '', ...rest] = fields
    const [verifies = '', directory = '', source = '', day = ''] = rest
    const known = agentCategories.find((each) => each === category)
    const isSourced = URL.canParse(source) && parseDay(day) !== undefined
    assert(known !== undefined && isSourced && /^(yes|no)$/.test(verifies), place)
    const agent: KnownAgent = {
      name,
      operator,
      category: known,
      feeds: feeds === '' ? [] : feeds.split('|').map(feedOf),
      verifies: verifies === 'yes',
      directory,
    }
    for (const token of tokens.split('|')) {
      assert(/^[\w.! -]+$/.test(token), place)
      byToken.set(token.toLowerCase(), agent)
    }
    return agent
  })
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
    byDirectory: (host: string): KnownAgent | undefined =>
      agents.find(({ directory }) => directory === host),
  }
}

function feedOf(text: string): KnownAgent['feeds'][number] {
  const [id = '', provider] = text.split(':')
  return { id, provider }
}
