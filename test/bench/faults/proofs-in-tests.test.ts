// Proofs that are tests in their long form name files that are there.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'

it('every file that a proof names exists', () => {
  const text = readFileSync(join(packageRoot, 'bench/faults/all.ts'), 'utf8')
  const files = [...text.matchAll(/'(test\/[^']+)'/g)].map(([, file = '']) => file)
  expect(files.length).toBeGreaterThan(20)
  expect(files.filter((file) => !existsSync(join(packageRoot, file)))).toEqual([])
})
