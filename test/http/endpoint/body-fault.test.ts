// What is said of the body of a check that is refused, by table; and that it is said of every such
// body, by constant sentences alone.

import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { addressFaultText, checkFaults } from '../../../src/api/input-fault.ts'
import { checkFaultOf, parseCheckBody } from '../../../src/http/endpoint/check-body.ts'
import { newQuery } from '../../../src/table/lookup/query.ts'

const query = newQuery()

it.each<readonly [keyof typeof checkFaults, readonly (string | Uint8Array)[]]>([
  ['empty', ['', ' \r\n']],
  ['no_json', ['ip', '9.1.2.3', '{"ip":"9.1.2.3"', "{'ip':'9.1.2.3'}", 'ip=9.1.2.3', '<ip/>']],
  [
    'no_json',
    ['\ufeff\ufeff{"ip":"9.1.2.3"}', Buffer.from('{"ip":"9.1.2.3","a":"\xff"}', 'latin1')],
  ],
  ['no_json', ['['.repeat(30_000), '{"ip":"9.1.2.3","a":"\\x"}']],
  ['array', ['["9.1.2.3"]', '[]', '[{"ip":"9.1.2.3"}]']],
  ['no_object', ['"9.1.2.3"', '9', 'null', 'true']],
  ['no_members', ['{}', ' { } ']],
  ['other_member', ['{"address":"9.1.2.3"}', '{"IP":"9.1.2.3"}', '{"a":{"ip":"9.1.2.3"}}']],
  ['other_member', ['{"__proto__":{"ip":"9.1.2.3"}}']],
  ['batch', ['{"ips":["9.1.2.3"]}', '{"ips":[]}']],
  ['ip_array', ['{"ip":["9.1.2.3"]}', '{"ip":"9.1.2.3","ip":[]}']],
  [
    'no_string',
    ['{"ip":null}', '{"ip":9}', '{"ip":{"ip":"9.1.2.3"}}', '{"ip":"9.1.2.3","ip":true}'],
  ],
])('%s: %j', (fault, bodies) => {
  for (const body of bodies) {
    const bytes = Buffer.from(body)
    expect(parseCheckBody(query, bytes)).toBe(false)
    expect(checkFaultOf(bytes)).toEqual(checkFaults[fault])
  }
})

it('a byte order mark in front is ignored', () => {
  expect(parseCheckBody(query, Buffer.from('\ufeff{"ip":"9.1.2.3"}'))).toBe(true)
})

it.each(['', '9.1.2.3/24', '9.1.2.3:80', 'example.com', '::1%eth0', ' 9.1.2.3', '09.1.2.3', 'x'])(
  'of the address %j it says what is wrong with that, with "ip" as param',
  (ip) => {
    const fault = { message: addressFaultText(ip), param: 'ip' }
    expect(checkFaultOf(Buffer.from(JSON.stringify({ ip })))).toEqual(fault)
    expect(checkFaultOf(Buffer.from(JSON.stringify({ a: 1, ip })))).toEqual(fault)
  },
)

it('has something to say of every body that is refused', () => {
  const body = fc.oneof(
    fc.json(),
    fc.string(),
    fc.json({ maxDepth: 1 }).map((ip) => `{"ip":${ip}}`),
  )
  fc.assert(
    fc.property(body, (text) => {
      const bytes = Buffer.from(text)
      fc.pre(!parseCheckBody(query, bytes))
      expect(checkFaultOf(bytes).message).toMatch(/: (?:send|resolve) /)
    }),
    { numRuns: 2000 },
  )
})
