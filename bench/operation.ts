// The operations that bench/lookup.ts measures, one row each, from a table and the addresses of one
// scenario to a function over a slice of them. Each returns a sum of what it found, so that nothing
// of its work can be left out.

import { newWords } from '../src/ip/address.ts'
import { parseAddress } from '../src/ip/parse.ts'
import { locate, newLocated } from '../src/table/locate.ts'
import type { OpenTable } from '../src/table/open.ts'
import type { Addresses } from './scenario.ts'

/** Works on the addresses from `first` to before `end`; gives a sum from 0 to 2^32 - 1. */
export type Pass = (first: number, end: number) => number

export interface Operation {
  readonly name: string
  /** What it is, for the report. */
  readonly title: string
  readonly prepare: (table: OpenTable, addresses: Addresses) => Pass
}

export const operations: readonly Operation[] = [
  {
    name: 'parse',
    title: 'text to words',
    prepare: (_table, { texts }) => {
      const words = newWords()
      return (first, end) => {
        let sum = 0
        for (let at = first; at < end; at++) {
          sum = (sum + parseAddress(texts[at]!, words)) | 0
          sum = (sum + (words[0]! ^ words[3]!)) | 0
        }
        return sum >>> 0
      }
    },
  },
  {
    name: 'locate',
    title: 'words to record',
    prepare: ({ reader }, { family, words }) => {
      const { views } = reader
      const address = newWords()
      const located = newLocated()
      return (first, end) => {
        let sum = 0
        for (let at = first; at < end; at++) {
          const from = at * 4
          address[0] = words[from]!
          address[1] = words[from + 1]!
          address[2] = words[from + 2]!
          address[3] = words[from + 3]!
          locate(views, family, address, located)
          sum = (sum + located.network + located.location + located.verdict) | 0
        }
        return sum >>> 0
      }
    },
  },
  {
    name: 'find',
    title: 'text to record',
    prepare: ({ reader }, { texts }) => {
      const { views } = reader
      const address = newWords()
      const located = newLocated()
      return (first, end) => {
        let sum = 0
        for (let at = first; at < end; at++) {
          const family = parseAddress(texts[at]!, address)
          if (family === 0) continue
          locate(views, family, address, located)
          sum = (sum + located.network + located.location + located.verdict) | 0
        }
        return sum >>> 0
      }
    },
  },
  {
    name: 'check',
    title: 'text to the whole answer',
    prepare: (table, { texts }) => {
      return (first, end) => {
        let sum = 0
        for (let at = first; at < end; at++) {
          const answer = table.check(texts[at]!)
          if (answer === undefined) continue
          const asn = answer.network === null ? 0 : answer.network.asn
          sum = (sum + asn + answer.risk_score + answer.reasons.length) | 0
        }
        return sum >>> 0
      }
    },
  },
]
