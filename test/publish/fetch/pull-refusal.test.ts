// The code by which what was thrown is counted.

import { expect, it } from 'vitest'
import {
  pullError,
  pullRefusalCodes,
  pullRefusalOf,
} from '../../../src/publish/fetch/pull-refusal.ts'

const withCode = (code: string): Error => Object.assign(new Error('words'), { code })

it.each(pullRefusalCodes)('%s is the one that was thrown', (code) => {
  expect(pullRefusalOf(pullError(code, 'words'))).toEqual({ code, reason: 'words' })
})

it.each(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'ENOENT'])('%s is of the disk', (code) => {
  expect(pullRefusalOf(withCode(code))).toEqual({ code: 'disk', reason: 'words' })
})

it.each([
  ['another error of the system', withCode('EMFILE')],
  ['a code that is none of these', withCode('pull_elsewhere')],
  ['a code without its beginning', withCode('table')],
  ['an error without a code', new Error('words')],
])('%s is other', (_what, error) => {
  expect(pullRefusalOf(error)).toEqual({ code: 'other', reason: 'words' })
})
