// The verdict of a bogon (contract 3.8). It needs no evidence and is the same for all of them.

import type { Verdict } from '../model/verdict.ts'

export const bogonVerdict: Verdict = {
  classification: 'bogon',
  score: 0,
  proxy: undefined,
  bot: undefined,
  signals: {
    bogon: true,
    proxy: false,
    vpn: false,
    tor: false,
    hosting: false,
    residential_proxy: false,
    blocklist_match: false,
    relay: false,
    mobile: false,
  },
  reasons: [{ code: 'bogon', points: 0 }],
}
