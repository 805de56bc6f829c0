// The answer's bytes against their twin over tables of every kind of text, and how they are made:
// without JSON, without a string.

import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { makePlaceRuns } from '../../../build/places/place-runs.ts'
import { assembleTable } from '../../../build/assemble-table.ts'
import { parseDay } from '../../../src/base/day.ts'
import { formatAddress } from '../../../src/ip/format-address.ts'
import { formatAddressBytes, formatIpv4Bytes } from '../../../src/ip/format-address-bytes.ts'
import { accuracies } from '../../../src/model/kind.ts'
import { openAnswerWriter } from '../../../src/table/answer/answer-writer.ts'
import { type Query, parseQuery, newQuery } from '../../../src/table/lookup/query.ts'
import { checkAddress } from '../../../src/table/answer/check-address.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { openAnswerReader } from '../../../src/table/answer/answer-reader.ts'
import type { Table } from '../../../src/table/table.ts'
import { readTableView } from '../../../src/table/file/table-view.ts'
import { smallParts, writeSmallTable } from '../small-table.ts'
import { differenceOf } from './answer-twin.ts'
import { inForm } from '../../form.ts'
import { encodedTable } from '../encoded-table.ts'

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: fc.constantFrom('"', '\\', '\0', '\u001f', '\n', '\u007f', 'é', '\u2028') }),
  fc.constantFrom('', '\ufeffx', 'x'.repeat(5000)),
)

/** A table of the small one's shape, with other facts. */
const tables = fc
  .record({
    asn: fc.integer({ min: 0, max: 0xffff_ffff }),
    organization: anyText,
    mobile: fc.boolean(),
    place: fc.record({ state: anyText, city: anyText, zip: anyText, timezone: anyText }),
    country: fc.record({ country_code: anyText, country: anyText, currency_code: anyText }),
    accuracy: fc.constantFrom(...accuracies),
    latitude: fc.integer({ min: -900_000, max: 900_000 }).map((value) => value / 10_000),
    longitude: fc.integer({ min: -1_800_000, max: 1_800_000 }).map((value) => value / 10_000),
  })
  .map(({ asn, organization, mobile, place, country, ...rest }) => {
    const parts = smallParts()
    const locations = parts.locations.map((one) => ({ ...one, ...place, ...country, ...rest }))
    return assembleTable({
      ...parts,
      networks: parts.networks.map((network) => ({ ...network, asn, organization, mobile })),
      locations,
      placeRuns: makePlaceRuns(locations),
    }).content
  })

const octet = fc.integer({ min: 0, max: 255 })
const group = fc.oneof(fc.constant(0), fc.constantFrom(1, 3, 0xffff), fc.nat(0xffff))
const ipv4Text = fc
  .tuple(fc.constantFrom(9, 10, 11, 12, 13, 127, 192), octet, octet, octet)
  .map((octets) => octets.join('.'))
const ipv6Text = fc
  .tuple(
    fc.constantFrom('2a00', '2a01', '2A02', '2002', '64:ff9b', '2001:0', '2001:db8', 'fe80', '0'),
    fc.array(group, { minLength: 7, maxLength: 7 }),
    fc.boolean(),
  )
  .map(([first, groups, padded]) => {
    const texts = groups.map((value) => value.toString(16).padStart(padded ? 4 : 1, '0'))
    return [...first.split(':'), ...texts].slice(0, 8).join(':')
  })
const text = fc.oneof(
  ipv4Text,
  ipv6Text,
  ipv4Text.map((quad) => `::ffff:${quad}`),
  ipv4Text.map((quad) => `64:ff9b::${quad}`),
  fc.constantFrom('2a01:4f8::1', '2A01:4F8:0::1', '2a01:4f8::3', '9.1.2.3', '::', '::1', 'x', ''),
)

