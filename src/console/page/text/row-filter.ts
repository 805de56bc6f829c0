// The filter of judged rows: commas separate alternatives, whose words must all match.
//
//   tor, vpn AS24940 >= 50        Tor exits, and VPNs of AS24940 from a score of 50 on
//
// A class, an AS number and a country in capitals match as a whole; other words match anywhere.

import { classifications } from '../../../model/kind.ts'
import { type AddressRow, isJudged } from './answer-csv.ts'

const termForm = /(>=|<=|>|<|=)\s*(\d+)|[^\s,]+/g

type Term = (row: AddressRow, text: string) => boolean

export function matchingRows(rows: readonly AddressRow[], filter: string): readonly AddressRow[] {
  const wanted = filter
    .split(',')
    .map((part) => [...part.matchAll(termForm)].map(termOf))
    .filter((terms) => terms.length > 0)
  if (wanted.length === 0) return rows
  return rows.filter((row) => {
    const text = Object.values(row).flat().join(' ').toLowerCase()
    return wanted.some((terms) => terms.every((holds) => holds(row, text)))
  })
}

const comparisons: Readonly<Record<string, (score: number, than: number) => boolean>> = {
  '>=': (score, than) => score >= than,
  '<=': (score, than) => score <= than,
  '>': (score, than) => score > than,
  '<': (score, than) => score < than,
  '=': (score, than) => score === than,
}

function termOf([word, sign = '', number]: RegExpMatchArray): Term {
  const holds = comparisons[sign]
  if (holds !== undefined) return (row) => isJudged(row) && holds(row.risk_score, Number(number))
  const wanted = word.toLowerCase()
  if (classifications.some((one) => one === wanted))
    return (row) => isJudged(row) && row.classification === wanted
  const asn = /^as(\d+)$/.exec(wanted)?.[1]
  if (asn !== undefined) return (row) => isJudged(row) && row.asn === Number(asn)
  if (/^[A-Z]{2}$/.test(word)) return (row) => isJudged(row) && row.country === word
  return (_, text) => text.includes(wanted)
}
