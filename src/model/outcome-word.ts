// How an address turned out, in the words in which callers report it (contract 5.6).

export const outcomeWords = ['legitimate', 'abusive'] as const
export type OutcomeWord = (typeof outcomeWords)[number]
