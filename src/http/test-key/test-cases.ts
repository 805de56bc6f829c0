// What test keys answer (contract 5.7: test keys): a case for each number at the end of a test
// address. Verdicts come from the model itself, over evidence as one certain feed would give it.

import { parseDay, type Day } from '../../base/day.ts'
import type { Evidence } from '../../model/evidence.ts'
import type { Kind } from '../../model/kind.ts'
import { type Network, noTraits } from '../../model/network.ts'
import { judgeWithFindings } from '../../score/judge.ts'

export interface TestVerdict {
  readonly kind: 'verdict'
  readonly judged: ReturnType<typeof judgeWithFindings>
  readonly network: Network
}

export type TestCase =
  | TestVerdict
  | { readonly kind: 'bogon' }
  | {
      readonly kind: 'refusal'
      readonly code: 'rate_limit_exceeded' | 'api_quota_exceeded' | 'upstream_unavailable'
    }
  /** The answer of number 1, after two seconds. */
  | { readonly kind: 'slow' }

/** For the evidence and the named table; it never changes. */
export const testDay = parseDay('2026-01-01') as Day

/** `good`: not the operator's own list. */
function seen(kind: Kind, more: Partial<Evidence> = {}, assurance: 'direct' | 'good' = 'direct') {
  return {
    voice: {
      id: `test-${kind}`,
      group: `test-${kind}`,
      weight: 1,
      assurance,
      rolling: false,
      asns: [],
    },
    kind,
    match: 'exact',
    provider: '',
    category: undefined,
    lists: 1,
    firstSeen: testDay,
    lastSeen: testDay,
    daysListed: 30,
    daysObserved: 30,
    ...more,
  } satisfies Evidence
}

const access: Network = {
  ...noTraits,
  asn: 64496,
  organization: 'Example Access',
  type: 'isp',
  access: true,
}
const hoster: Network = {
  ...access,
  asn: 64497,
  organization: 'Example Hosting',
  type: 'hosting',
  access: false,
}
const carrier: Network = {
  ...access,
  asn: 64498,
  organization: 'Example Mobile',
  type: 'mobile',
  mobile: true,
  shared: true,
}

function verdict(network: Network, ...evidence: readonly Evidence[]): TestVerdict {
  const judged = judgeWithFindings({ evidence, network, asOf: testDay })
  return { kind: 'verdict', network, judged }
}

const ofOperator = { match: 'range', provider: 'Example VPN' } as const

/** All other numbers are bogons. */
export const testCases: ReadonlyMap<number, TestCase> = new Map<number, TestCase>([
  [1, verdict(access)],
  [2, verdict(hoster, seen('bot', { provider: 'Examplebot', category: 'search_crawler' }))],
  [3, verdict(hoster, seen('hosting', { match: 'range', provider: 'Example Hosting' }))],
  [4, verdict(access, seen('proxy'))],
  [5, verdict(hoster, seen('vpn', ofOperator))],
  [6, verdict(hoster, seen('tor'))],
  [7, verdict(access, seen('residential_proxy'))],
  [8, verdict(access, seen('residential_proxy', {}, 'good'), seen('vpn', {}, 'good'))],
  [9, verdict(hoster, seen('relay', { match: 'range', provider: 'Example Relay' }))],
  [10, verdict(carrier)],
  [11, verdict(access, seen('blocklist', { lists: 3 }))],
  [20, { kind: 'refusal', code: 'rate_limit_exceeded' }],
  [21, { kind: 'refusal', code: 'api_quota_exceeded' }],
  [22, { kind: 'refusal', code: 'upstream_unavailable' }],
  [23, { kind: 'slow' }],
])
