// A later turn: after the turn that asked, in the order in which it was asked, before timers.

import { expect, it } from 'vitest'
import { deferClose } from '../../../src/http/reply/defer-close.ts'

it('runs each once, in order, never within the turn that asked', async () => {
  const ran: string[] = []
  deferClose(() => {
    ran.push('first')
    deferClose(() => ran.push('inner'))
  })
  deferClose(() => ran.push('second'))
  await Promise.resolve()
  expect(ran).toEqual([])
  await new Promise<void>((resolve) => deferClose(resolve))
  expect(ran.slice(0, 2)).toEqual(['first', 'second'])
  await expect.poll(() => ran).toEqual(['first', 'second', 'inner'])
})
