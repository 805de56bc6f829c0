// The operations of this product that bench/speed/lookup.ts measures, one row each, from a table
// and the addresses of one scenario to a function of one address. Each gives a number below 2^31 of
// what it found, so that nothing of its work can be left out; the loops around them are in
// bench/speed/lookups/loop.ts.

import { newAddressWords } from '../../../src/ip/address.ts'
import { parseAddress } from '../../../src/ip/parse-address.ts'
import { type Located, locate, newLocated } from '../../../src/table/lookup/locate.ts'
import { newDecisionMemory, recall } from '../../../src/policy/decision-memory.ts'
import { defaultPoliciesText } from '../../../src/policy/default-policies.ts'
import { checkPolicies } from '../../../src/policy/policy-file.ts'
import { compilePolicies } from '../../../src/policy/policy.ts'
import type { OpenTable } from '../../../src/table/open-table.ts'
import { searchIpv4, searchIpv6 } from '../../../src/table/lookup/search.ts'
import type { Step } from './loop.ts'
import type { Addresses } from './scenario.ts'

export interface Operation {
  readonly name: string
  /** What it is, for the report. */
  readonly title: string
  readonly prepare: (table: OpenTable, addresses: Addresses) => Step
}

export const operations: readonly Operation[] = [
  {
    name: 'parse',
    title: 'text to words',
    prepare: (_table, { texts }) => {
      const words = newAddressWords()
      return (at) => (parseAddress(texts[at]!, words) + (words[0]! ^ words[3]!)) & 0x7fff_ffff
    },
  },
  {
    name: 'search',
    title: 'words to the number of the record',
    prepare: ({ reader }, { family, words }) => {
      const { views } = reader
      if (family === 4) return (at) => searchIpv4(views, words[at * 4]!)
      const address = newAddressWords()
      return (at) => {
        copyWords(words, at, address)
        return searchIpv6(views, address)
      }
    },
  },
  {
    name: 'locate',
    title: 'words to the record, bogons and embedded addresses judged',
    prepare: ({ reader }, { family, words }) => {
      const { views } = reader
      const address = newAddressWords()
      const located = newLocated()
      return (at) => {
        copyWords(words, at, address)
        locate(views, family, address, located)
        return sumOf(located)
      }
    },
  },
  {
    name: 'decide',
    title: 'a record to the decision of a policy, remembered',
    prepare: ({ reader }, { family, words, count }) => {
      const { views } = reader
      const checked = checkPolicies(defaultPoliciesText({ observe: false }))
      if ('mistakes' in checked) throw new Error(checked.mistakes.join())
      const memory = newDecisionMemory(compilePolicies(checked.policies), reader)
      const address = newAddressWords()
      const located = newLocated()
      const records = new Int32Array(count)
      const bogons = new Uint8Array(count)
      for (let at = 0; at < count; at++) {
        copyWords(words, at, address)
        locate(views, family, address, located)
        records[at] = located.record
        bogons[at] = Number(located.bogon)
        recall(memory, 0, located)
      }
      return (at) => {
        located.record = records[at]!
        located.bogon = bogons[at] === 1
        // The first outcome has the number 0.
        return recall(memory, 0, located) + 1
      }
    },
  },
  {
    name: 'find',
    title: 'text to the record',
    prepare: ({ reader }, { texts }) => {
      const { views } = reader
      const address = newAddressWords()
      const located = newLocated()
      return (at) => {
        const family = parseAddress(texts[at]!, address)
        if (family === 0) return 0
        locate(views, family, address, located)
        return sumOf(located)
      }
    },
  },
  {
    name: 'check',
    title: 'text to the whole answer, an object',
    prepare:
      (table, { texts }) =>
      (at) => {
        const answer = table.check(texts[at]!)
        if (answer === undefined) return 0
        const asn = answer.network === null ? 0 : answer.network.asn
        return (asn + answer.risk_score + answer.reasons.length) & 0x7fff_ffff
      },
  },
]

function copyWords(words: Uint32Array, at: number, out: Uint32Array): void {
  const from = at * 4
  out[0] = words[from]!
  out[1] = words[from + 1]!
  out[2] = words[from + 2]!
  out[3] = words[from + 3]!
}

function sumOf(located: Located): number {
  return (located.network + located.location + located.verdict) & 0x7fff_ffff
}
