// The sentences in red at the end of a start: all that the coverage of answers names.

import { expect, it } from 'vitest'
import { gapsText } from '../../../src/cli/server/first-request.ts'

it.each([
  [[], [], ''],
  [
    ['vpn', 'proxy'],
    [],
    'This table has no feeds of vpn, proxy: "clean" says nothing about these.',
  ],
  [[], ['tor'], 'This table knows tor only in part: "clean" says little about these.'],
  [
    ['vpn'],
    ['tor', 'bot'],
    'This table has no feeds of vpn and knows tor, bot only in part: ' +
      '"clean" says little about these.',
  ],
] as const)('without %j, and with a part of %j', (missing, partly, text) => {
  expect(gapsText({ missing, partly })).toBe(text)
})
