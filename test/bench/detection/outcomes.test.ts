// The replay of outcomes: what docs/outcomes.md says of it holds for a small site, too.

import { expect, it } from 'vitest'
import { attack, carrierNat, poison } from '../../../bench/detection/outcomes/scenarios.ts'

const sizes = { days: 2, lines: 60, honestLines: 1500, honestLogins: 2000, seed: 7 }

it('challenges an attacker after five attempts, and none where outcomes are off', () => {
  expect(attack(sizes, { scenario: 'off', on: false })).toMatchObject({
    challenged: 0,
    delayMedian: null,
    falseChallenges: 0,
  })
  const on = attack(sizes, { scenario: 'on', on: true })
  expect(on.challenged).toBeGreaterThan(85)
  expect(on.delayMedian).toBeGreaterThan(1.5)
  expect(on.delayMedian).toBeLessThan(4)
  // An account of his own on each line, every day, undoes it all.
  expect(attack(sizes, { scenario: 'own', on: true, own: 'daily' }).challenged).toBe(0)
})

it('challenges nobody behind a carrier NAT that the table knows', () => {
  const known = carrierNat(sizes, { isKnown: true, legitimateShare: 0 })
  expect(known).toMatchObject({ falseChallenges: 0, honest: 200 })
  const unknown = carrierNat(sizes, { isKnown: false, legitimateShare: 0 })
  expect(unknown.falseChallenges).toBeGreaterThan(150)
})

it('lets a poisoner reach a thousand lines a key and hour, until their logins turn out well', () => {
  const many = { ...sizes, honestLines: 5000 }
  const one = poison(many, { poisoner: 'one', keys: 1, legitimateShare: 0 })
  expect(one.listedAfterHour).toBe(1000)
  const rivals = { poisoner: 'rival', keys: 1, rivals: 20 }
  expect(poison(sizes, { ...rivals, legitimateShare: 0 }).challenged).toBeGreaterThan(90)
  expect(poison(sizes, { ...rivals, legitimateShare: 1 }).challenged).toBeLessThan(5)
})
