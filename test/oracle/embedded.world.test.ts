// IPv6 forms of IPv4 addresses (contract 3.9), asked through the text of an address: the answer is
// that of the IPv4 address inside. 6to4 has IPv6 records of its own beside it; of the two verdicts
// the higher score counts whole.

import { beforeAll, expect, it } from 'vitest'
import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import type { CheckAnswer } from '../../src/api/check-answer.ts'
import { describeFeeds } from '../feeds.ts'
import { worldTable } from '../world/world-tables.ts'
import { type Point, spanOf, textOf } from './address.ts'
import { plainFeeds } from './feeds.ts'
import { newRandom } from './sample.ts'

const hex = (value: number): string => value.toString(16).padStart(8, '0')
const groups = (digits: string): string => digits.match(/.{4}/g)!.join(':')

/** The four forms, as text. */
const forms: Readonly<Record<string, (value: number) => string>> = {
  mapped: (value) => `::ffff:${textOf(value)}`,
  nat64: (value) => `64:ff9b::${textOf(value)}`,
  teredo: (value) => `2001:0:4136:e378:8000:63bf:${groups(hex(~value >>> 0))}`,
  sixToFour: (value) => `2002:${groups(hex(value))}::1`,
}

describeFeeds('IPv4 inside IPv6', () => {
  let table: OpenTable
  let values: number[]
  beforeAll(async () => {
    table = openTable(await worldTable())
    const random = newRandom(7)
    const listed = plainFeeds
      .filter(({ kind }) => kind !== 'hosting')
      .flatMap((feed) => feed.entries().slice(0, 50))
      .map(({ text }): Point => spanOf(text).first)
      .filter((point) => typeof point === 'number')
    values = [...Array.from({ length: 3000 }, () => Math.floor(random() * 2 ** 32)), ...listed]
  })

  const ask = (text: string): CheckAnswer => {
    const answer = table.check(text)
    if (answer === undefined) throw new Error(`${text} is no address`)
    return answer
  }
  // What may differ: how the address is written, and for 6to4 where it is.
  const judged = (answer: CheckAnswer) => ({ ...answer, ip: '', version: 0, address: '' })
  const verdict = (answer: CheckAnswer) => ({ ...judged(answer), network: null, location: null })

  for (const form of ['mapped', 'nat64', 'teredo'] as const) {
    it(`${form}: whole the answer of the IPv4 address`, () => {
      for (const value of values) {
        const answer = ask(forms[form]!(value))
        expect(judged(answer)).toEqual(judged(ask(textOf(value))))
        expect(answer.version).toBe(form === 'mapped' ? 4 : 6)
      }
    })
  }

  it('6to4: the verdict of the IPv4 address, bogon if that is, its own network where it has one', () => {
    const counts = { own: 0, inner: 0, bogon: 0 }
    for (const value of values) {
      const inner = ask(textOf(value))
      const answer = ask(forms['sixToFour']!(value))
      expect(answer.version).toBe(6)
      expect(answer.classification === 'bogon').toBe(inner.classification === 'bogon')
      expect(answer.risk_score).toBeGreaterThanOrEqual(inner.risk_score)
      const louder = answer.risk_score > inner.risk_score
      expect(verdict(louder ? inner : answer)).toEqual(verdict(inner))
      if (inner.classification === 'bogon') counts.bogon++
      else if (answer.network?.asn === inner.network?.asn) counts.inner++
      else counts.own++
    }
    process.stdout.write(`6to4: ${JSON.stringify(counts)}\n`)
    expect(counts.bogon).toBeGreaterThan(100)
  })
})
