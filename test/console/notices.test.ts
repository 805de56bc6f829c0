// How long the console's page says what was done, and what failed.

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Notice, close, onNotices, notify } from '../../src/console/page/ask/notices.ts'

let shown: readonly Notice[] = []
let end = (): void => undefined

beforeEach(() => {
  vi.useFakeTimers()
  end = onNotices((notices) => {
    shown = notices
  })
})
afterEach(() => {
  for (const { id } of shown) close(id)
  end()
  vi.useRealTimers()
})

const texts = (): readonly string[] => shown.map(({ text }) => text)

it('says for some seconds what was done', () => {
  notify('1 added')
  expect(texts()).toEqual(['1 added'])
  vi.advanceTimersByTime(10_000)
  expect(texts()).toEqual([])
})

it('offers for longer to undo what was done', () => {
  const undo = (): void => undefined
  notify('1 added', false, undo)
  vi.advanceTimersByTime(10_000)
  expect(shown[0]?.undo).toBe(undo)
  vi.advanceTimersByTime(10_000)
  expect(texts()).toEqual([])
})

it('says what failed until it is closed', () => {
  notify('There is no earlier table.', true)
  vi.advanceTimersByTime(3_600_000)
  expect(texts()).toEqual(['There is no earlier table.'])
  close(shown[0]!.id)
  expect(texts()).toEqual([])
})

it('says three things at once, the newest ones', () => {
  for (const text of ['first', 'second', 'third', 'fourth']) notify(text, true)
  expect(texts()).toEqual(['second', 'third', 'fourth'])
})
