// The words of agents (contract 6.6): programs that say who they are in their requests.

export const agentStatuses = ['verified', 'spoofed', 'unverified', 'unknown'] as const

/** What an agent is for (data/tables/agents.csv). */
export const agentCategories = [
  'search_crawler',
  'ai_tool',
  'advertising',
  'archive',
  'monitoring',
  'preview',
  'seo',
  'other',
] as const
export type AgentCategory = (typeof agentCategories)[number]
