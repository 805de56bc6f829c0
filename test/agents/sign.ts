// Signs requests for tests, as an agent would (RFC 9421, 3.1), with keys that are made here.

import { type KeyObject, generateKeyPairSync, sign } from 'node:crypto'
import type { SignedRequest } from '../../src/api/agent-context.ts'
import { thumbprint } from '../../src/agents/key-directory.ts'

export interface SigningKey {
  readonly keyid: string
  readonly x: string
  readonly privateKey: KeyObject
}

export function newSigningKey(): SigningKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const x = String(publicKey.export({ format: 'jwk' }).x)
  return { keyid: thumbprint(x), x, privateKey }
}

export interface Signing {
  readonly key: SigningKey
  readonly label?: string
  readonly agent?: string
  readonly authority?: string
  readonly scheme?: string
  readonly path?: string
  /** Lines of the base, in place of the usual ones. */
  readonly covers?: readonly (readonly [component: string, value: string])[]
  readonly parameters?: Readonly<Record<string, string>>
}

export const nowSeconds = 1_800_000_000
export const agentHost = 'agent.example'

export function signed({ key, label = 'sig1', ...of }: Signing): SignedRequest {
  const { authority = 'shop.example', scheme = 'https', path = '/login?next=%2F' } = of
  const agent = of.agent ?? `${label}="https://${agentHost}"`
  const isBare = agent.startsWith('"')
  const covers = of.covers ?? [
    ['"@authority"', authority],
    isBare
      ? ['"signature-agent"', agent]
      : [`"signature-agent";key="${label}"`, agent.slice(agent.indexOf('=') + 1)],
  ]
  const parameters = {
    created: String(nowSeconds - 5),
    expires: String(nowSeconds + 300),
    keyid: `"${key.keyid}"`,
    alg: '"ed25519"',
    tag: '"web-bot-auth"',
    ...of.parameters,
  }
  const tail = Object.entries(parameters).map(([name, value]) => `;${name}=${value}`)
  const input = `(${covers.map(([name]) => name).join(' ')})${tail.join('')}`
  const lines = covers.map(([name, value]) => `${name}: ${value}`)
  const base = [...lines, `"@signature-params": ${input}`].join('\n')
  const signature = sign(null, Buffer.from(base), key.privateKey).toString('base64')
  return {
    method: 'POST',
    scheme,
    authority,
    path,
    headers: {
      signature: `${label}=:${signature}:`,
      'signature-input': `${label}=${input}`,
      'signature-agent': agent,
    },
  }
}
