// What is said of a member that is not known, and what is shown of a value.

import { expect, it } from 'vitest'
import { formatSettingValue, unknownMember } from '../../src/config/setting-problem.ts'

const known = ['list', 'entry', 'expires']

it.each([
  [{}, undefined],
  [{ list: 'a', entry: '9.1.2.3' }, undefined],
  [{ list: 'a', expire: '' }, 'unknown member "expire"; did you mean expires?'],
  [{ 'x"y': 1 }, 'unknown member "x\\"y"; known: list, entry, expires'],
  // Of a body that is one name its beginning is enough, to say and to look for.
  [
    { ['x'.repeat(1_000_000)]: 1 },
    `unknown member "${'x'.repeat(40)}"; known: list, entry, expires`,
  ],
])('names the first member that is none: %#', (members, expected) => {
  expect(unknownMember(members, known)).toBe(expected)
})

it.each([
  ['http://u:secret@x/', '"http://…@x/"'],
  ['u:secret@x/', '"u:…@x/"'],
  ['https://x/t/?X-Amz-Expires=9&X-Amz-Signature=secret', '"https://x/t/?…"'],
  ['https://u:sec?ret@x/t?a=secret', '"https://…@x/t?…"'],
  [['https://x/?a=secret', 'https://x/?a=secret'], '["https://x/?…"]'],
  ['2001:db8::1', '"2001:db8::1"'],
  ['what?', '"what?"'],
])('shows of %j no secret of an address', (value, shown) => {
  expect(formatSettingValue(value)).toBe(shown)
})
