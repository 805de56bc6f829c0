// The table of error codes: each is used, and what comes from another process is told from the rest.

import { expect, it } from 'vitest'
import { errorCodes, isErrorCode } from '../../src/base/error-codes.ts'
import { pullRefusalCodes } from '../../src/publish/fetch/pull-refusal.ts'
import { sourceFiles } from '../structure/source.ts'

it('lists no code that nothing throws', () => {
  const used = new Set<string>(['table_changed', 'table_traffic'])
  for (const code of pullRefusalCodes) used.add(`pull_${code}`)
  for (const { path, text } of sourceFiles(['src', 'build', 'bench'])) {
    if (path === 'src/base/error-codes.ts') continue
    for (const [, code] of text.matchAll(/'([a-z]+(?:_[a-z]+)*)'/g)) used.add(code!)
  }
  expect(Object.keys(errorCodes).filter((code) => !used.has(code))).toEqual([])
})

it('is in the order of the alphabet', () => {
  const codes = Object.keys(errorCodes)
  expect(codes).toEqual(codes.toSorted())
})

it('knows its own codes, and no member of an object', () => {
  expect(isErrorCode('table_corrupt')).toBe(true)
  for (const other of ['toString', '__proto__', 'ENOSPC', '', 7, undefined]) {
    expect(isErrorCode(other)).toBe(false)
  }
})
