// A machine's balance among four processes that spend and book at once: nothing is lost and nothing
// is made, though spending swaps 32 bits and booking 64.

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { mapSharedFile } from '../../../src/base/system/memory-map.ts'
import { inForm } from '../../form.ts'

const child = fileURLToPath(
  new URL('../../../dist/test/account/limits/balance-child.js', import.meta.url),
)
const run = promisify(execFile)

it('a balance is exact among four processes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-balance-'))
  const file = join(folder, 'words')
  writeFileSync(file, Buffer.alloc(4096))
  const milliseconds = String(inForm({ short: 1000, full: 3000 }))
  const ran = [0, 1, 2, 3].map(() => run(process.execPath, [child, file, '4', milliseconds]))
  const told = (await Promise.all(ran)).map(
    ({ stdout }) =>
      JSON.parse(stdout) as {
        readonly spent: number
        readonly booked: number
        readonly late: number
      },
  )
  const sum = (name: 'spent' | 'booked' | 'late'): number =>
    told.reduce((total, one) => total + one[name], 0)
  const map = mapSharedFile(file, 4096)
  const balance = Buffer.from(map.bytes).readInt32LE(16 * 4)
  map.unmap()
  rmSync(folder, { recursive: true })
  expect(sum('booked') - sum('spent')).toBe(balance)
  expect(balance).toBeGreaterThanOrEqual(-25)
  expect(sum('booked')).toBeGreaterThan(10_000)
  // Only a process that was stopped for two seconds is.
  expect(sum('late')).toBeLessThan(5)
  expect(told.every(({ spent }) => spent > 0)).toBe(true)
})
