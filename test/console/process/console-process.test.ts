// The console's process, by real child processes of a program of the test: its answers, one that
// takes too long, one that dies, more questions than may wait, and its end.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import path from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import type { Log } from '../../../src/base/log.ts'
import type { ConsoleQuestion } from '../../../src/console/process/console-messages.ts'
import {
  createConsoleProcess,
  type ConsoleProcess,
  consoleAsksMax,
} from '../../../src/console/process/console-process.ts'

// Answers with its process's id after the milliseconds that `ip` names; dies at `die`.
const program = `
  process.on('message', ({ ip }) => {
    if (ip === 'die') process.exit(3)
    const body = Buffer.from(String(process.pid))
    if (ip === 'refuse') process.send({ thrown: { code: 'invalid_input', message: 'No.', fault: 'input' } })
    else setTimeout(() => process.send({ answer: { status: 200, body } }), Number(ip))
  })
  process.on('disconnect', () => process.exit(0))
`

const world = { table: 'none', builtMs: 0, stores: { kind: 'memory' } } as never

function question(ip: string): ConsoleQuestion {
  return { kind: 'address', world, ip, without: [], days: 1 }
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'iprisk-console-process-'))
const file = path.join(folder, 'answers.mjs')
writeFileSync(file, program)
afterAll(() => rmSync(folder, { recursive: true }))

let warned: string[] = []
let open: ConsoleProcess

beforeEach(() => {
  warned = []
  const log = { warn: (_: unknown, text: string) => warned.push(text) } as unknown as Log
  open = createConsoleProcess(log, { program: file, askMsMax: 4000, idleMs: 300 })
})
afterEach(() => open.close())

const ask = async (ip: string): Promise<string> =>
  Buffer.from((await open.ask(question(ip))).body).toString()

function isAlive(pid: string): boolean {
  try {
    return process.kill(Number(pid), 0)
  } catch {
    return false
  }
}

test('answers in the order of the questions, by one process', async () => {
  const order: string[] = []
  const answers = await Promise.all(
    ['120', '1', '40'].map(async (ip) => {
      const pid = await ask(ip)
      order.push(ip)
      return pid
    }),
  )
  expect(order).toEqual(['120', '1', '40'])
  expect(new Set(answers).size).toBe(1)
})

test('a rehearsal holds up no look-up', async () => {
  open.close()
  open = createConsoleProcess({ warn: () => undefined } as unknown as Log, { program: file })
  let isOver = false
  const rehearsal = open.ask({ ...question('25000'), kind: 'rehearsal' } as never)
  const over = rehearsal.catch(() => (isOver = true))
  await ask('0')
  expect(isOver).toBe(false)
  open.close()
  await over
})

test('throws what the process refused, and goes on', async () => {
  await expect(open.ask(question('refuse'))).rejects.toMatchObject({
    code: 'invalid_input',
    fault: 'input',
  })
  expect(await ask('0')).toMatch(/^\d+$/)
  expect(warned).toEqual([])
})

test('a question that takes too long fails, and its process is ended; the next one has another', async () => {
  const first = await ask('0')
  const late = open.ask(question('60000'))
  const behind = ask('0')
  await expect(late).rejects.toMatchObject({ code: 'console_unavailable' })
  expect(await behind).not.toBe(first)
  await expect.poll(() => isAlive(first)).toBe(false)
  expect(warned).toEqual(["The console's process took too long; it was stopped."])
})

test('a process that dies fails its question alone', async () => {
  const dead = open.ask(question('die'))
  const behind = ask('0')
  await expect(dead).rejects.toMatchObject({ code: 'console_unavailable', retryable: true })
  expect(await behind).toMatch(/^\d+$/)
})

test('a process that dies with nothing to do is started again', async () => {
  const first = await ask('0')
  process.kill(Number(first), 'SIGKILL')
  await expect.poll(() => isAlive(first)).toBe(false)
  await expect.poll(() => warned.length).toBe(1)
  expect(await ask('0')).not.toBe(first)
})

test('a program that is not there fails the question', async () => {
  const none = createConsoleProcess({ warn: () => undefined } as unknown as Log, {
    program: '/nowhere/none.mjs',
  })
  await expect(none.ask(question('0'))).rejects.toMatchObject({ code: 'console_unavailable' })
  none.close()
})

test('refuses more questions than may wait', async () => {
  open.close()
  open = createConsoleProcess({ warn: () => undefined } as unknown as Log, { program: file })
  const held = ask('300')
  const waiting = Array.from({ length: consoleAsksMax }, (_, at) =>
    open.ask(question('0'), at % 2 === 0 ? 'maria' : 'wall'),
  )
  await expect(open.ask(question('0'))).rejects.toThrow(`${consoleAsksMax} requests already wait`)
  await Promise.all([held, ...waiting])
  expect(await ask('0')).toMatch(/^\d+$/)
})

test('leaves room for others, however many questions one caller has', async () => {
  open.close()
  open = createConsoleProcess({ warn: () => undefined } as unknown as Log, { program: file })
  const held = ask('300')
  const many = Array.from({ length: 2 * consoleAsksMax }, () => open.ask(question('0'), 'wall'))
  const settled = Promise.allSettled(many)
  const other = open.ask(question('0'), 'maria')
  await Promise.all([held, other])
  const refused = (await settled).filter(({ status }) => status === 'rejected')
  expect(refused.length).toBe(consoleAsksMax * 1.5 - 1)
  expect(String((refused[0] as PromiseRejectedResult).reason)).toContain(
    'of your requests already wait',
  )
})

test('ends when nobody asks', async () => {
  const pid = await ask('0')
  expect(isAlive(pid)).toBe(true)
  await expect.poll(() => isAlive(pid), { timeout: 5000 }).toBe(false)
  expect(warned).toEqual([])
})

test('the end of the server answers whoever waits, and ends the process', async () => {
  const pid = await ask('0')
  const running = open.ask(question('60000'))
  const behind = open.ask(question('0'))
  const answers = Promise.allSettled([running, behind])
  await sleep(20)
  open.close()
  expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect.poll(() => isAlive(pid)).toBe(false)
})
