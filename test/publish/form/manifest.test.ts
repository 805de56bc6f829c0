// The manifest: signed text, and what is not one. Keys: their files and texts.

import { chmodSync, mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Manifest, openManifest, sealManifest } from '../../../src/publish/form/manifest.ts'
import {
  createSigningKey,
  parseTrustedKey,
  readSigningKey,
} from '../../../src/publish/form/signing-key.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-signing-'))
createSigningKey(join(folder, 'own.pem'))
createSigningKey(join(folder, 'other.pem'))
const own = readSigningKey(join(folder, 'own.pem'))
const other = readSigningKey(join(folder, 'other.pem'))

const manifest: Manifest = {
  form: 1,
  serial: 7,
  releases: [
    {
      id: '20260822-0123456789ab',
      as_of: '2026-08-22',
      format: { major: 1, minor: 1 },
      program: '0.1.0',
      published: 7,
      bytes: 100,
      sha256: 'a'.repeat(64),
      index: { sha256: 'b'.repeat(64), bytes: 10 },
      stored: 20,
      stages: [{ percent: 10, from: 7 }],
    },
  ],
  withdrawn: [],
}
const text = sealManifest(manifest, own)
const envelope = JSON.parse(text) as {
  payload: string
  payloadType: string
  signatures: { sig: string }[]
}

describe('a manifest', () => {
  it('is read by whoever trusts its key, among others', () => {
    const opened = openManifest(text, [other.trusted, own.trusted])
    expect(opened).toMatchObject({ kind: 'manifest', manifest, by: { id: own.trusted.id } })
  })

  it('is what a DSSE verifier takes', () => {
    const payload = Buffer.from(envelope.payload, 'base64')
    const { payloadType: type } = envelope
    const signed = Buffer.concat([
      Buffer.from(`DSSEv1 ${type.length} ${type} ${payload.length} `),
      payload,
    ])
    const pem = createPublicKey(readFileSync(join(folder, 'own.pem')))
    expect(verify(null, signed, pem, Buffer.from(envelope.signatures[0]!.sig, 'base64'))).toBe(true)
  })

  const payloadOf = (of: object): string => Buffer.from(JSON.stringify(of)).toString('base64')
  const sealed = (of: object): string => sealManifest(of as Manifest, own)
  const bad: readonly (readonly [claim: string, text: string, code: string])[] = [
    ['of another key', sealManifest(manifest, other), 'signature'],
    [
      'whose payload was changed',
      JSON.stringify({ ...envelope, payload: payloadOf({ ...manifest, serial: 8 }) }),
      'signature',
    ],
    ['without a signature', JSON.stringify({ ...envelope, signatures: [] }), 'signature'],
    [
      'signed as something else',
      JSON.stringify({ ...envelope, payloadType: 'text/plain' }),
      'manifest',
    ],
    ['of another form', text.slice(0, 40), 'manifest'],
    ['that is a page', '<html>502 Bad Gateway</html>', 'manifest'],
    ['that is empty', '', 'manifest'],
    [
      'of a great many signatures',
      JSON.stringify({ ...envelope, signatures: Array(9).fill(envelope.signatures[0]) }),
      'manifest',
    ],
  ]
  it.each(bad)('%s is refused', (_claim, of, code) => {
    expect(openManifest(of, [own.trusted])).toMatchObject({ kind: 'refused', code })
  })

  it('may have members that a later version adds', () => {
    expect(openManifest(sealed({ ...manifest, later: 1 }), [own.trusted])).toMatchObject({
      kind: 'manifest',
    })
  })

  it('has the name of its place in what is signed, or none', () => {
    const placed = { ...manifest, place: 's3://tables/world' }
    expect(openManifest(sealed(placed), [own.trusted])).toMatchObject({ manifest: placed })
    expect(openManifest(text, [own.trusted])).toMatchObject({ manifest })
    for (const place of ['', 'a\u001b[2J', 'a\u202eb', 'x'.repeat(1025)]) {
      expect(() => sealed({ ...manifest, place })).toThrow('place')
    }
  })

  it('may name sizes from one byte on', () => {
    const [release] = manifest.releases
    const { sha256 } = release!.index
    const of = (size: object): string =>
      sealed({ ...manifest, releases: [{ ...release, ...size }] })
    for (const size of [{ bytes: 1 }, { index: { sha256, bytes: 1 } }]) {
      expect(openManifest(of(size), [own.trusted])).toMatchObject({ kind: 'manifest' })
    }
    for (const size of [{ bytes: 0 }, { index: { sha256, bytes: 0 } }]) {
      expect(() => of(size)).toThrow('bytes')
    }
  })

  it('cannot name what is no hash, no day or no id', () => {
    const [release] = manifest.releases
    for (const wrong of [
      { sha256: '../x' },
      { id: '../../etc' },
      { as_of: 'today' },
      { bytes: 3e9 },
    ]) {
      const [member = ''] = Object.keys(wrong)
      const act = (): string => sealed({ ...manifest, releases: [{ ...release, ...wrong }] })
      expect(act).toThrow(member)
    }
  })
})

describe('a signing key', () => {
  it('is for its owner alone, and never written over', () => {
    const path = join(folder, 'fresh.pem')
    const { text: trust } = createSigningKey(path)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readSigningKey(path).trusted.text).toBe(trust)
    expect(() => createSigningKey(path)).toThrow(/the file exists/)
  })

  it('that everybody may read, or that is none, is not used', () => {
    const path = join(folder, 'open.pem')
    createSigningKey(path)
    chmodSync(path, 0o644)
    expect(() => readSigningKey(path)).toThrow(/chmod 600/)
    writeFileSync(join(folder, 'none.pem'), 'nothing', { mode: 0o600 })
    expect(() => readSigningKey(join(folder, 'none.pem'))).toThrow(
      /name another with --signing-key/,
    )
  })

  it('has one text', () => {
    expect(parseTrustedKey(own.trusted.text)?.id).toBe(own.trusted.id)
    expect(parseTrustedKey(`${own.trusted.text}A`)).toBeUndefined()
    expect(parseTrustedKey('ed25519:')).toBeUndefined()
  })
})
