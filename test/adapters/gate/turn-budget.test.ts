import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { newTurnBudget } from '../../../src/adapters/gate/gate.ts'

it('is spent after its time, and whole again in the next turn', async () => {
  const isSpent = newTurnBudget(100)
  expect([5000, 5100, 5101].map(isSpent)).toEqual([false, false, true])
  await nextTurn()
  expect([5200, 5301].map(isSpent)).toEqual([false, true])
})
