// Checks the TLS files of the API before a worker starts, and makes the options of uWebSockets.js,
// which reads the files itself in every worker as it starts: new certificates take effect with a
// rolling restart. No content of a file is ever in a message.
//
// TLS 1.2 offers only suites with a key agreed on for each connection (ECDHE) and AEAD: with
// the others, an attacker who records traffic and later gets the certificate's key can decrypt it.
// All suites of 1.3 are of that kind (test/http/listen/tls-ciphers.test.ts).
//
// uWebSockets.js has no switch between 1.2 and 1.3. For 1.3 alone it gets one cipher for 1.2 that
// needs a pre-shared secret, and there is none: no handshake of 1.2 can succeed
// (test/admin/admin-exposure.world.test.ts). With a CA it requests a client's certificate but
// accepts clients without one, so client certificates are left to a proxy.

import { X509Certificate, createPrivateKey } from 'node:crypto'
import type { AppOptions } from 'uWebSockets.js'
import { type IpriskError, messageOf, environmentError } from '../../base/coded-error.ts'
import { pemBytesMax } from '../../base/limits.ts'
import { readBoundedFile } from '../../base/system/bounded-file.ts'
import type { ServeSettings } from '../../config/settings.ts'

export type TlsFiles = NonNullable<ReturnType<typeof tlsFilesOf>>

/** Those of TLS 1.2, for certificates of either kind. */
const ciphersOf12 = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

const impossibleBefore13 = 'ECDHE-PSK-AES128-CBC-SHA'

export function tlsFilesOf(serve: ServeSettings) {
  const { tlsCertFile, tlsKeyFile, tlsMinVersion } = serve
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return undefined
  return { certFile: tlsCertFile, keyFile: tlsKeyFile, minVersion: tlsMinVersion }
}

export function tlsAppOptions({ certFile, keyFile, minVersion }: TlsFiles): AppOptions {
  return {
    cert_file_name: certFile,
    key_file_name: keyFile,
    ssl_ciphers: minVersion === '1.3' ? impossibleBefore13 : ciphersOf12,
  }
}

/**
 * The certificate's last instant, milliseconds since the epoch. Throws `tls_unusable` for files
 * that are unreadable, not PEM, not matching or not valid at `now`.
 */
export function validateTlsFiles({ certFile, keyFile }: TlsFiles, now: number): number {
  const certificate = certificateOf(certFile)
  const key = keyOf(keyFile)
  if (!certificate.checkPrivateKey(key)) {
    throw unusable(keyFile, `its key does not match the certificate ${certFile}`)
  }
  const from = Date.parse(certificate.validFrom)
  const until = Date.parse(certificate.validTo)
  if (now < from)
    throw unusable(certFile, `its certificate is not valid before ${certificate.validFrom}`)
  if (now > until) throw unusable(certFile, `its certificate expired at ${certificate.validTo}`)
  return until
}

function certificateOf(path: string): X509Certificate {
  const pem = readPem(path)
  try {
    return new X509Certificate(pem)
  } catch (cause) {
    throw unusable(path, 'it contains no certificate in PEM', cause)
  }
}

function keyOf(path: string): ReturnType<typeof createPrivateKey> {
  const pem = readPem(path)
  try {
    return createPrivateKey(pem)
  } catch (cause) {
    const locked = pem.includes('ENCRYPTED')
    const why = locked
      ? 'its key has a passphrase, which is not supported'
      : 'it contains no private key in PEM'
    throw unusable(path, why, cause)
  }
}

function readPem(path: string): string {
  try {
    return readBoundedFile(path, { bytesMax: pemBytesMax }).bytes.toString('latin1')
  } catch (cause) {
    throw unusable(path, messageOf(cause), cause)
  }
}

function unusable(path: string, why: string, cause?: unknown): IpriskError {
  return environmentError('tls_unusable', `Cannot serve TLS with ${path}: ${why}.`, { cause })
}
