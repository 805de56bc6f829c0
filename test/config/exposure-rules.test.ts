// What a start is refused for, by files: tokens, keys of logged addresses, certificates; and the
// forms of logged addresses held against a slow twin.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { afterAll, describe, expect, it } from 'vitest'
import { logAddressFormatter } from '../../src/observe/log-address.ts'
import { validateTlsFiles } from '../../src/http/listen/tls-files.ts'
import { bearerOf, createTokenMatcher, readAdminToken } from '../../src/admin/admin-caller.ts'
import { type Certificate, makeCertificate } from '../account/stores/redis/redis-servers.ts'

const folders: string[] = []
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-exposure-'))
  folders.push(folder)
  return folder
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

function file(text: string): string {
  const path = join(newFolder(), 'file')
  writeFileSync(path, text)
  return path
}

describe('a token', () => {
  it.each(['short', 'two words of more than sixteen', 'ö'.repeat(20), 'x'.repeat(513)])(
    'is not %s, and the message does not tell it',
    (bad) => {
      const refusal = (): string => readAdminToken(file(bad))
      expect(refusal).toThrow(/cannot be used: .* Generate one with "openssl rand -hex 32"/)
      expect(refusal).not.toThrow(bad)
    },
  )

  it('lets in itself and nothing else', () => {
    const text = '0123456789abcdef'
    const who = createTokenMatcher({ adminTokenFile: file(`${text}\n`) })
    const gate = (authorization?: string): boolean => who?.(bearerOf(authorization)) !== undefined
    expect(gate(`Bearer ${text}`)).toBe(true)
    expect(gate(undefined)).toBe(false)
    fc.assert(fc.property(fc.string(), (other) => !gate(other) && !gate(`Bearer ${other}`)))
  })
})

describe('a file of tokens', () => {
  const [one, two] = ['0123456789abcdef', 'fedcba9876543210']
  const hashed = `sha256:${createHash('sha256').update(two).digest('hex')}`
  const matcherOf = (text: string) => createTokenMatcher({ adminTokensFile: file(text) })

  it('says who has which role, also where only the hash stands there', () => {
    const who = matcherOf(`# people\nviewer wall ${one}\n\n analyst  maria\t${hashed}\n`)
    expect(who?.(one)).toEqual({ role: 'viewer', name: 'wall', via: 'admin port' })
    expect(who?.(two)).toEqual({ role: 'analyst', name: 'maria', via: 'admin port' })
    for (const wrong of ['', hashed, `${one} `, one.slice(1)]) expect(who?.(wrong)).toBe(undefined)
    expect(createTokenMatcher({})).toBe(undefined)
  })

  it.each([
    ['', 'has no tokens'],
    [`root maria ${one}`, 'cannot be used: line 1: it must begin with a role'],
    [`# x\nadmin ma/ria ${one}`, 'line 2: after the role'],
    ['admin maria short', 'line 1: after the name'],
    [`admin maria ${one} more`, 'line 1: after the name'],
    [`admin a ${one}\nviewer a ${two}`, 'a name appears twice'],
    [`admin a ${one}\nviewer b ${one}`, 'a token appears twice'],
  ])('is not %j, and the message does not tell a token', (text, why) => {
    expect(() => matcherOf(text)).toThrow(why)
    expect(() => matcherOf(text)).not.toThrow(one)
  })
})

describe('addresses in the log', () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6())
  const short = logAddressFormatter({ logAddresses: true, logAddressForm: 'short' })
  const full = { logAddresses: true, logAddressForm: 'full' } as const

  it('are left out, or whole', () => {
    expect(logAddressFormatter({ ...full, logAddresses: false })).toBe(false)
    expect(logAddressFormatter(full)).toBe(true)
  })

  it('are shortened to /24 and /48 as a slow twin does it', () => {
    fc.assert(
      fc.property(address, (text) => {
        const parsed = ipaddr.parse(text)
        const [bits, size] = parsed.kind() === 'ipv4' ? [24, 32] : [48, 128]
        const value = BigInt(`0x${Buffer.from(parsed.toByteArray()).toString('hex')}`)
        const kept = (value >> BigInt(size - bits)) << BigInt(size - bits)
        const bytes = Buffer.from(kept.toString(16).padStart(size / 4, '0'), 'hex')
        const written = typeof short === 'function' ? short(text) : ''
        const [network = '', length] = written.split('/')
        expect(length).toBe(String(bits))
        expect(ipaddr.parse(network).toByteArray()).toEqual([...bytes])
      }),
    )
    expect(typeof short === 'function' && short('no address')).toBe('[no address]')
  })

  it('are hashed by address, not by text, and by key', () => {
    const writer = (key: string): ((text: string) => string) => {
      const logAddressKeyFile = file(key)
      const form = { logAddresses: true, logAddressForm: 'keyed', logAddressKeyFile } as const
      const written = logAddressFormatter(form)
      return typeof written === 'function' ? written : String
    }
    const one = writer('0123456789abcdef')
    expect(one('2001:db8::1')).toMatch(/^hmac:[\w-]{16}$/)
    expect(one('2001:db8::1')).toBe(one('2001:DB8:0:0::0001'))
    expect(one('2001:db8::1')).not.toBe(one('2001:db8::2'))
    expect(one('2001:db8::1')).not.toBe(writer('fedcba9876543210')('2001:db8::1'))
    expect(() => writer('short')).toThrow('must have 16')
  })
})

describe('a certificate and its key', () => {
  const check = (certificate: Certificate, now = Date.now()): number =>
    validateTlsFiles({ ...certificate, minVersion: '1.2' }, now)

  it('that belong together tell when they end', () => {
    const days = (check(makeCertificate(newFolder())) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(1.9)
    expect(days).toBeLessThanOrEqual(2)
  })

  it.each<[string, (certificate: Certificate) => void, string]>([
    ['a key that is none', (c) => writeFileSync(c.keyFile, 'canary'), 'no private key'],
    ['a certificate that is none', (c) => writeFileSync(c.certFile, 'canary'), 'no certificate'],
    ['a key with a passphrase', lock, 'passphrase'],
    ['a key of another one', ({ keyFile }) => other(keyFile), 'does not match the certificate'],
    ['no key', ({ keyFile }) => renameSync(keyFile, `${keyFile}.gone`), 'no such file'],
  ])('are refused with %s', (_name, spoil, words) => {
    const certificate = makeCertificate(newFolder())
    spoil(certificate)
    expect(() => check(certificate)).toThrow(words)
    expect(() => check(certificate)).not.toThrow('canary')
  })

  it('are refused before and after their time', () => {
    const certificate = makeCertificate(newFolder())
    expect(() => check(certificate, Date.now() + 3 * 86_400_000)).toThrow('certificate expired at')
    expect(() => check(certificate, Date.now() - 86_400_000)).toThrow('not valid before')
  })
})

function lock({ keyFile }: Certificate): void {
  const args = ['ec', '-aes256', '-passout', 'pass:canary', '-in', keyFile, '-out', keyFile]
  expect(spawnSync('openssl', args).status).toBe(0)
}

function other(keyFile: string): void {
  renameSync(makeCertificate(newFolder()).keyFile, keyFile)
}
