// What a feed's publisher can know of what it lists, and what is therefore believed of it before
// anything is measured. The measuring is measured-weight.ts.

import type { Feed } from '../catalogue/feed.ts'

/** `own`: an operator's list of its own addresses; `tested`: direct, by a test of the address. */
export type PublisherAssurance = 'own' | 'tested' | 'good' | 'weak'

export interface BetaPrior {
  readonly successes: number
  readonly failures: number
}

/** What is believed before anything is measured: the mean is a / (a + b). */
export const assurancePriors: Readonly<Record<PublisherAssurance, BetaPrior>> = {
  own: { successes: 19, failures: 1 },
  tested: { successes: 9, failures: 1 },
  good: { successes: 8, failures: 2 },
  weak: { successes: 5, failures: 5 },
}

export function publisherAssurance({
  assurance,
  provider,
}: Pick<Feed, 'assurance' | 'provider'>): PublisherAssurance {
  if (assurance !== 'direct') return assurance
  return provider === '' ? 'tested' : 'own'
}
