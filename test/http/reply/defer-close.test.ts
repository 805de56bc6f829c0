// A later turn: after the turn that asked, in the order in which it was asked, before timers.

import { expect, it } from 'vitest'
import { later } from '../../../src/http/reply/defer-close.ts'

it('runs each once, in order, never within the turn that asked', async () => {
  const ran: string[] = []
  later(() => {
    ran.push('first')
    later(() => ran.push('inner'))
  })
  later(() => ran.push('second'))
  await Promise.resolve()
  expect(ran).toEqual([])
  await new Promise<void>((resolve) => later(resolve))
  expect(ran.slice(0, 2)).toEqual(['first', 'second'])
  await expect.poll(() => ran).toEqual(['first', 'second', 'inner'])
})
