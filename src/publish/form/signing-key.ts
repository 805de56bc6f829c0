// Publishers' Ed25519 keys (RFC 8032): the private one as PKCS #8 in a PEM file of mode 0600, the
// public one in the form of --table-trust, `ed25519:` and 32 bytes in base64url.

import type { KeyObject } from 'node:crypto'
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { type IpriskError, messageOf, inputError } from '../../base/coded-error.ts'
import { trustedKeyForm } from '../../config/values/publish-values.ts'
import { readBoundedFile, secretFile } from '../../base/system/bounded-file.ts'

export interface SigningKey {
  readonly privateKey: KeyObject
  readonly trusted: TrustedKey
}

export interface TrustedKey {
  readonly text: string
  /** The first 16 digits of its SHA-256: distinguishes keys, proves nothing. */
  readonly id: string
  readonly key: KeyObject
}

/** `undefined` if invalid. */
export function parseTrustedKey(text: string): TrustedKey | undefined {
  const x = trustedKeyForm.exec(text)?.[1]
  if (x === undefined) return undefined
  const bytes = Buffer.from(x, 'base64url')
  // The last character has two unused bits, which must be zero: a key has one text.
  if (bytes.toString('base64url') !== x) return undefined
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return { text, id: createHash('sha256').update(bytes).digest('hex').slice(0, 16), key }
}

function trustedKeyOf(key: KeyObject): TrustedKey {
  const { x = '' } = key.export({ format: 'jwk' })
  const trusted = parseTrustedKey(`ed25519:${x}`)
  if (trusted === undefined) throw new TypeError('it is not an Ed25519 key')
  return trusted
}

/** `path` must not exist. */
export function createSigningKey(path: string): TrustedKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })
  try {
    mkdirSync(dirname(path), { recursive: true })
    const descriptor = openSync(path, 'wx', 0o600)
    try {
      writeSync(descriptor, pem as string)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const why =
      code === 'EEXIST'
        ? 'the file exists, and servers may trust its key: name another file, or move it away'
        : messageOf(cause)
    throw signingKeyError(`The signing key was not written to ${path}: ${why}.`, cause)
  }
  return trustedKeyOf(publicKey)
}

export function readSigningKey(path: string): SigningKey {
  try {
    const { bytes, stat } = readBoundedFile(path, secretFile)
    if (stat.isFile() && (stat.mode & 0o007) !== 0) {
      throw new Error('all users can read it: chmod 600')
    }
    const privateKey = createPrivateKey(bytes)
    return { privateKey, trusted: trustedKeyOf(createPublicKey(privateKey)) }
  } catch (cause) {
    const hint = 'Create one with "iprisk keys signing create", or name another with --signing-key.'
    const message = `The signing key ${path} cannot be used: ${messageOf(cause)}. ${hint}`
    throw signingKeyError(message, cause)
  }
}

const signingKeyError = (message: string, cause: unknown): IpriskError =>
  inputError('signing_key', message, { cause })
