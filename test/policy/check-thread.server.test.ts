// The check of policies that are being edited: in a thread, by the compiled program.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { startOneShotThread } from '../../src/base/system/one-shot-thread.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import type * as CheckThread from '../../src/policy/check-thread.ts'
import { checkOf } from '../../src/policy/check-thread.ts'
import { checkWritten } from '../../src/policy/policy-file.ts'

const compiled = (name: string): string => join(packageRoot, 'dist/src/policy', name)
const { checkInThread } = (await import(compiled('check-thread.js'))) as typeof CheckThread

const file = (condition: string): object => ({
  policies: {
    default: { rules: [{ name: 'one', condition, action: 'block' }], otherwise: 'allow' },
  },
})
const files = [
  ['is sound', file('risk_score >= 90')],
  ['never matches', file('location.country_code == "UK"')],
  ['would take long', file(`lists.exists(l, ${Array<string>(400).fill('l == "a"').join(' || ')})`)],
  ['is of another shape', { policy: [] }],
] as const

it.each(files)('says of one that %s what the command says', async (_, content) => {
  const text = JSON.stringify(content)
  const program = pathToFileURL(compiled('check-thread-main.js'))
  const thread = startOneShotThread<string, CheckThread.PolicyCheck>(program)
  thread.ask(text)
  expect(await thread.answer()).toEqual(checkOf(checkWritten(text)))
})

it('starts one thread after the other', async () => {
  let running = 0
  let most = 0
  let started = 0
  const count = (worker: { once: (event: 'exit', listener: () => void) => void }): void => {
    started += 1
    most = Math.max(most, (running += 1))
    worker.once('exit', () => (running -= 1))
  }
  process.on('worker', count)
  try {
    const checks = await Promise.all(files.map(([, content]) => checkInThread(content)))
    expect(checks.map(({ mistakes }) => mistakes.length > 0)).toEqual([false, true, true, true])
    expect(started).toBe(files.length)
    // One that has answered may still be on its way out.
    expect(most).toBeLessThanOrEqual(2)
  } finally {
    process.off('worker', count)
  }
})

it('refuses what no start would read, without a thread', async () => {
  const { mistakes } = await checkInThread({ policies: 'x'.repeat(2 ** 20) })
  expect(mistakes).toEqual(['a policies file has at most 1048576 bytes'])
})
