// Mutated requests, by a seed: honest ones of every kind, bent in one to four places. The same seed
// gives the same bytes.

import { paths } from '../../../src/api/public-port.ts'
import { insightsPath } from '../../speed/load/background.ts'
import type { Random } from '../../harness/random.ts'

/**
 * Honest requests to bend, as bytes of latin1; those whose body has a stated length several times,
 * for a request that is bent elsewhere mostly costs its connection.
 */
export function honestRequests(key: string, insights: boolean): readonly string[] {
  const head = (method: string, path: string): string =>
    `${method} ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nX-Request-Id: m\r\n`
  const whole = (path: string, body: string): string =>
    `${head('POST', path)}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const bodies = [
    whole(paths.check, '{"ip":"9.1.2.3"}'),
    whole(paths.check, '{"ip":"2a00::1"}'),
    whole(paths.check, '{ "x": [1, {"y": null}], "ip": "\\u0039.5.5.5" }'),
    whole(paths.batch, '{"ips":["9.1.2.3","2a00::1","x"]}'),
    ...(insights ? [whole(insightsPath, '{"ip":"9.1.2.3"}')] : []),
  ]
  return [
    ...bodies,
    ...bodies,
    ...bodies,
    ...bodies,
    `${head('POST', paths.check)}Transfer-Encoding: chunked\r\n\r\n10\r\n{"ip":"9.1.2.3"}\r\n0\r\n\r\n`,
    `${head('POST', paths.check)}Expect: 100-continue\r\nContent-Length: 16\r\n\r\n{"ip":"9.1.2.3"}`,
    `${head('GET', paths.meta)}Content-Length: 0\r\n\r\n`,
    `${head('HEAD', '/openapi.json')}\r\n`,
    `${head('GET', '/x?y=%00')}Content-Length: 0\r\n\r\n`,
  ]
}

const pieces = [
  '\r\n',
  '\r\n\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  ',',
  ';',
  '"',
  '{',
  '[',
  '\\u',
  '\xff',
  '\xed\xa0\x80',
  'Host: b\r\n',
  'Content-Length: 0\r\n',
  'Content-Length: 99999999999\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Connection: close\r\n',
  'Authorization: Bearer x\r\n',
  'X-Request-Id: y\r\n',
  ': z\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  'ffffffff\r\n',
  '0\r\n\r\n',
  '-1',
  '18446744073709551616',
  '9'.repeat(40),
  '['.repeat(200),
  'a'.repeat(5000),
] as const

type Mutate = (text: string, random: Random) => string

const cut = (text: string, random: Random): readonly [number, number] => {
  const from = random.below(text.length + 1)
  return [from, Math.min(text.length, from + 1 + random.below(24))]
}

const mutations: readonly Mutate[] = [
  // A bit.
  (text, random) => {
    const at = random.below(text.length)
    const byte = text.charCodeAt(at) ^ (1 << random.below(8))
    return text.slice(0, at) + String.fromCharCode(byte) + text.slice(at + 1)
  },
  // Any byte in place of one.
  (text, random) => {
    const at = random.below(text.length)
    return text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1)
  },
  // Something that means something, anywhere.
  (text, random) => {
    const at = random.below(text.length + 1)
    return text.slice(0, at) + pieces[random.below(pieces.length)] + text.slice(at)
  },
  // A part is gone.
  (text, random) => {
    const [from, to] = cut(text, random)
    return text.slice(0, from) + text.slice(to)
  },
  // A part appears twice.
  (text, random) => {
    const [from, to] = cut(text, random)
    return text.slice(0, to) + text.slice(from)
  },
  // A line appears twice.
  (text, random) => {
    const all = text.split('\r\n')
    const at = random.below(all.length)
    return all.toSpliced(at, 0, all[random.below(all.length)] ?? '').join('\r\n')
  },
  // A number is another.
  (text, random) =>
    text.replace(
      /\d+/,
      () => ['0', '-1', '1e9', '65536', '4294967296', '007'][random.below(6)] ?? '',
    ),
]

/** Of five requests, so many are bent in their body alone, with a length that is right again. */
const bodiesOfFive = 4

/** An honest request, bent; never empty. */
export function mutatedRequest(honest: readonly string[], random: Random): string {
  const text = honest[random.below(honest.length)] ?? ''
  const end = text.indexOf('\r\n\r\n') + 4
  if (random.below(5) < bodiesOfFive && end < text.length && text.includes(lengthName)) {
    const body = mutateText(text.slice(end), random)
    const head = text.slice(0, end).replace(/Content-Length: \d+/, `${lengthName}${body.length}`)
    return head + body
  }
  const bent = mutateText(text, random)
  return bent === '' ? '\r\n' : bent
}

const lengthName = 'Content-Length: '

function mutateText(text: string, random: Random): string {
  let bent = text
  for (let left = 1 + random.below(4); left > 0; left--) {
    const mutate = mutations[random.below(mutations.length)]
    if (mutate !== undefined && bent.length > 0) bent = mutate(bent, random)
  }
  return bent
}