describe('the bytes of an answer', () => {
  const table = openTable(writeSmallTable())

  it('are those of JSON.stringify of check', () => {
    fc.assert(
      fc.property(text, (text) => {
        expect(differenceOf(table, text)).toBeUndefined()
      }),
      { numRuns: inForm({ short: 800, full: 8000, long: 20_000 }) },
    )
  })

  it('are those of JSON.stringify of check, whatever texts and numbers a table holds', () => {
    const property = fc.property(tables, fc.array(text, { minLength: 20 }), (content, texts) => {
      const { bytes } = encodedTable(content)
      const { id, views } = readTableView(bytes, 'random')
      const reader = openAnswerReader({ id, views, sources: [], asOf: parseDay('2026-08-22')! })
      const other: Pick<Table, 'check' | 'answer'> = {
        check: (text) => checkAddress(reader, text),
        answer: openAnswerWriter(reader),
      }
      for (const text of ['9.1.2.3', '9.200.0.1', '11.1.1.1', '2a01:4f8::1', ...texts]) {
        expect(differenceOf(other, text)).toBeUndefined()
      }
    })
    fc.assert(property, { numRuns: inForm({ short: 8, full: 40 }) })
  })

  it('are made by the twin where they are too long for the room', () => {
    const parts = smallParts()
    const organization = '"'.repeat(20_000)
    const networks = parts.networks.map((network) => ({ ...network, organization }))
    const { bytes } = encodedTable(assembleTable({ ...parts, networks }).content)
    const { id, views } = readTableView(bytes, 'long')
    const reader = openAnswerReader({ id, views, sources: [], asOf: parseDay('2026-08-22')! })
    const long = {
      check: (text: string) => checkAddress(reader, text),
      answer: openAnswerWriter(reader),
    }
    expect(differenceOf(long, '9.1.2.3')).toBeUndefined()
  })

  it('are made without JSON once the fragments are there', () => {
    const query: Query = newQuery()
    const texts = ['9.1.2.3', '11.5.5.5', '10.0.0.1', '2A01:4f8:0::1'].map((one) =>
      Buffer.from(one),
    )
    const bodies = (): string[] =>
      texts.map((bytes) => {
        expect(parseQuery(query, bytes, 0, bytes.length)).toBe(true)
        return Buffer.from(table.answer(query).body).toString()
      })
    const cold = bodies()
    const stringify = vi.spyOn(JSON, 'stringify')
    const parse = vi.spyOn(JSON, 'parse')
    const warm = bodies()
    const calls = stringify.mock.calls.length + parse.mock.calls.length
    stringify.mockRestore()
    parse.mockRestore()
    expect(warm).toEqual(cold)
    expect(calls).toBe(0)
  })

  it('are refused after close', () => {
    const other = openTable(table.path)
    other.close()
    expect(() => other.answer(newQuery())).toThrow('was closed')
  })
})

describe('canonical text as bytes', () => {
  const out = new Uint8Array(64)

  it('is that of formatAddress', () => {
    const word = fc.oneof(fc.constantFrom(0, 1, 0xffff, 0x1_0000), fc.integer({ min: 0 }))
    const property = fc.property(fc.tuple(word, word, word, word), (four) => {
      const words = Uint32Array.from(four)
      // Mixed text is for IPv4-mapped addresses, which are never written as IPv6.
      fc.pre(!(words[0] === 0 && words[1] === 0 && words[2] === 0xffff))
      const ipv6 = formatAddressBytes(words, out, 3)
      expect(Buffer.from(out.subarray(3, ipv6)).toString()).toBe(formatAddress(6, words))
      const ipv4 = formatIpv4Bytes(words[0]!, out, 5)
      expect(Buffer.from(out.subarray(5, ipv4)).toString()).toBe(formatAddress(4, words))
    })
    fc.assert(property, { numRuns: inForm({ short: 800, full: 8000, long: 20_000 }) })
  })

  it('writes every group', () => {
    const wrong: string[] = []
    for (let group = 1; group <= 0xffff; group++) {
      const words = Uint32Array.of((group << 16) | 1, 0x0001_0001, 0x0001_0001, 0x0001_0000 | group)
      const text = Buffer.from(out.subarray(0, formatAddressBytes(words, out, 0))).toString()
      const digits = group.toString(16)
      if (text !== `${digits}:1:1:1:1:1:1:${digits}`) wrong.push(text)
    }
    expect(wrong).toEqual([])
  })

  it('writes every octet', () => {
    for (let octet = 0; octet < 256; octet++) {
      const end = formatIpv4Bytes(octet * 0x0101_0101, out, 0)
      expect(Buffer.from(out.subarray(0, end)).toString()).toBe(
        `${octet}.${octet}.${octet}.${octet}`,
      )
    }
  })
})
