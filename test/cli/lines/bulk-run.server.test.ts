// Which files of lines are worth a thread: a file for which threads would take longer to start than
// its lines to be answered has none.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { writeSmallTable } from '../../table/small-table.ts'
import { newFolder, runHere } from '../program.ts'

const table = writeSmallTable()
let threads = 0
const count = (): void => {
  threads += 1
}
beforeEach(() => {
  threads = 0
  process.on('worker', count)
})
afterEach(() => {
  process.off('worker', count)
})

it.each([
  ['three thousand', 3000, false],
  ['a hundred thousand', 100_000, true],
])('a file of %s addresses', async (_words, lines, isForThreads) => {
  const cwd = newFolder()
  writeFileSync(join(cwd, 'ips.txt'), '9.1.2.3\n'.repeat(lines))
  const ended = await runHere(['check', 'ips.txt', '--table', table], { cwd })
  expect(ended).toMatchObject({ code: 0, err: '' })
  expect(ended.out.match(/"classification":"tor"/g)).toHaveLength(lines)
  expect(threads > 0).toBe(isForThreads)
})
