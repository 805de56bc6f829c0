// Published vectors of Web Bot Auth, and forgeries: each crafted by one change to a request that
// verifies.

import { createPublicKey, verify } from 'node:crypto'
import { serializeDictionary, parseDictionary } from 'structured-headers'
import { describe, expect, it } from 'vitest'
import type { SignedRequest } from '../../src/api/agent-context.ts'
import { claimedSignatures, directoryUrl, normalAuthority } from '../../src/agents/web-bot-auth.ts'
import { parseAgent } from '../../src/agents/agent-status.ts'
import { parseKeyDirectory, thumbprint } from '../../src/agents/key-directory.ts'
import { createSignatureVerifier, perSecondMax } from '../../src/agents/signature-verifier.ts'
import { type Random, newRandom } from '../../bench/harness/random.ts'
import { inForm } from '../form.ts'
import { agentHost, newSigningKey, nowSeconds, type Signing, signed } from './sign.ts'

const key = newSigningKey()
const other = newSigningKey()
const settings = { directories: [agentHost, 'other.example'], authorities: ['shop.example'] }

function newVerifier(nowMs = () => nowSeconds * 1000) {
  const verifier = createSignatureVerifier(settings, { nowMs, waitMs: 10_000 })
  verifier.use([
    { url: directoryUrl(agentHost), keys: [key] },
    { url: directoryUrl('other.example'), keys: [other] },
  ])
  return verifier
}

/** The directory, `''` for none, `undefined` where it is unknown. */
async function judge(request: SignedRequest, verifier = newVerifier()) {
  const { value, error } = parseAgent({ signature: request }, nowSeconds * 1000)
  const { signed: claim } = value
  if (claim === undefined || error !== undefined) return ''
  if (claim.by === undefined) await verifier.verify([claim])
  return claim.by
}

/** RFC 9421, B.1.4. */
const testX = 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs'

