// What the condition field offers at the cursor, and that all of it compiles.

import { expect, it } from 'vitest'
import { completionsAt } from '../../src/console/page/text/condition-completions.ts'
import { compileCondition } from '../../src/policy/condition/condition.ts'

it.each([
  ['risk_s', ['risk_score']],
  ['risk_score >= 75 && signals.to', ['signals.tor']],
  ['!signals.vp', ['signals.vpn']],
  ['asn', ['network.asn', 'travel.same_asn']],
  ['proxy.confidence == "', ['low', 'medium', 'high']],
  ['network.type in ["isp", "ho', ['hosting']],
  ["risk_level != 'cri", ['critical']],
  ['location.country_code == "D', ['DE', 'DJ'], true],
  ['"tor_exit', ['tor_exit_listed']],
  ['"att', ['attackers']],
  ['"list_bl', ['list_blocked']],
  ['classification == "tor" && ris', ['risk_score', 'risk_level']],
  ['reasons.ex', ['reasons.exists(', 'reasons.exists_one(']],
  ['"attackers" in lis', ['lists', 'signals.blocklist_match']],
  // Nothing is left to type, nothing fits, or nothing is begun.
  ['risk_score', undefined],
  ['classification == "tor"', undefined],
  ['risk_score.x', undefined],
  ['risk_score >= 75', undefined],
  ['network.organization == "Exam', undefined],
  ['', undefined],
])('%s', (before, wanted, isPart = false) => {
  const found = completionsAt(before, ['attackers'])
  expect(found?.options.slice(0, isPart ? 2 : undefined)).toEqual(wanted)
  for (const option of found?.options ?? [])
    expect(option.toLowerCase()).toContain(before.slice(found!.from).toLowerCase())
})

it('every fact compiles', () => {
  const { options } = completionsAt('', [], true)!
  expect(options.length).toBeGreaterThan(50)
  for (const fact of options) {
    const condition = `${fact} == ${fact}`
    expect([fact, compileCondition(`(${condition}) || risk_score >= 5`).kind]).toEqual([
      fact,
      'condition',
    ])
  }
})
