// What is committed of the kept run is what the generator makes of it: no figure was typed.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { publishedFiles } from '../../../bench/speed/report/markdown.ts'
import { newestRun } from '../../../bench/speed/report/kept-run.ts'
import { packageRoot } from '../../../src/base/package-root.ts'

const folder = newestRun(join(packageRoot, 'bench/runs'))
const texts = folder === undefined ? [] : [...publishedFiles(folder)]

describe('the kept run', () => {
  it('is there', () => {
    expect(folder).toBeDefined()
  })

  it.each(texts)('is what %s was made of', (path, text) => {
    const file = join(packageRoot, path)
    expect(existsSync(file) ? readFileSync(file, 'utf8') : 'missing').toBe(text)
  })

  it('gives the same texts twice', () => {
    expect(folder === undefined ? [] : [...publishedFiles(folder)]).toEqual(texts)
  })
})
