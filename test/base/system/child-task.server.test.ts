// A child that is asked: what it answers and throws, and how it ends. Real processes; what keeps one
// for the next question is tried in test/console/process/console-process.test.ts.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'
import { type Child, startChild } from '../../../src/base/system/child-task.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-child-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const dist = pathToFileURL(join(packageRoot, 'dist/src/base')).href
const program = join(folder, 'child.mjs')
writeFileSync(
  program,
  `import { answerParent } from '${dist}/system/child-task.js'
  import { IpriskError } from '${dist}/coded-error.js'
  const acts = {
    double: (value) => ({ value: value * 2, bytes: Buffer.from('ab') }),
    throw: () => { throw Object.assign(new Error('No room.'), { code: 'ENOSPC' }) },
    refuse: () => { throw new IpriskError({ code: 'bad', message: 'No.', fault: 'input' }) },
    die: () => process.kill(process.pid, 'SIGKILL'),
    exit: () => process.stderr.write('last words\\n', () => process.exit(3)),
    wait: () => new Promise(() => undefined),
  }
  answerParent(({ act, value }) => acts[act](value))`,
)

const children: Child<unknown, unknown>[] = []
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.release()
    await child.ended
  }
})

function start(path = program): Child<unknown, unknown> {
  const child = startChild({ program: path, keepsWords: true })
  children.push(child)
  return child
}

const { signal } = new AbortController()
const how = { msMax: 20_000, signal }

it('answers one question after the other, with bytes too', async () => {
  const child = start()
  for (const value of [1, 2]) {
    const outcome = await child.ask({ act: 'double', value }, how)
    const answer = { value: 2 * value, bytes: expect.any(Uint8Array) as Uint8Array }
    expect(outcome).toEqual({ kind: 'answered', answer })
  }
})

it('says what was thrown, with its code, and goes on', async () => {
  const child = start()
  const thrown = [await child.ask({ act: 'throw' }, how), await child.ask({ act: 'refuse' }, how)]
  expect(thrown).toEqual([
    { kind: 'failed', error: { code: 'ENOSPC', message: 'No room.', fault: undefined } },
    { kind: 'failed', error: { code: 'bad', message: 'No.', fault: 'input' } },
  ])
  expect(await child.ask({ act: 'double', value: 2 }, how)).toMatchObject({ kind: 'answered' })
})

it.each([
  ['die', { by: 'SIGKILL', words: '' }],
  ['exit', { by: 3, words: 'last words\n' }],
])('says what ended it, and its last words: %s', async (act, end) => {
  const child = start()
  const outcome = { kind: 'ended', end: { ...end, error: undefined } }
  expect(await child.ask({ act }, how)).toEqual(outcome)
  // Also where it had ended before it was asked.
  expect(await child.ask({ act }, how)).toEqual(outcome)
})

it('kills one that takes too long, and one that is given up', async () => {
  const late = start()
  expect(await late.ask({ act: 'wait' }, { msMax: 1, signal })).toEqual({ kind: 'late' })
  expect(await late.ended).toMatchObject({ by: 'SIGKILL' })
  const stopped = start()
  const ending = new AbortController()
  const asked = stopped.ask({ act: 'wait' }, { ...how, signal: ending.signal })
  ending.abort()
  expect(await asked).toEqual({ kind: 'stopped' })
  expect(await stopped.ended).toMatchObject({ by: 'SIGKILL' })
})

it('ends when it is released', async () => {
  const child = start()
  await child.ask({ act: 'double', value: 1 }, how)
  child.release()
  expect(await child.ended).toEqual({ by: 0, words: '', error: undefined })
})

it('goes on at signals that a whole service gets, and opens no debugger', async () => {
  const child = start()
  const double = (value: number) => child.ask({ act: 'double', value }, how)
  await double(1)
  for (const name of ['SIGHUP', 'SIGINT', 'SIGUSR2', 'SIGUSR1', 'SIGUSR1'] as const) {
    process.kill(child.pid ?? 0, name)
    expect(await double(2)).toMatchObject({ kind: 'answered' })
  }
  child.release()
  const words =
    'iprisk: SIGUSR1 is ignored: it would open the debugger of Node.js to every local user.\n'
  expect(await child.ended).toEqual({ by: 0, words, error: undefined })
})
