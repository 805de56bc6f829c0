// Which TLS the API speaks, asked by the real openssl of a real uWebSockets.js: TLS 1.3, and of 1.2
// only what keeps old recordings secret when the certificate's key is stolen.

import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadUws } from '../../../src/http/listen/load-uws.ts'
import { tlsAppOptions } from '../../../src/http/listen/tls-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-tls-'))
const keyKinds = {
  rsa: ['-newkey', 'rsa:2048'],
  ecdsa: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
} as const
type KeyKind = keyof typeof keyKinds

const ports: Record<string, number> = {}
const stops: (() => void)[] = []

async function listen(name: string, kind: KeyKind, minVersion: '1.2' | '1.3'): Promise<void> {
  const certFile = join(folder, `${kind}.pem`)
  const keyFile = join(folder, `${kind}.key`)
  const subject = ['-subj', '/CN=localhost', '-days', '2', '-nodes']
  const files = ['-keyout', keyFile, '-out', certFile]
  execFileSync('openssl', ['req', '-x509', ...keyKinds[kind], ...subject, ...files], {
    stdio: 'pipe',
  })
  const uws = await loadUws()
  const app: TemplatedApp = uws.SSLApp(tlsAppOptions({ certFile, keyFile, minVersion }))
  const socket = await new Promise<us_listen_socket>((resolve, reject) => {
    app.listen('127.0.0.1', 0, (token) =>
      token === false ? reject(new Error(name)) : resolve(token),
    )
  })
  ports[name] = uws.us_socket_local_port(socket)
  stops.push(() => uws.us_listen_socket_close(socket))
}

beforeAll(async () => {
  await listen('rsa', 'rsa', '1.2')
  await listen('ecdsa', 'ecdsa', '1.2')
  await listen('rsa, 1.3 alone', 'rsa', '1.3')
})
afterAll(() => {
  for (const stop of stops) stop()
  rmSync(folder, { recursive: true })
})

/** `TLSv1.2 ECDHE-…`, what openssl agreed on; `refused` where it could not. */
function agreed(name: string, options: readonly string[]): Promise<string> {
  const args = ['s_client', '-connect', `127.0.0.1:${ports[name]}`, ...options]
  return new Promise((resolve) => {
    const child = execFile('openssl', args, (_error, out) => {
      const [, version, cipher] = /^New, (\S+), Cipher is (\S+)$/m.exec(out) ?? []
      resolve(cipher === undefined || cipher === '(NONE)' ? 'refused' : `${version} ${cipher}`)
    })
    child.stdin?.end()
  })
}

/** openssl itself refuses what is old unless it is told otherwise. */
const anything = ':@SECLEVEL=0'
const of12 = (cipher: string): string[] => ['-tls1_2', '-cipher', `${cipher}${anything}`]

describe('the API over TLS', () => {
  it.each([
    'AES128-GCM-SHA256',
    'AES256-GCM-SHA384',
    'AES128-SHA',
    'AES256-SHA',
    'DES-CBC3-SHA',
    'kRSA',
  ])('refuses %s, whose sessions the stolen key of a certificate opens', async (cipher) => {
    expect(await agreed('rsa', of12(cipher))).toBe('refused')
  })

  it.each(['ECDHE-RSA-AES128-SHA', 'ECDHE-RSA-AES256-SHA', 'aNULL', 'PSK'])(
    'refuses %s, too',
    async (cipher) => {
      expect(await agreed('rsa', of12(cipher))).toBe('refused')
    },
  )

  it.each([
    ['rsa', 'ECDHE-RSA-AES128-GCM-SHA256'],
    ['rsa', 'ECDHE-RSA-AES256-GCM-SHA384'],
    ['rsa', 'ECDHE-RSA-CHACHA20-POLY1305'],
    ['ecdsa', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
    ['ecdsa', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
    ['ecdsa', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ])('with a certificate of %s agrees on %s in TLS 1.2', async (name, cipher) => {
    expect(await agreed(name, of12(cipher))).toBe(`TLSv1.2 ${cipher}`)
  })

  it.each(['rsa', 'ecdsa', 'rsa, 1.3 alone'])('speaks TLS 1.3 (%s)', async (name) => {
    expect(await agreed(name, ['-tls1_3'])).toMatch(/^TLSv1\.3 TLS_/)
  })

  it.each(['rsa', 'ecdsa', 'rsa, 1.3 alone'])('refuses what is older (%s)', async (name) => {
    for (const version of ['-tls1', '-tls1_1']) {
      expect(await agreed(name, [version, '-cipher', `ALL${anything}`])).toBe('refused')
    }
  })

  it('refuses TLS 1.2 where 1.3 alone is wanted', async () => {
    expect(await agreed('rsa, 1.3 alone', of12('ALL'))).toBe('refused')
  })
})
