// What a killed build left beside its files goes, and a living one's stays.

import { spawnSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { removeStaleTempFiles } from '../../../build/write/write-table.ts'
import { temporaryName } from '../../../src/base/system/atomic-file.ts'
import { newFolder } from '../fetch/site.ts'

it('removes the unfinished files of a table whose process is gone, and no other file', () => {
  const folder = newFolder()
  const { pid } = spawnSync('true')
  const ours = temporaryName('t.iprisk')
  const of = (process: number): string => ours.replace(/\.\d+\./, `.${process}.`)
  const others = ['t.iprisk', 't.iprisk.candidate', of(1), temporaryName('u.iprisk')]
  for (const name of [...others, of(pid), ours]) writeFileSync(join(folder, name), '')
  removeStaleTempFiles(join(folder, 't.iprisk'))
  expect(readdirSync(folder).toSorted()).toEqual(others.toSorted())
  removeStaleTempFiles(join(folder, 'none', 't.iprisk'))
})
