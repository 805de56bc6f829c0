// The day that an edition states, by the versions that its publisher has used.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { statedEditionDay } from '../../../build/evidence/data-edition.ts'
import { type Day, formatDay, parseDay } from '../../../src/base/day.ts'

const today = parseDay('2026-09-12') as Day

const dayOfVersion = (version: string): string => {
  const path = join(mkdtempSync(join(tmpdir(), 'iprisk-edition-')), 'package.json')
  writeFileSync(path, JSON.stringify({ version }))
  return formatDay(statedEditionDay('networks', [path], today))
}

it.each([
  ['2.3.2026061719', '2026-06-17'],
  ['3.0.202609122243', '2026-09-12'],
])('of version %s is %s', (version, day) => {
  expect(dayOfVersion(version)).toBe(day)
})

it.each(['3.0.20260912', '3.0.2026091222431', '3.0.202613122243', '1.0.0'])(
  'of version %s is none',
  (version) => {
    expect(() => dayOfVersion(version)).toThrow('its version states no day')
  },
)

it('is none of a day yet to come, which would make later editions older ones', () => {
  expect(dayOfVersion('2.3.2026091323')).toBe('2026-09-13')
  expect(() => dayOfVersion('2.3.2026091400')).toThrow(/2026-09-14, is in the future/)
})
