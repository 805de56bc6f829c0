// Logs through a real pipe that nobody reads for a while: lines arrive whole and in order.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'

const log = new URL('../../dist/src/base/log.js', import.meta.url).href

it('loses nothing while the reader is slow, nor at exit', async () => {
  const count = 2000
  const script = `
    const { createLog } = await import(${JSON.stringify(log)})
    const log = createLog({ level: 'info', name: 'child', pretty: false })
    for (let n = 0; n < ${count}; n += 1) log.info({ n, filling: 'é'.repeat(200) }, 'line')
    process.exit(0)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'close')
  // The time in which nobody reads.
  await sleep(500)
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  await ended
  expect(child.exitCode).toBe(0)
  const numbers = text
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly n: number }).n)
  expect(numbers).toEqual(Array.from({ length: count }, (_, n) => n))
})