describe('published vectors', () => {
  // draft-ietf-webbotauth-httpsig-protocol, appendix E.2; the same in Cloudflare's
  // web_bot_auth_architecture_v2.json.
  const keyid = 'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U'
  const vectors = [
    {
      title: 'a member of a dictionary, which lives for a hundred years',
      agent: 'agent2="https://signature-agent.test"',
      covered: '"signature-agent";key="agent2"',
      expires: 4_889_289_600,
      nonce:
        'n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==',
      signature:
        'RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==',
    },
    {
      title: 'the bare string',
      agent: '"https://signature-agent.test"',
      covered: '"signature-agent"',
      expires: 1_735_693_200,
      nonce:
        'e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg==',
      signature:
        'jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuHxUi/5Syp3rLWBA==',
    },
  ]
  const requestOf = (vector: (typeof vectors)[number]): SignedRequest => ({
    method: 'GET',
    scheme: 'https',
    authority: 'example.com',
    path: '/path/to/resource',
    headers: {
      'signature-agent': vector.agent,
      'signature-input':
        `sig2=("@authority" ${vector.covered});created=1735689600;keyid="${keyid}"` +
        `;alg="ed25519";expires=${vector.expires};nonce="${vector.nonce}";tag="web-bot-auth"`,
      signature: `sig2=:${vector.signature}:`,
    },
  })

  it.each(vectors)('$title', (vector) => {
    const isLong = vector.expires - 1_735_689_600 > 86_400
    const claims = claimedSignatures(requestOf(vector), 1_735_689_660)
    expect(claims).toHaveLength(isLong ? 0 : 1)
    for (const { base, directory, signature } of claims ?? []) {
      expect(directory).toBe(directoryUrl('signature-agent.test'))
      const jwk = { kty: 'OKP', crv: 'Ed25519', x: testX }
      const publicKey = createPublicKey({ key: jwk, format: 'jwk' })
      expect(verify(null, Buffer.from(base), publicKey, Buffer.from(signature, 'base64'))).toBe(
        true,
      )
    }
  })

  // RFC 9421, 2.2.1 to 2.2.7.
  it.each([
    ['"@method"', 'POST', '/path?param=value', 'POST'],
    ['"@target-uri"', 'POST', '/path?param=value', 'https://www.example.com/path?param=value'],
    ['"@authority"', 'POST', '/path?param=value', 'www.example.com'],
    ['"@scheme"', 'GET', '/path?param=value', 'https'],
    ['"@request-target"', 'POST', '/path?param=value', '/path?param=value'],
    ['"@path"', 'GET', '/path?param=value', '/path'],
    ['"@query"', 'POST', '/path?param=value&foo=bar&baz=batman', '?param=value&foo=bar&baz=batman'],
    ['"@query"', 'POST', '/path?queryString', '?queryString'],
    ['"@query"', 'POST', '/path', '?'],
  ])('RFC 9421: the line %s of %s %s', (component, method, path, value) => {
    const authority = 'www.example.com'
    const covers = [
      ['"@authority"', authority],
      ...(component === '"@authority"' ? [] : ([[component, value]] as const)),
      ['"signature-agent";key="sig1"', `"https://${agentHost}"`],
    ] as const
    const request = {
      ...signed({ key, authority, covers }),
      method,
      path,
      authority: 'WWW.Example.com',
    }
    const [claim] = claimedSignatures(request, nowSeconds) ?? []
    expect(claim?.base.split('\n')).toContain(`${component}: ${value}`)
  })

  it('RFC 9421, B.2.6: an Ed25519 signature of no agent, over fields that no check carries', () => {
    const input =
      'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length")' +
      ';created=1618884473;keyid="test-key-ed25519"'
    const signature =
      'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=='
    const headers = {
      signature: `sig-b26=:${signature}:`,
      'signature-input': input,
      'signature-agent': '"https://agent.example"',
    }
    const line = { method: 'POST', scheme: 'https', authority: 'example.com', path: '/foo' }
    expect(claimedSignatures({ ...line, headers }, 1_618_884_480)).toEqual([])
    const tagged = `${input};expires=1618884500;tag="web-bot-auth"`
    const request = { ...line, headers: { ...headers, 'signature-input': tagged } }
    expect(claimedSignatures(request, 1_618_884_480)).toEqual([])
  })

  it('RFC 9421 and RFC 8037: thumbprints, and the printed keys are refused', () => {
    expect(thumbprint(testX)).toBe(keyid)
    const printed = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'
    expect(thumbprint(printed)).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k')
    const jwk = { kty: 'OKP', crv: 'Ed25519' }
    const keys = [testX, printed, key.x].map((x) => ({ ...jwk, x }))
    expect(parseKeyDirectory(JSON.stringify({ keys }), nowSeconds)).toEqual([
      { keyid: key.keyid, x: key.x },
    ])
  })
})

const verified = directoryUrl(agentHost)

describe('what agents send', () => {
  const url = '"https://agent.example/.well-known/http-message-signatures-directory"'
  const line = ['"@target-uri"', 'https://shop.example/login?next=%2F'] as const
  const honest: readonly [title: string, of: Partial<Signing>][] = [
    ['a member of a dictionary', {}],
    ['the bare string of older drafts', { agent: '"https://agent.example"' }],
    ['the well-known URL itself', { agent: `sig1=${url}` }],
    ['type=directory, of draft -00', { agent: 'sig1="https://agent.example";type=directory' }],
    ['a nonce', { parameters: { nonce: '"Zm9v"' } }],
    ['no alg', { parameters: {} }],
    [
      'the whole request line',
      {
        covers: [
          line,
          ['"@method"', 'POST'],
          ['"@path"', '/login'],
          ['"@query"', '?next=%2F'],
          ['"@scheme"', 'https'],
          ['"@request-target"', '/login?next=%2F'],
          ['"signature-agent";key="sig1"', '"https://agent.example"'],
        ],
      },
    ],
    ['a clock that is a minute ahead', { parameters: { created: `${nowSeconds + 60}` } }],
    ['a day of life', { parameters: { expires: `${nowSeconds - 5 + 86_400}` } }],
  ]
  it.each(honest)('%s', async (_title, of) => {
    await expect(judge(signed({ key, ...of }))).resolves.toBe(verified)
  })

  it('an authority in other letters and with its own port, and a path that is empty', async () => {
    const request = signed({ key, path: '/' })
    const spelled = { ...request, authority: 'Shop.Example:443', path: '' }
    await expect(judge(spelled)).resolves.toBe(verified)
  })

  it('two signatures, of which the second one holds', async () => {
    const first = signed({ key: other, label: 'a' }).headers
    const second = signed({ key, label: 'b' })
    const both = (name: keyof typeof first) => `${first[name]}, ${second.headers[name]}`
    const headers = {
      signature: both('signature'),
      'signature-input': both('signature-input'),
      'signature-agent': both('signature-agent'),
    }
    await expect(judge({ ...second, headers })).resolves.toBe(verified)
  })
})

