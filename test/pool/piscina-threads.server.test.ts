// The object by which Piscina shows a thread: one for all tasks. Fails where a newer Piscina is
// made otherwise inside: then `patchThreadInterface` does nothing any more, or must find another
// way.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Piscina } from 'piscina'
import { expect, it } from 'vitest'
import { patchThreadInterface } from '../../src/pool/piscina-threads.ts'
import { writeSmallTable } from '../table/small-table.ts'

it('is made once, and tasks run as before', async () => {
  const program = join(writeSmallTable(), '../echo.mjs')
  writeFileSync(program, 'export default (task) => task + 1')
  const shown: object[] = []
  const seen = new Set<object>()
  const pool = new Piscina<number, number>({
    filename: program,
    minThreads: 2,
    maxThreads: 2,
    concurrentTasksPerWorker: 2,
    loadBalancer: (_task, threads) => {
      for (const thread of threads) seen.add(thread)
      return threads.toSorted((a, b) => a.currentUsage - b.currentUsage)[0] ?? null
    },
  })
  pool.on('workerCreate', (thread: object) => {
    shown.push(thread)
    patchThreadInterface(thread)
  })
  try {
    await new Promise((resolve) => setImmediate(resolve))
    for (let i = 0; i < 10; i++) expect(await pool.run(i)).toBe(i + 1)
    expect(shown).toHaveLength(2)
    expect([...seen].every((thread) => shown.includes(thread))).toBe(true)
  } finally {
    await pool.destroy()
  }
})
