// What outcomes as evidence (contract 6.11) reach, and what they do to honest people: a replay of a
// week by a virtual clock, with the product's own counts and caps.
//
//   npm run bench -- outcomes
//
//   --seed 1            of everything that is drawn
//   --smoke             whether it works: two days, a tenth of everyone
//   --json              the report as JSON
//   --save              keep it in bench/runs
//
// The attacker has 3,000 addresses of clean lines, and tries two stolen accounts an hour on each.
// The site knows ten minutes later what a login was. A challenged login is lost to him, and is not
// reported. 100,000 honest logins come from 50,000 lines; a tenth of the attacker's lines are
// customers' too, who did not notice what their router does. The policy is that of `policy init`.

import { readFlags } from '../harness/option.ts'
import { runProgram, showReport } from '../harness/program.ts'
import { type RunHead, runHead } from '../harness/run.ts'
import {
  attack,
  type AttackResult,
  carrierNat,
  type NatResult,
  poison,
  type PoisonResult,
  type Sizes,
} from './outcomes/scenarios.ts'

export interface OutcomesReport extends RunHead {
  readonly kind: 'outcomes'
  readonly sizes: Sizes
  readonly attacks: readonly AttackResult[]
  readonly carrierNats: readonly NatResult[]
  readonly poisoners: readonly PoisonResult[]
}

await runProgram(async () => {
  const flags = readFlags({
    numbers: { seed: { max: 1_000_000, otherwise: 1 } },
    switches: ['smoke', 'json', 'save'],
  })
  const { seed, smoke } = flags
  const tenth = smoke ? 10 : 1
  const sizes: Sizes = {
    days: smoke ? 2 : 7,
    lines: 3000 / tenth,
    honestLines: 50_000 / tenth,
    honestLogins: 100_000 / tenth,
    seed,
  }
  const attacks = [
    { scenario: 'outcomes off', on: false },
    { scenario: 'one key reports', on: true },
    { scenario: 'ten keys report', on: true, keys: 10 },
    { scenario: '… and honest logins as legitimate', on: true, keys: 10, legitimateShare: 1 },
    {
      scenario: 'ten keys; he logs in to an own account at first',
      on: true,
      keys: 10,
      own: 'once',
    },
    { scenario: 'ten keys; … every day', on: true, keys: 10, own: 'daily' },
  ] as const
  const nats = [
    { isKnown: true, legitimateShare: 0 },
    { isKnown: false, legitimateShare: 0 },
    { isKnown: false, legitimateShare: 0.01 },
  ]
  const poisoners = [
    { poisoner: 'one key, any line', keys: 1, legitimateShare: 0 },
    { poisoner: 'ten keys, any line', keys: 10, legitimateShare: 0 },
    { poisoner: 'ten keys, any line', keys: 10, legitimateShare: 1 },
    { poisoner: 'one key, 100 lines of a rival', keys: 1, rivals: 100, legitimateShare: 0 },
    { poisoner: 'one key, 100 lines of a rival', keys: 1, rivals: 100, legitimateShare: 0.1 },
    { poisoner: 'one key, 100 lines of a rival', keys: 1, rivals: 100, legitimateShare: 1 },
  ] as const
  const report: OutcomesReport = {
    ...runHead(process.argv.slice(2)),
    kind: 'outcomes',
    sizes,
    attacks: attacks.map((how) => attack(sizes, how)),
    carrierNats: nats.map((how) => carrierNat(sizes, how)),
    poisoners: poisoners.map((how) => poison(sizes, how)),
  }
  showReport('outcomes', report, flags)
  return 0
})
