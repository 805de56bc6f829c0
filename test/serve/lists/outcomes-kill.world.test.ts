// A killed server loses no outcome that it accepted (contract 6.11).

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { writeSmallTable } from '../../table/small-table.ts'
import { keyedState, serversOfTests, sleep, workersOf } from '../server.ts'
import { abuse, listsOf, report, until } from './report-outcomes.ts'

const start = serversOfTests()
const table = writeSmallTable()
const on = ['--feedback-lists']

it('reported addresses lose no outcome that was accepted, however often the server is killed', async () => {
  const { state, key } = await keyedState()
  const roundMs = [0, 400, 1200, 700, 250]
  const whole = roundMs.map((_, i) => `9.9.1.${i}`)
  const halves = roundMs.map((_, i) => `9.9.2.${i}`)
  for (const [round, ms] of roundMs.entries()) {
    const server = await start({ table, state, args: on })
    // Of an address some outcomes come before the end of a server, the rest in the next one.
    const rest = round === 0 ? [] : abuse(halves[round - 1]!, 3)
    const rows = [...rest, ...abuse(whole[round]!), ...abuse(halves[round]!, 2)]
    expect(await report({ ...server, key }, rows)).toBe(202)
    // The process that counts is killed before the server is.
    for (const pid of workersOf(server))
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('outcome-lists'))
        process.kill(pid, 'SIGKILL')
    await sleep(ms)
    await server.stop('SIGKILL')
  }
  const known = { ...(await start({ table, state, args: on })), key }
  for (const ip of [...whole, ...halves.slice(0, -1)]) await until(known, ip, ['reported'])
  expect(await listsOf(known, halves.at(-1)!)).toEqual([])
}, 240_000)