const base = signed({ key })
const withHeaders = (headers: Partial<SignedRequest['headers']>): SignedRequest => ({
  ...base,
  headers: { ...base.headers, ...headers },
})
const input = base.headers['signature-input']
const edited = (from: string | RegExp, to: string) =>
  withHeaders({ 'signature-input': input.replace(from, to) })
const agentLine = ['"signature-agent";key="sig1"', `"https://${agentHost}"`] as const
const authorityLine = ['"@authority"', 'shop.example'] as const
const over = (...covers: (readonly [string, string])[]) => signed({ key, covers })
const dated = (parameters: Record<string, string>) => signed({ key, parameters })

const forgeries: readonly [title: string, request: SignedRequest][] = [
  ['another authority in the request', { ...base, authority: 'bank.example' }],
  ['replayed to an authority of others', signed({ key, authority: 'bank.example' })],
  [
    'replayed here from an authority of others',
    { ...signed({ key, authority: 'x.example' }), authority: 'shop.example' },
  ],
  ['another port', { ...base, authority: 'shop.example:8443' }],
  ['port 80 of https', { ...base, authority: 'shop.example:80' }],
  ['a dot behind the host', { ...base, authority: 'shop.example.' }],
  [
    'another path under @target-uri',
    { ...over(['"@target-uri"', 'https://shop.example/a'], agentLine), path: '/b' },
  ],
  [
    'http for https under @target-uri',
    {
      ...over(['"@target-uri"', 'https://shop.example/login?next=%2F'], agentLine),
      scheme: 'http',
    },
  ],
  [
    'a path that goes on with the host of a signed @target-uri',
    {
      ...over(['"@target-uri"', 'https://shop.example.evil.example/a'], agentLine),
      path: '.evil.example/a',
    },
  ],
  [
    'a path that makes the host a user of another one',
    {
      ...over(['"@target-uri"', 'https://shop.example@evil.example/a'], agentLine),
      path: '@evil.example/a',
    },
  ],
  [
    'a scheme that holds another host under @target-uri',
    {
      ...over(['"@target-uri"', 'https://evil.example/?://shop.example/login?next=%2F'], agentLine),
      scheme: 'https://evil.example/?',
    },
  ],
  ['another method', { ...over(authorityLine, ['"@method"', 'GET'], agentLine), method: 'POST' }],
  ['another query', { ...over(authorityLine, ['"@query"', '?a'], agentLine), path: '/login?b' }],
  ['covers no authority', over(agentLine)],
  ['covers the path alone', over(['"@path"', '/login'], agentLine)],
  ['covers no Signature-Agent', over(authorityLine)],
  ['covers a header that is not sent', over(authorityLine, ['"content-digest"', ''], agentLine)],
  ['covers a component twice', over(authorityLine, authorityLine, agentLine)],
  ['covers the authority of a response', over(['"@authority";req', 'shop.example'], agentLine)],
  ['covers Signature-Agent as bytes', over(authorityLine, ['"signature-agent";bs', ':Zm9v:'])],
  [
    'covers all of the dictionary under no key',
    over(authorityLine, ['"signature-agent"', base.headers['signature-agent']]),
  ],
  ['expired', dated({ expires: `${nowSeconds}` })],
  [
    'expired a day ago',
    dated({ created: `${nowSeconds - 90_000}`, expires: `${nowSeconds - 80_000}` }),
  ],
  ['from the future', dated({ created: `${nowSeconds + 61}` })],
  ['lives for longer than a day', dated({ expires: `${nowSeconds + 86_400}` })],
  [
    'expires before it was made',
    dated({ created: `${nowSeconds + 10}`, expires: `${nowSeconds + 5}` }),
  ],
  ['without created', edited(/created=\d+;/, '')],
  ['without expires', edited(/expires=\d+;/, '')],
  ['without keyid', edited(/keyid="[^"]+";/, '')],
  ['without a tag', edited(';tag="web-bot-auth"', '')],
  ['another tag', dated({ tag: '"http-message-signatures-directory"' })],
  ['a tag that is a token', dated({ tag: 'web-bot-auth' })],
  ['created as a decimal', dated({ created: `${nowSeconds}.5` })],
  ['created as a string', dated({ created: `"${nowSeconds}"` })],
  ['a nonce that is a number', dated({ nonce: '1' })],
  ['a later expires than was signed', edited(/expires=\d+/, `expires=${nowSeconds + 400}`)],
  ['alg hmac-sha256', dated({ alg: '"hmac-sha256"' })],
  ['alg rsa-pss-sha512', dated({ alg: '"rsa-pss-sha512"' })],
  ['alg none', dated({ alg: '"none"' })],
  ['alg taken away', edited(';alg="ed25519"', '')],
  ['the key of another directory under its own name', signed({ key: other })],
  ['a key that the directory does not have', signed({ key: newSigningKey() })],
  ['another key under the name of one', signed({ key: { ...other, keyid: key.keyid } })],
  ['a directory that does not count', signed({ key, agent: 'sig1="https://evil.example"' })],
  [
    'the directory renamed after signing',
    withHeaders({ 'signature-agent': 'sig1="https://other.example"' }),
  ],
  [
    'the directory as bare string after signing',
    withHeaders({ 'signature-agent': '"https://agent.example"' }),
  ],
  [
    'a member beside the covered one',
    withHeaders({ 'signature-agent': 'sig2="https://agent.example"' }),
  ],
  ['a path of its host', signed({ key, agent: 'sig1="https://agent.example/users/me.json"' })],
  [
    'a query behind the well-known path',
    signed({ key, agent: `sig1="${directoryUrl(agentHost)}?a"` }),
  ],
  ['http for the directory', signed({ key, agent: 'sig1="http://agent.example"' })],
  [
    'credentials in the directory',
    signed({ key, agent: 'sig1="https://agent.example@evil.example"' }),
  ],
  ['type=jwks_uri', signed({ key, agent: 'sig1="https://agent.example";type=jwks_uri' })],
  ['a parameter of the future', signed({ key, agent: 'sig1="https://agent.example";trust' })],
  [
    'a bare string that is covered by a key',
    signed({
      key,
      agent: '"https://agent.example"',
      covers: [authorityLine, ['"signature-agent";key="sig1"', '"https://agent.example"']],
    }),
  ],
  [
    'a label of another signature',
    withHeaders({ signature: base.headers.signature.replace('sig1', 'sig2') }),
  ],
  ['bytes that are no signature', withHeaders({ signature: 'sig1=:Zm9v:' })],
  [
    'a signature of zeros',
    withHeaders({ signature: `sig1=:${Buffer.alloc(64).toString('base64')}:` }),
  ],
  [
    'base64 that decodes alike',
    withHeaders({
      signature: base.headers.signature.replace(
        /.==:$/,
        (end) => `${end[0] === 'h' ? 'i' : 'h'}==:`,
      ),
    }),
  ],
  ['a line of the base in the authority', { ...base, authority: 'shop.example\n"@method": GET' }],
  [
    'a line of the base in Signature-Agent',
    withHeaders({ 'signature-agent': `${base.headers['signature-agent']}\r\nx: y` }),
  ],
  ['a line of the base in a component', edited('"@authority"', '"@authority\n"@path": /"')],
  [
    '64 KiB of Signature-Input',
    withHeaders({ 'signature-input': `${input}, ${'a'.repeat(65_536)}=1` }),
  ],
  ['64 KiB of Signature', withHeaders({ signature: `sig1=:${'A'.repeat(65_536)}:` })],
  ['64 KiB of components', edited('"@authority"', '"@authority" '.repeat(5000))],
  [
    'a hundred forged signatures before the true one',
    withHeaders({
      'signature-input': `${Array.from({ length: 100 }, (_, i) => input.replace('sig1', `x${i}`)).join(', ')}, ${input}`,
    }),
  ],
  ['nothing', withHeaders({ signature: '', 'signature-input': '', 'signature-agent': '' })],
  ['no ASCII', withHeaders({ 'signature-agent': 'sig1="https://ágent.example"' })],
]

describe('forgeries', () => {
  it('are at least forty', () => expect(forgeries.length).toBeGreaterThanOrEqual(40))

  it.each(forgeries)('%s', async (_title, request) => {
    await expect(judge(request)).resolves.toBe('')
  })

  it('of mutated requests none is verified, and none throws', { timeout: 600_000 }, async () => {
    const count = inForm({ short: 2000, full: 20_000, long: 100_000 })
    const random = newRandom(421)
    let seconds = nowSeconds
    const verifier = newVerifier(() => (seconds += 1) * 1000)
    const bare = signed({ key, agent: '"https://agent.example"' })
    let same = 0
    const verifying: SignedRequest[] = []
    for (let n = 0; n < count; n++) {
      const from = n % 2 === 0 ? base : bare
      const request = mutant(from, random)
      if (meaningOf(request) === meaningOf(from)) same += 1
      else if ((await judge(request, verifier)) !== '') verifying.push(request)
    }
    expect(verifying).toEqual([])
    expect(same).toBeLessThan(count / 4)
  })
})

/** One to three characters of one part replaced, inserted, taken away or doubled. */
function mutant(request: SignedRequest, random: Random): SignedRequest {
  const { headers } = request
  const names = ['signature', 'signature-input', 'signature-agent'] as const
  const name = names[random.below(names.length)]!
  const change = (text: string): string => {
    const at = random.below(text.length)
    const sign = String.fromCharCode(
      random.below(20) === 0 ? random.below(256) : 32 + random.below(95),
    )
    const cut = text.slice(at + random.below(2) + random.below(2))
    return text.slice(0, at) + (random.below(3) === 0 ? '' : sign) + cut
  }
  if (random.below(8) === 0) return { ...request, authority: change(request.authority) }
  let text = headers[name]
  for (let times = 1 + random.below(3); times > 0; times--) text = change(text)
  return { ...request, headers: { ...headers, [name]: text } }
}

/** Blanks between members may differ: the base is made of what was read. */
function meaningOf({ authority, headers }: SignedRequest): string {
  const read = (text: string): string => {
    try {
      return serializeDictionary(parseDictionary(text))
    } catch {
      return text.trim()
    }
  }
  const { signature, ...rest } = headers
  const parts = [normalAuthority('https', authority), read(signature), signature.length]
  return JSON.stringify([...parts, ...Object.values(rest).map(read)])
}

describe('verifier', () => {
  it('is unknown beyond its rate, for keys that are not fetched, and where it is late', async () => {
    const verifier = newVerifier()
    const all = await Promise.all(
      Array.from({ length: perSecondMax + 50 }, () => judge(base, verifier)),
    )
    expect(all.filter((by) => by === undefined).length).toBeGreaterThanOrEqual(50)
    const empty = createSignatureVerifier(settings, { nowMs: () => nowSeconds * 1000 })
    await expect(judge(base, empty)).resolves.toBeUndefined()
    empty.use([{ url: directoryUrl(agentHost), keys: [] }])
    await expect(judge(base, empty)).resolves.toBe('')
    const late = createSignatureVerifier(settings, { nowMs: () => nowSeconds * 1000, waitMs: 0 })
    late.use([{ url: directoryUrl(agentHost), keys: [key] }])
    const judged = judge(base, late)
    // The loop stands still until after the time: the timer comes first.
    for (const end = performance.now() + 5; performance.now() < end;);
    await expect(judged).resolves.toBeUndefined()
  })
})
