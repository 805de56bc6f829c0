// Lines to answers against the plain check: JSON lines, rows of CSV read back, tallies counted
// again.

import { parse } from 'csv-parse/sync'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CheckAnswer } from '../../src/api/check-answer.ts'
import { addressFaultText, invalidAddressJson } from '../../src/api/input-fault.ts'
import { checkFields } from '../../src/config/line-formats.ts'
import { signalNames } from '../../src/model/kind.ts'
import { formatIpv4 } from '../../src/ip/format-address.ts'
import { answerLines, type LineTask } from '../../src/bulk/answer-lines.ts'
import { wholeBuffer } from '../../src/bulk/growing-buffer.ts'
import { csvHeader } from '../../src/bulk/rows/csv-row.ts'
import { openTable } from '../../src/table/open-table.ts'
import { newRandom } from '../oracle/sample.ts'
import { matcherOf, plainList } from '../lists/matcher-of.ts'
import { writeSmallTable } from '../table/small-table.ts'

const table = openTable(writeSmallTable())
const random = newRandom(11)
const plain = { kind: 'plain' } as const

const texts = Array.from({ length: 3000 }, (_, i) => {
  if (i % 97 === 0) return `no,"address" ${i}`
  if (i % 13 === 0) return `2a01:4F8::${(i & 7).toString(16)}`
  if (i % 29 === 0) return '10.0.0.1'
  if (i % 31 === 0) return '2002:0b01:0102::1'
  const first = [9, 11, 12, 13][Math.floor(random() * 4)]!
  return formatIpv4(((first << 24) | Math.floor(random() * 2 ** 24)) >>> 0)
})

const given = (how: Partial<LineTask>, lines = texts, into?: Uint8Array) => {
  const work: LineTask = { form: plain, output: 'json', fields: [], ...how }
  return answerLines(table, Buffer.from(lines.join('\n')), work, into)
}
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

