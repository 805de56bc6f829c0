// A signed text: a DSSE envelope (github.com/secure-systems-lab/dsse, version 1), so that cosign,
// in-toto and a shell with openssl can check it, too. What is signed is not the payload alone, but
// its type and both lengths before it; a signature of something else can never pass for one of a
// manifest.
//
//   { "payloadType": "…", "payload": base64, "signatures": [{ "keyid": "…", "sig": base64 }] }
//
// `keyid` is a hint and decides nothing.

import { sign, verify } from 'node:crypto'
import { z } from 'zod'
import { parseJson } from '../../base/json-object.ts'
import type { SigningKey, TrustedKey } from './signing-key.ts'

const signaturesMax = 8

const envelopeSchema = z.object({
  payloadType: z.string(),
  payload: z.base64(),
  signatures: z
    .array(z.object({ keyid: z.string().optional(), sig: z.base64() }))
    .max(signaturesMax),
})

/** `payload` as the text of an envelope signed with `key`. */
export function sealEnvelope(payloadType: string, payload: string, key: SigningKey): string {
  const bytes = Buffer.from(payload, 'utf8')
  const sig = sign(null, signedBytes(payloadType, bytes), key.privateKey).toString('base64')
  const signatures = [{ keyid: key.trusted.id, sig }]
  return `${JSON.stringify({ payloadType, payload: bytes.toString('base64'), signatures })}\n`
}

export type OpenedEnvelope =
  | { readonly kind: 'payload'; readonly payload: string; readonly by: TrustedKey }
  | { readonly kind: 'garbage' }
  /** No signature in it is of a trusted key. */
  | { readonly kind: 'untrusted' }

/** The payload of an envelope, where a trusted key has signed it as `payloadType`. */
export function openEnvelope(
  text: string,
  payloadType: string,
  trusted: readonly TrustedKey[],
): OpenedEnvelope {
  const parsed = envelopeSchema.safeParse(parseJson(text))
  if (!parsed.success || parsed.data.payloadType !== payloadType) return { kind: 'garbage' }
  const bytes = Buffer.from(parsed.data.payload, 'base64')
  const signed = signedBytes(payloadType, bytes)
  const signatures = parsed.data.signatures.map(({ sig }) => Buffer.from(sig, 'base64'))
  const by = trusted.find(({ key }) => signatures.some((sig) => verify(null, signed, key, sig)))
  if (by === undefined) return { kind: 'untrusted' }
  return { kind: 'payload', payload: bytes.toString('utf8'), by }
}

/** DSSE's pre-authentication encoding. */
function signedBytes(type: string, payload: Buffer): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `
  return Buffer.concat([Buffer.from(head, 'utf8'), payload])
}
