// Metrics of what single checks were told, for the dashboard "Login risk": a login asks for one
// address. Batches are counted by classification alone (metric-families.ts).

import type { CounterSnapshot } from '../../observe/request-counters.ts'
import type { LabelSnapshot } from '../../observe/label-counts.ts'
import { levels } from '../../model/kind.ts'
import { outcomeWords } from '../../model/outcome-word.ts'
import { readDecisionLabel } from '../../model/decision-label.ts'
import type { MetricFamily, MetricSample } from './metric-family.ts'

export function verdictFamilies(total: CounterSnapshot): readonly MetricFamily[] {
  return [
    {
      name: 'iprisk_scores_total',
      type: 'counter',
      help: 'Single checks answered with 200, by the level of the score.',
      labels: ['level'],
      samples: levels.map((level, i) => [{ level }, total.scores[i] ?? 0]),
    },
    {
      name: 'iprisk_countries_total',
      type: 'counter',
      help: 'The same by country, empty where it is unknown, and level.',
      labels: ['country', 'level'],
      samples: byLevel('country', total.countries),
    },
    {
      name: 'iprisk_providers_total',
      type: 'counter',
      help: 'The same by the provider of the proxy or bot, where there is one, and level.',
      labels: ['provider', 'level'],
      samples: byLevel('provider', total.providers),
    },
    {
      name: 'iprisk_decisions_total',
      type: 'counter',
      help: 'Decisions on single checks without insights, by policy, rule (empty: none held) and action.',
      labels: ['policy', 'rule', 'action'],
      samples: Object.entries(total.decisions).map(decisionSample),
    },
    {
      name: 'iprisk_observed_total',
      type: 'counter',
      help: 'Single checks without insights for which a rule that only observes held, by policy and rule.',
      labels: ['policy', 'rule'],
      samples: Object.entries(total.observed).map(observedSample),
    },
    {
      name: 'iprisk_outcomes_total',
      type: 'counter',
      help: 'How addresses turned out, as callers reported it over HTTP.',
      labels: ['outcome'],
      samples: outcomeWords.map((outcome, i) => [{ outcome }, total.outcomes[i] ?? 0]),
    },
  ]
}

/** Without those that have not come up: there are hundreds of names. */
function byLevel(label: 'country' | 'provider', counted: LabelSnapshot): readonly MetricSample[] {
  return Object.entries(counted).flatMap(([name, counts]) =>
    levels.flatMap((level, i): readonly MetricSample[] =>
      (counts[i] ?? 0) === 0 ? [] : [[{ [label]: name, level }, counts[i]!]],
    ),
  )
}

function observedSample([label, [count = 0]]: [string, readonly number[]]): MetricSample {
  const { policy, rule } = readDecisionLabel(label)
  return [{ policy, rule }, count]
}

function decisionSample([label, [count = 0]]: [string, readonly number[]]): MetricSample {
  return [{ ...readDecisionLabel(label) }, count]
}