describe('lines', () => {
  it('of CSV that begin with its delimiter are no comments', () => {
    const form = { kind: 'csv', column: 1, delimiter: 0x3b } as const
    expect(given({ form }, [';9.1.2.3;1', ';bad;2'])).toMatchObject({ addresses: 1, bad: 1 })
  })

  it('become JSON lines as single checks, in order, with an error object for what is none', () => {
    const { out, lines, addresses, bad, badLines } = given({})
    const wanted = texts.map((text) => {
      const answer = table.check(text)
      return answer === undefined ? invalidAddressJson(text) : JSON.stringify(answer)
    })
    expect(textOf(out)).toBe(`${wanted.join('\n')}\n`)
    const none = texts.filter((text) => table.check(text) === undefined)
    expect([lines, addresses, bad]).toEqual([3000, 3000 - none.length, none.length])
    expect(badLines.map(({ line }) => line)).toEqual([0, 97, 194])
    // The same room again, and room that is too small.
    expect(textOf(given({}, texts, wholeBuffer(out)).out)).toBe(`${wanted.join('\n')}\n`)
    expect(textOf(given({}, texts, new Uint8Array(10)).out)).toBe(`${wanted.join('\n')}\n`)
  })

  const digits = fc.constantFrom(
    '0',
    '1',
    '9',
    '01',
    '25',
    '99',
    '199',
    '255',
    '256',
    '300',
    '1234',
    '',
  )
  const gap = fc.constantFrom('', '', '', '', ' ', '\t', '\r')
  const quad = fc.tuple(fc.array(digits, { minLength: 3, maxLength: 5 }), gap, gap)
  const line = fc.oneof(
    { weight: 6, arbitrary: fc.ipV4() },
    {
      weight: 6,
      arbitrary: quad.map(([octets, before, behind]) => before + octets.join('.') + behind),
    },
    { weight: 2, arbitrary: fc.ipV6() },
    {
      weight: 1,
      arbitrary: fc.constantFrom('', '1.2.3.4x', '1.2.3.', '.1.2.3', '1..2.3', '\u00b2.1.1.1'),
    },
  )

  it('are addresses or none as the strict parser says, in whatever groups and pieces', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 150 }), fc.boolean(), (some, long) => {
        // Behind a line that is longer than a page each is read where it lies.
        const lines = long ? ['x'.repeat(200_000), ...some] : some
        const wanted = lines.flatMap((one) => {
          // As trim of line-field.ts has it.
          const text = one.replaceAll(/^[\t\r ]+|[\t\r ]+$/g, '')
          if (text === '') return []
          const answer = table.check(text)
          return `${answer === undefined ? invalidAddressJson(text) : JSON.stringify(answer)}\n`
        })
        expect(textOf(given({}, lines).out)).toBe(wanted.join(''))
      }),
      { numRuns: 200 },
    )
  })

  it('have texts as long as they are, and begin anew after a piece that failed', () => {
    const long = `"${'x'.repeat(100_000)}`
    const { out } = given({ output: 'csv', fields: ['ip', 'asn', 'city'] }, [
      '9.1.2.3',
      long,
      '9.1.2.3',
    ])
    const rows = parse(Buffer.from(out), {})
    expect(rows.map(([ip]) => ip)).toEqual(['9.1.2.3', long, '9.1.2.3'])
    const fails = { ...table, reader: { ...table.reader, views: undefined as never } }
    const work: LineTask = { form: plain, output: 'csv', fields: ['ip', 'asn'] }
    expect(() => answerLines(fails, Buffer.from('9.1.2.9\nx\n'), work)).toThrow(TypeError)
    expect(textOf(given(work, ['9.1.2.3']).out)).toBe('9.1.2.3,64496\n')
  })

  it.each(['city', 'zip'] as const)(
    'end where a record names a place that is none: %s',
    (field) => {
      const records = table.reader.views.records.map((word, at) =>
        at % 4 === 1 ? 0x7fff_ffff : word,
      )
      const views = { ...table.reader.views, records }
      const hurt = { ...table, reader: { ...table.reader, views } }
      const work: LineTask = { form: plain, output: 'csv', fields: ['ip', field] }
      const run = (): unknown => answerLines(hurt, Buffer.from('9.1.2.3\n'), work)
      expect(run).toThrow(/damaged in section runs/)
    },
  )

  it('skip what is empty, and count it as a line', () => {
    const result = given({}, ['', '  9.1.2.3\r', '\t', '\r', 'x', ''])
    expect(result).toMatchObject({ lines: 5, addresses: 1, bad: 1 })
    expect(result.badLines).toEqual([{ line: 4, reason: 'no address', text: 'x' }])
    expect(textOf(result.out).split('\n').length).toBe(3)
  })

  it.each([
    { own: 'no', lists: undefined },
    {
      own: 'some',
      lists: matcherOf([
        plainList('blocked', 'block', '9.0.0.0/8'),
        plainList('seen', 'none', '0.0.0.0/0', '::/0'),
      ]),
    },
  ])('become rows of CSV that say what the answer says, with $own own lists', ({ lists }) => {
    table.useLists(lists)
    const { out } = given({ output: 'csv', fields: checkFields })
    const rows = parse(`${csvHeader(checkFields)}\n${textOf(out)}`, { columns: true }) as Record<
      string,
      string
    >[]
    expect(rows.length).toBe(texts.length)
    rows.forEach((row, i) => {
      const answer = table.check(texts[i]!)
      const { network, location, proxy, bot } = answer ?? {}
      const wanted = {
        ip: texts[i],
        version: answer?.version,
        classification: answer?.classification,
        risk_score: answer?.risk_score,
        risk_level: answer?.risk_level,
        provider: proxy?.provider || bot?.provider,
        proxy_type: proxy?.type,
        proxy_confidence: proxy?.confidence,
        bot_provider: bot?.provider,
        bot_category: bot?.category,
        signals: signalNames.filter((name) => answer?.signals[name]).join(' '),
        reasons: answer?.reasons.join(' '),
        lists: answer?.lists?.join(' '),
        asn: network?.asn,
        organization: network?.organization,
        network_type: network?.type,
        mobile: network?.mobile,
        country_code: location?.country_code,
        country: location?.country,
        state: location?.state,
        city: location?.city,
        zip: location?.zip,
        latitude: location?.latitude,
        longitude: location?.longitude,
        timezone: location?.timezone,
        error: answer === undefined ? 'invalid_input' : '',
      }
      const asText = Object.entries(wanted).map(([name, value]) => [name, String(value ?? '')])
      expect(row).toEqual(Object.fromEntries(asText))
    })
    table.useLists(undefined)
  })

  it('have their columns in the order that is asked for', () => {
    const fields = ['asn', 'ip', 'risk_score', 'organization', 'classification'] as const
    const { out } = given({ output: 'csv', fields }, ['9.1.2.3', 'x'])
    expect(textOf(out)).toBe('64496,9.1.2.3,81,Example Access,tor\n,x,,,\n')
  })

  it('become short lines that say what the answer says', () => {
    const { out } = given({ output: 'text' })
    const wanted = texts.map((text) => briefly(text, table.check(text)))
    expect(textOf(out)).toBe(`${wanted.join('\n')}\n`)
    expect(textOf(given({ output: 'text' }, ['9.1.2.3']).out)).toBe(
      '9.1.2.3          tor                 81  very_high   AS64496  Example Access (isp)  Berlin, DE  also blocklist_match\n',
    )
  })

  it('are tallied as they are answered', () => {
    const { tally, out } = given({ output: 'tally' })
    const answers = texts.flatMap((text) => table.check(text) ?? [])
    const sum = (pairs: Uint32Array): number =>
      pairs.reduce((all, value, i) => all + (i % 2 === 1 ? value : 0), 0)
    expect(out.length).toBe(0)
    expect(tally?.bogons).toBe(answers.filter((one) => one.signals.bogon).length)
    expect(sum(tally!.verdicts) + tally!.bogons).toBe(answers.length)
    expect(sum(tally!.networks)).toBe(answers.length)
    expect(sum(tally!.countries)).toBe(answers.length)
    const judged = answers.map((one) => one.address ?? one.ip)
    expect(new Set(tally!.hashes).size).toBe(new Set(judged).size)
  })
})

/** The slow, obvious twin of a short line. */
function briefly(text: string, answer: CheckAnswer | undefined): string {
  if (answer === undefined) return `${JSON.stringify(text)}: ${addressFaultText(text)}`
  const { classification, risk_score, risk_level, network, location, proxy, bot } = answer
  const provider = proxy?.provider ?? ''
  const signals = signalNames.filter((name) => answer.signals[name] && name !== classification)
  const place = [location?.city, location?.country_code].filter(Boolean)
  return [
    text.padEnd(15),
    classification.padEnd(17),
    String(risk_score).padStart(3),
    risk_level.padEnd(9),
    (network === null ? '-' : `AS${network.asn}`).padStart(8),
    network === null ? '' : `${network.organization} (${network.type})`,
    place.join(', '),
    provider === '' ? '' : `by ${provider}`,
    bot ? `bot ${bot.provider} (${bot.category})` : '',
    signals.length === 0 ? '' : `also ${signals.join(', ')}`,
  ]
    .filter((part) => part !== '')
    .join('  ')
}
