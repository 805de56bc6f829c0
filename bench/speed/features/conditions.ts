// What conditions cost where no decision is remembered: a hundred ordinary rules, the slowest
// policies that the bound of steps lets pass, and the check of the largest file.
//
//   --rounds 30         of each; the figure is the median
//   --smoke             whether it works, not how fast
//   --json              the report as JSON
//
// The slow policies are evaluated on the largest facts that a table and own lists can have: texts
// of full length that differ in their last characters, and a thousand lists that match.

import { policiesBytesMax, policyStepsMax, tableTextBytesMax } from '../../../src/base/limits.ts'
import { listNameCharsMax, listsMax } from '../../../src/lists/list-limits.ts'
import { signalNames } from '../../../src/model/kind.ts'
import {
  type Facts,
  type SeenAnswer,
  factsOf,
} from '../../../src/policy/condition/condition-members.ts'
import { checkPolicies } from '../../../src/policy/policy-file.ts'
import { compilePolicies } from '../../../src/policy/policy.ts'
import { reasonCodeBytesMax, reasonListMax } from '../../../src/schema/table-layout.ts'
import { readFlags } from '../../harness/option.ts'
import { runProgram, showReport } from '../../harness/program.ts'
import { type RunHead, runHead } from '../../harness/run.ts'
import { median } from '../../harness/statistics.ts'

export interface ConditionsReport extends RunHead {
  readonly kind: 'conditions'
  /** A hundred rules each. */
  readonly ordinary: readonly Cost[]
  /** As many rules as may be in one policy. */
  readonly slow: readonly (Cost & { readonly steps: number })[]
  readonly checkMs: number
}

interface Cost {
  readonly what: string
  /** The first evaluation in this process, and a later one. */
  readonly firstMs: number
  readonly ms: number
}

const alike = (count: number, chars: number): string[] =>
  Array.from({ length: count }, (_, i) => `${i}`.padStart(4, '0').padStart(chars, 'a'))

const text = 'a'.repeat(tableTextBytesMax)
const places = ['country_code', 'country', 'state', 'city', 'zip'] as const

const answerOf = (reasons: readonly string[], text: string): SeenAnswer =>
  ({
    risk_score: 62,
    risk_level: 'high',
    classification: 'vpn',
    version: 4,
    reasons,
    network: { asn: 64_496, organization: text, type: 'hosting', mobile: false },
    location: { ...Object.fromEntries(places.map((name) => [name, text])), latitude: 50.1 },
    proxy: { confidence: 'high', type: 'vpn', provider: text, percent_days_seen: 90 },
    bot: null,
    signals: Object.fromEntries(signalNames.map((name) => [name, name === 'vpn'])),
  }) as unknown as SeenAnswer

const quiet = factsOf(answerOf([], 'Example'), [])
const busy = factsOf(answerOf(alike(9, 16), 'Example Networks Ltd'), alike(20, 12))
const largest = factsOf(
  answerOf(alike(reasonListMax + 1, reasonCodeBytesMax), text),
  alike(listsMax, listNameCharsMax),
)

const numbers = (from: number, count: number): string =>
  Array.from({ length: count }, (_, i) => from + i).join()

const ordinaryRules = (i: number): string =>
  [
    `risk_score >= ${63 + (i % 30)} && !("office-${i}" in lists)`,
    `signals.tor && location.country_code in ["RU", "KP"]`,
    `network.asn in [${numbers(70_000 + 20 * i, 20)}]`,
    'classification == "known_bot" && bot.confidence == "high"',
    'signals.residential_proxy && proxy.percent_days_seen >= 50.0',
    `risk_score + (signals.hosting ? 25 : 0) >= ${90 + (i % 10)}`,
    `network.organization.contains("Hosting ${i}")`,
    `lists.exists(l, l.startsWith("team-${i}-"))`,
    'reasons.exists(r, r.startsWith("tor"))',
    `location.city == "City ${i}"`,
  ][i % 10]!

const longLists = (i: number): string => `network.asn in [${numbers(20_000 + 600 * i, 600)}]`

const chain = (term: string, between: string, chars = 3800): string =>
  Array.from({ length: Math.floor(chars / (term.length + between.length)) }, () => term).join(
    between,
  )

