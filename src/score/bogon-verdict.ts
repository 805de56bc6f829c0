// The verdict of every bogon; it needs no evidence.

import { type Signals, signalNames } from '../model/kind.ts'
import type { Verdict } from '../model/verdict.ts'

export const bogonVerdict: Verdict = {
  classification: 'bogon',
  score: 0,
  proxy: undefined,
  bot: undefined,
  signals: Object.fromEntries(signalNames.map((name) => [name, name === 'bogon'])) as Signals,
  reasons: [{ code: 'bogon', points: 0 }],
}
