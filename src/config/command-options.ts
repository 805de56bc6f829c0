// Rows of the table of options (option-table.ts) that one command alone has.

import { z } from 'zod'
import { exportFormats, mmdbLayoutNames } from './line-formats.ts'
import { listEffects } from './list-effects.ts'
import * as is from './setting-checks.ts'

const exporting = ['export'] as const

export const exportOptions = {
  'invocation.exportFormat': {
    flag: '--format <format>',
    commands: exporting,
    help: `what to write: ${exportFormats.join(', ')}`,
    type: is.oneOf(exportFormats).exactOptional(),
    variable: 'IPRISK_EXPORT_FORMAT',
  },
  'invocation.exportFile': {
    flag: '--out <file>',
    commands: exporting,
    help: 'where it is written; the NOTICE goes beside it',
    type: is.path.exactOptional(),
    // Not IPRISK_OUT, which names the table of `build`.
    variable: 'IPRISK_EXPORT_OUT',
  },
  'invocation.where': {
    flag: '--where <condition>',
    commands: exporting,
    help: 'only addresses for which it is true: signals.tor || risk_score >= 75',
    type: is.textOf('a condition in CEL', (value) => value !== '').exactOptional(),
  },
  'invocation.allowEmpty': {
    flag: '--allow-empty',
    commands: exporting,
    help: 'write the file even if no address matches; loading an empty set empties the firewall',
    type: is.onOff.default(false),
  },
  'invocation.layout': {
    flag: '--layout <layout>',
    commands: exporting,
    help: 'of mmdb, what its records say: iprisk by default, or anonymous-ip, city, asn as GeoIP2 has them',
    type: is.oneOf(mmdbLayoutNames).exactOptional(),
  },
  'invocation.licences': {
    flag: '--licences <list>',
    commands: exporting,
    help: 'the licences under which alone data may be handed on, commas between, or a file of them',
    type: is
      .textOf('a list of licences or a file of them', (value) => value !== '')
      .exactOptional(),
  },
} as const

export const listOptions = {
  'invocation.effect': {
    flag: '--effect <effect>',
    commands: ['lists create'],
    help: 'what the list does to the score: none, allow (0) or block (100); none by default',
    type: is.oneOf(listEffects).default('none'),
  },
  'invocation.for': {
    flag: '--for <span>',
    commands: ['lists add'],
    help: 'how long the entries count: 90m, 12h, 7d; for ever by default',
    type: is.listSpan.exactOptional(),
  },
  'invocation.note': {
    flag: '--note <text>',
    commands: ['lists add'],
    help: 'why, in a line, for people',
    type: z.string().exactOptional(),
  },
} as const
