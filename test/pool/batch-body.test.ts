// The short form of a batch's body against JSON.parse: the same counts, and pieces that hold the
// same elements; and the answers of the pieces against single checks.

import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { cutBatchBody, parseBatchBody } from '../../src/pool/batch-body.ts'
import { answerBatchPiece } from '../../src/pool/run-task.ts'
import { invalidAddressJson } from '../../src/api/input-fault.ts'
import { openTable } from '../../src/table/open-table.ts'
import { writeSmallTable } from '../table/small-table.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const table = openTable(writeSmallTable())

function piecesOf(body: Uint8Array): readonly Uint8Array[] {
  const { cuts, rewritten = body } = cutBatchBody(body)
  return Array.from(cuts.slice(1), (to, i) => rewritten.subarray(cuts[i], to))
}

const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\t', '\r'), maxLength: 2 })
const text = fc.oneof(
  { weight: 8, arbitrary: fc.ipV4() },
  { weight: 3, arbitrary: fc.ipV6() },
  { weight: 1, arbitrary: fc.string() },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme' }) },
)

it('has the counts and the answers of its elements, whatever the form', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 350 }), space, (texts, gap) => {
      const elements = texts.map((one) => gap + JSON.stringify(one) + gap).join(',')
      const body = encoder.encode(`${gap}{${gap}"ips"${gap}:${gap}[${elements}]${gap}}${gap}`)
      const read = parseBatchBody(body)
      const checks = texts.map((ip) =>
        table.check(ip) === undefined ? invalidAddressJson(ip) : { ip },
      )
      expect(read).toMatchObject({ member: 'ips', checks, policy: undefined })
      expect(cutBatchBody(body)).toMatchObject({
        count: texts.length,
        valid: texts.filter((ip) => table.check(ip) !== undefined).length,
      })
      const pieces = piecesOf(body)
      expect(pieces.length).toBe(Math.ceil(texts.length / 100))
      const answers = pieces
        .map((piece) => decoder.decode(answerBatchPiece(table, piece).json))
        .join(',')
      const wanted = texts.map((ip) => {
        const answer = table.check(ip)
        return answer === undefined ? invalidAddressJson(ip) : JSON.stringify(answer)
      })
      expect(answers).toBe(wanted.join(','))
    }),
    { numRuns: 300 },
  )
})

it.each([
  ['', 'empty'],
  ['{', 'no_json'],
  ['{}', 'no_members'],
  ['{"ip":"9.1.2.3"}', 'check'],
  ['{"addresses":["9.1.2.3"]}', 'other_member'],
  ['{"ips"}', 'no_json'],
  ['{"ips":"9.1.2.3"}', 'no_array'],
  ['{"ips":[]}', 'none'],
  ['{"ips":["9.1.2.3"],"checks":[{"ip":"9.1.2.3"}]}', 'both'],
  ['{"checks":{"ip":"9.1.2.3"}}', 'checks_no_array'],
  ['{"checks":[]}', 'checks_none'],
  [`{"checks":[${'1,'.repeat(10_000)}1]}`, 'checks_too_many'],
  ['{"ips":["9.1.2.3"]', 'no_json'],
  ['{"ips":["9.1.2.3",]}', 'no_json'],
  ['{"ips":["9.1.2.3"]}x', 'no_json'],
  ['{"ips":["9.1.2.3" "9.1.2.3"]}', 'no_json'],
  ['{"ips":["9.1.2.3\n"]}', 'no_json'],
  ['["ips",["9.1.2.3"]]', 'array'],
  ['null', 'no_object'],
  ['\ufeff\ufeff{"ips":["9.1.2.3"]}', 'no_json'],
])('finds no batch in %j, as JSON.parse does: %s', (body, fault) => {
  expect(parseBatchBody(encoder.encode(body))).toBe(fault)
  expect(cutBatchBody(encoder.encode(body))).toMatchObject({ fault, count: 0 })
})

it('ignores a byte order mark', () => {
  const body = encoder.encode('\ufeff{"ips":["9.1.2.3"]}')
  expect(parseBatchBody(body)).toMatchObject({ checks: [{ ip: '9.1.2.3' }], valid: 1 })
  expect(cutBatchBody(body)).toMatchObject({ count: 1 })
})

it('takes the last of repeated members, and elements of every type', () => {
  const body = encoder.encode(
    '{"ips":["1.1.1.1"],"a":{},"ips":["9.1.2.3",7,null,["x"],"\\u0039.1.2.4"]}',
  )
  expect(cutBatchBody(body)).toMatchObject({ count: 5, valid: 2 })
  const [piece] = piecesOf(body)
  const answers = JSON.parse(`[${decoder.decode(answerBatchPiece(table, piece!).json)}]`) as {
    ip: string
  }[]
  expect(answers.map(({ ip }) => ip)).toEqual(['9.1.2.3', '7', 'null', '["x"]', '9.1.2.4'])
})

it('finds none in arrays so deep that they can be read and not written', () => {
  const deep = 500_000
  const body = encoder.encode(`{"ips":[${'['.repeat(deep)}${']'.repeat(deep)}]}`)
  expect(parseBatchBody(body)).toBe('too_deep')
  expect(cutBatchBody(body)).toMatchObject({ fault: 'too_deep', count: 0, valid: 0 })
})

it('is full at 10,000 elements', () => {
  const bodyOf = (count: number) =>
    encoder.encode(JSON.stringify({ ips: Array(count).fill('9.1.2.3') }))
  expect(cutBatchBody(bodyOf(10_000))).toMatchObject({ count: 10_000, valid: 10_000 })
  expect(cutBatchBody(bodyOf(10_000)).cuts.length).toBe(101)
  expect(cutBatchBody(bodyOf(10_001))).toMatchObject({ fault: 'too_many', count: 0 })
})

it('writes into the memory that is lent, and elsewhere where that is too small', () => {
  const piece = piecesOf(encoder.encode('{"ips":["9.1.2.3","11.1.1.1"]}'))[0]!
  const large = new Uint8Array(new SharedArrayBuffer(1 << 16))
  const small = new Uint8Array(new SharedArrayBuffer(64))
  const inLarge = answerBatchPiece(table, piece, { into: large }).json
  const inSmall = answerBatchPiece(table, piece, { into: small }).json
  expect(inLarge.buffer).toBe(large.buffer)
  expect(inSmall.buffer).not.toBe(small.buffer)
  expect(decoder.decode(inSmall)).toBe(decoder.decode(inLarge))
})
