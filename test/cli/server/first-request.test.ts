// The sentences in red at the end of a start: all that the coverage of answers names.

import { expect, it } from 'vitest'
import { gapsText } from '../../../src/cli/server/first-request.ts'

it.each([
  [[], [], ''],
  [
    ['vpn', 'proxy'],
    [],
    'This table has no feeds for vpn, proxy, so "clean" says nothing about them.',
  ],
  [[], ['tor'], 'This table has only some of the data for tor, so "clean" says little about them.'],
  [
    ['vpn'],
    ['tor', 'bot'],
    'This table has no feeds for vpn and has only some of the data for tor, bot, ' +
      'so "clean" says little about them.',
  ],
] as const)('without %j, and with a part of %j', (missing, partly, text) => {
  expect(gapsText({ missing, partly })).toBe(text)
})