/** One shape for each kind of step. */
const slowShapes = {
  'a chain in a loop over lists': `lists.exists(l, ${chain('l == ""', '||', 800)})`,
  'a search for a name in lists': `"${'a'.repeat(listNameCharsMax - 1)}b" in lists`,
  'a copy of lists': 'size(lists.filter(l, l != "")) == 1',
  'a short text in a long one': 'location.city.contains("aab")',
  'a long text in a long one': `location.city.contains("${'a'.repeat(20)}b${'a'.repeat(20)}")`,
  'the size of a text': 'size(location.city) == 1',
  'a chain of comparisons': chain('risk_score > 99', '||'),
  'reasons among lists': 'reasons.exists(r, r in lists)',
} as const

interface Measured extends Cost {
  readonly steps: number
}

function measurePolicy(
  {
    what,
    facts,
    rounds,
  }: { readonly what: string; readonly facts: Facts; readonly rounds: number },
  conditions: readonly string[],
): Measured {
  const rules = conditions.map((condition, i) => ({
    name: `r${i}`,
    condition,
    action: 'block',
    observe: true,
  }))
  const set = compilePolicies({
    revision: what,
    policies: { default: { rules, otherwise: 'allow' } },
  })
  const policy = set.policies[0]!
  const evaluate = (): number => {
    const from = performance.now()
    policy.outcomeOf(facts)
    return performance.now() - from
  }
  const firstMs = evaluate()
  const ms = median(Array.from({ length: rounds }, evaluate))
  return { what, firstMs, ms, steps: policy.steps }
}

function measureSlow(rounds: number): ConditionsReport['slow'] {
  return Object.entries(slowShapes).map(([what, condition]) => {
    const of = { what, facts: largest, rounds }
    const { steps } = measurePolicy({ ...of, rounds: 1 }, [condition])
    const count = Math.min(100, Math.floor(policyStepsMax / steps))
    return measurePolicy(
      of,
      Array.from({ length: count }, () => condition),
    )
  })
}

/** As large as a file may be: conditions of ten comparisons, no two alike. */
function largestFile(): string {
  const policies: Record<string, object> = {}
  let bytes = 0
  for (let p = 0; p < 32; p += 1) {
    const rules = Array.from({ length: 100 }, (_, i) => {
      const condition = chain(`risk_score > ${(p + i) % 90} && version == 4`, ' || ', 230)
      return {
        name: `r${i}`,
        condition: `${condition} || network.asn == ${p * 100 + i}`,
        action: 'a',
      }
    })
    const policy = { rules, otherwise: 'allow' }
    bytes += JSON.stringify(policy).length + 20
    if (bytes > policiesBytesMax) break
    policies[p === 0 ? 'default' : `p${p}`] = policy
  }
  return JSON.stringify({ policies })
}

function measureCheck(): number {
  const file = largestFile()
  const from = performance.now()
  const checked = checkPolicies(file)
  if ('mistakes' in checked) throw new Error(checked.mistakes[0])
  return performance.now() - from
}

function measure(): Promise<number> {
  const flags = readFlags({
    numbers: { rounds: { max: 10_000, otherwise: 30, smoke: 1 } },
    texts: [],
    switches: ['smoke', 'json', 'save'],
  })
  const { rounds } = flags
  const hundred = (ruleOf: (i: number) => string): string[] =>
    Array.from({ length: 100 }, (_, i) => ruleOf(i))
  const ordinary = [
    measurePolicy({ what: 'ordinary rules, quiet', facts: quiet, rounds }, hundred(ordinaryRules)),
    measurePolicy({ what: 'ordinary rules, busy', facts: busy, rounds }, hundred(ordinaryRules)),
    measurePolicy({ what: '600 AS numbers in each', facts: busy, rounds }, hundred(longLists)),
  ]
  const report: ConditionsReport = {
    ...runHead(process.argv.slice(2)),
    kind: 'conditions',
    ordinary,
    slow: measureSlow(rounds),
    checkMs: measureCheck(),
  }
  showReport('conditions', report, flags)
  return Promise.resolve(0)
}

await runProgram(measure)
