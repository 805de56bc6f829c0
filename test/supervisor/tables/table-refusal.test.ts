// The one word for why a table was refused, by the codes of what was thrown. What real files give:
// swap.world.test.ts.

import { expect, it } from 'vitest'
import { IpriskError } from '../../../src/base/coded-error.ts'
import type { ErrorCode } from '../../../src/base/error-codes.ts'
import { tableCorrupt } from '../../../src/table/file/table-corrupt.ts'
import { tableRefusalOf } from '../../../src/supervisor/tables/table-refusal.ts'

const thrown = (code: ErrorCode, cause?: unknown): IpriskError =>
  new IpriskError({ code, message: `because of ${code}`, fault: 'input', cause })
const ofSystem = (code: string): Error => Object.assign(new Error(code), { code })

it.each([
  [tableCorrupt('/table', 'networks', 0, 'it is cut'), 'damaged'],
  [thrown('table_refused', thrown('table_version')), 'version'],
  [thrown('table_refused', thrown('table_changed', thrown('table_corrupt'))), 'changed'],
  [thrown('table_refused', ofSystem('ENOSPC')), 'disk'],
  [ofSystem('EACCES'), 'unreadable'],
  [thrown('swap_failed'), 'worker'],
  // What a message says counts for nothing.
  [thrown('table_refused', new Error('table_corrupt')), 'other'],
  ['no error', 'other'],
])('%s is %s', (what, code) => {
  expect(tableRefusalOf(what)).toEqual({
    code,
    reason: what instanceof Error ? what.message : what,
  })
})
