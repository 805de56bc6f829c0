// The manifest: a small signed text at one address (`manifest.json`). It names the releases, newest
// first; a release names its index (part-index.ts) by hash, and through it every part.
//
//   manifest.json ──sha256──▶ parts/<index> ──sha256──▶ parts/<part> …
//
// Invariants: `serial` increases with every manifest of a place; it is the time of signing, or one
// more than the last serial, so no publisher's is far ahead of the clock; of two releases of one
// format the first is served; a manifest that withdraws a table names it.

import { createHash, sign, verify } from 'node:crypto'
import { z } from 'zod'
import { msPerDay, parseDay } from '../../base/day.ts'
import { parseJson } from '../../base/json-object.ts'
import { manifestStagesMax } from '../../base/limits.ts'
import { placeNameForm } from '../../config/values/publish-values.ts'
import { fileBytesMax } from '../../schema/table-layout.ts'
import type { SigningKey, TrustedKey } from './signing-key.ts'

/** Two weeks of days, for rollbacks. */
export const manifestReleasesMax = 16
export const manifestWithdrawnMax = 64
/** A table of the world has a few thousand parts, 150 bytes each; hashes hardly compress. */
export const partIndexBytesMax = 4_194_304

export const manifestName = 'manifest.json'

/** Other versions are refused. */
export const publishedForm = 1

export const hashText = z.string().regex(/^[0-9a-f]{64}$/)
const tableId = z.string().regex(/^\d{8}-[0-9a-f]{12}$/)
/** Milliseconds since the epoch, up to the maximum of `Date`. */
const instant = z.int().min(0).max(8_640_000_000_000_000)
const count = z.int().min(0).max(0xffff)

/** From `from` (ms since the epoch), this share of the machines may use it. */
const stageSchema = z.object({ percent: z.number().gt(0).max(100), from: instant })

const releaseSchema = z.object({
  id: tableId,
  as_of: z.string().refine((text) => parseDay(text) !== undefined),
  format: z.object({ major: count, minor: count }),
  /** The program version that built it. */
  program: z.string().max(100),
  published: instant,
  bytes: z.int().min(1).max(fileBytesMax),
  sha256: hashText,
  index: z.object({ sha256: hashText, bytes: z.int().min(1).max(partIndexBytesMax) }),
  /** Bytes of all parts as stored. */
  stored: z.int().min(0).max(fileBytesMax),
  /** Empty: all machines at once. */
  stages: z.array(stageSchema).max(manifestStagesMax),
})

const manifestSchema = z.object({
  form: z.literal(publishedForm),
  /** Absent in earlier versions. */
  place: z.string().regex(placeNameForm).exactOptional(),
  /** Unlimited, so that `serialAhead` can explain one far ahead of the clock. */
  serial: z.int().min(0),
  releases: z.array(releaseSchema).min(1).max(manifestReleasesMax),
  withdrawn: z.array(tableId).max(manifestWithdrawnMax),
})

export type Stage = z.output<typeof stageSchema>
export type Release = z.output<typeof releaseSchema>
export type Manifest = z.output<typeof manifestSchema>

type OpenedManifest =
  | { readonly kind: 'manifest'; readonly manifest: Manifest; readonly by: TrustedKey }
  | { readonly kind: 'refused'; readonly code: 'manifest' | 'signature'; readonly why: string }

/** Clocks differ by less. */
const serialAheadMsMax = msPerDay

/** Why the serial is wrong: one in the future would outdate all manifests after it. */
export function serialAhead(serial: number, now: number): string | undefined {
  if (serial <= now + serialAheadMsMax) return undefined
  const clock = new Date(now).toISOString()
  return (
    `its serial ${serial} is more than a day ahead of this machine's clock (${clock}): ` +
    "a clock is wrong, or the publisher's key was stolen"
  )
}

// The manifest is the payload of a DSSE envelope (github.com/secure-systems-lab/dsse, version 1),
// which cosign, in-toto and openssl can verify. The signature also covers the type and both
// lengths, so that no other signed content passes for a manifest. `keyid` is only a hint.
//
//   { "payloadType": "…", "payload": base64, "signatures": [{ "keyid": "…", "sig": base64 }] }

const payloadType = 'application/vnd.iprisk.manifest+json'
const signaturesMax = 8

const envelopeSchema = z.object({
  payloadType: z.literal(payloadType),
  payload: z.base64(),
  signatures: z
    .array(z.object({ keyid: z.string().optional(), sig: z.base64() }))
    .max(signaturesMax),
})

export function sealManifest(manifest: Manifest, key: SigningKey): string {
  const payload = Buffer.from(JSON.stringify(manifestSchema.parse(manifest)), 'utf8')
  const sig = sign(null, signedBytes(payload), key.privateKey).toString('base64')
  const signatures = [{ keyid: key.trusted.id, sig }]
  return `${JSON.stringify({ payloadType, payload: payload.toString('base64'), signatures })}\n`
}

/** Reads nothing before it verifies the signature. */
export function openManifest(text: string, trusted: readonly TrustedKey[]): OpenedManifest {
  const envelope = envelopeSchema.safeParse(parseJson(text)).data
  if (envelope === undefined) return refused('manifest', 'it is not a signed manifest of tables')
  const payload = Buffer.from(envelope.payload, 'base64')
  const signed = signedBytes(payload)
  const signatures = envelope.signatures.map(({ sig }) => Buffer.from(sig, 'base64'))
  const by = trusted.find(({ key }) => signatures.some((sig) => verify(null, signed, key, sig)))
  if (by === undefined) return refused('signature', 'it is not signed with a trusted key')
  const parsed = manifestSchema.safeParse(parseJson(payload.toString('utf8')))
  if (parsed.success) return { kind: 'manifest', manifest: parsed.data, by }
  const place = parsed.error.issues[0]?.path.join('.') ?? ''
  return refused('manifest', `it is signed, but its format is not supported: ${place}`)
}

function refused(code: 'manifest' | 'signature', why: string): OpenedManifest {
  return { kind: 'refused', code, why }
}

/** DSSE's pre-authentication encoding. */
function signedBytes(payload: Buffer): Buffer {
  const head = `DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `
  return Buffer.concat([Buffer.from(head, 'utf8'), payload])
}

/** SHA-256, 64 hexadecimal digits. Names are not secret and are compared as texts. */
export const contentName = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

export const isNamed = (bytes: Uint8Array, name: string): boolean => contentName(bytes) === name
