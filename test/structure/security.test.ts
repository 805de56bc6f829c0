// SECURITY.md says which test holds each boundary: the tests that it names are there.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'

it('every test that SECURITY.md names exists', () => {
  const text = readFileSync(join(packageRoot, 'SECURITY.md'), 'utf8')
  const files = readdirSync(join(packageRoot, 'test'), { recursive: true, encoding: 'utf8' })
  const named = [...text.matchAll(/`test\/([^`]+)`/g)].map(([, path]) => path ?? '')
  expect(named.length).toBeGreaterThan(10)
  const absent = named.filter((path) => {
    const [start = ''] = path.split('*')
    return !files.some((file) => file.startsWith(start))
  })
  expect(absent).toEqual([])
})
