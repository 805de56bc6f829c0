// The decision log's files: which one is renamed to which, and when.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { rotateWhenFull } from '../../src/observe/rotate-decision-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-rotation-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('rotation', () => {
  it('renames a full file, keeps as many as it may, and drops the oldest', async () => {
    const path = join(folder, 'trail')
    for (const text of ['first', 'second', 'third', 'forth']) {
      writeFileSync(path, text)
      await rotateWhenFull({ path, bytesMax: 5, kept: 2 })
    }
    expect(existsSync(path)).toBe(false)
    expect([1, 2].map((number) => readFileSync(`${path}.${number}`, 'utf8'))).toEqual([
      'forth',
      'third',
    ])
    expect(existsSync(`${path}.3`)).toBe(false)
  })

  it('leaves a file that is not full, and none, alone', async () => {
    const path = join(folder, 'young')
    await rotateWhenFull({ path, bytesMax: 5, kept: 2 })
    writeFileSync(path, 'four')
    await rotateWhenFull({ path, bytesMax: 5, kept: 2 })
    expect(readFileSync(path, 'utf8')).toBe('four')
    expect(existsSync(`${path}.1`)).toBe(false)
  })
})
