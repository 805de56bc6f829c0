// Debian's rbldnsd serves an export as a zone: codes and texts of both families are those of `check`,
// asked for by a resolver and by dig; and Postfix takes the restriction that docs/export.md names.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { Resolver } from 'node:dns/promises'
import { tmpdir, userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseAddress } from '../../src/ip/parse-address.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { describeWith } from '../deploy/need.ts'
import { atEndOfFile } from '../ends.ts'
import { eventually } from '../eventually.ts'
import { removeFolder } from '../remove-folder.ts'
import { checked, exported, isLeftOut, sampleAddresses } from './small-export.ts'

let port = 0
const zone = 'risk.example'
const resolver = new Resolver({ timeout: 2000, tries: 2 })

/** Octets or nibbles from behind, as RFC 5782 has it. */
function nameOf(ip: string): string {
  const words = new Uint32Array(4)
  const family = parseAddress(ip, words)
  const own = family === 4 ? words.slice(0, 1) : words
  const hex = Array.from(own, (word) => word.toString(16).padStart(8, '0')).join('')
  const parts = family === 4 ? ip.split('.') : hex.split('')
  return `${parts.toReversed().join('.')}.${zone}`
}

const asked = async (name: string): Promise<readonly string[]> => {
  const [codes, texts] = await Promise.all([
    resolver.resolve4(name).catch(() => []),
    resolver.resolveTxt(name).catch(() => []),
  ])
  return [...codes, ...texts.flat()]
}

describeWith('rbldnsd', ['-h'], () => {
  let server: ChildProcess
  beforeAll(async () => {
    const { path } = await exported({ format: 'rbldnsd', where: 'signals.tor || signals.vpn' })
    const socket = createSocket('udp4').bind(0, '127.0.0.1')
    await once(socket, 'listening')
    ;({ port } = socket.address())
    socket.close()
    const of = `${zone}:combined:${basename(path)}`
    chmodSync(dirname(path), 0o755)
    // It refuses to run as root.
    const { uid, username } = userInfo()
    const args = [
      '-n',
      '-u',
      uid === 0 ? 'nobody' : username,
      '-w',
      dirname(path),
      '-b',
      `127.0.0.1/${port}`,
    ]
    server = spawn('rbldnsd', [...args, of], { stdio: 'ignore' })
    resolver.setServers([`127.0.0.1:${port}`])
    await eventually(async () => (await asked(`2.0.0.127.${zone}`)).length > 0 || undefined, 10_000)
  })
  afterAll(() => server?.kill())

  it('lists the addresses that test a zone', async () => {
    expect(await asked(`2.0.0.127.${zone}`)).toEqual(['127.0.0.2', 'test'])
    expect(await asked(`1.0.0.127.${zone}`)).toEqual([])
    const mapped = `${'0.'.repeat(20)}${zone}`
    expect(await asked(`2.0.0.0.0.0.f.7.f.f.f.f.${mapped}`)).toEqual(['127.0.0.2', 'test'])
    expect(await asked(`1.0.0.0.0.0.f.7.f.f.f.f.${mapped}`)).toEqual([])
  })

  describeWith('dig', ['-v'], () => {
    it('answers dig, of both families', () => {
      const dig = (ip: string, type: 'A' | 'TXT'): string =>
        execFileSync('dig', ['+short', '-p', String(port), '@127.0.0.1', nameOf(ip), type], {
          encoding: 'utf8',
        }).trim()
      for (const ip of ['9.1.2.3', '2a01:4f8::1'])
        expect([dig(ip, 'A'), dig(ip, 'TXT')]).toEqual(['127.0.0.3', '"tor"'])
      expect([dig('9.1.2.4', 'A'), dig('2a01:4f8::2', 'A')]).toEqual(['', ''])
    })
  })

  it('says what check says', async () => {
    const codes: Readonly<Record<string, number>> = { tor: 3, vpn: 4, mixed: 8 }
    const some = sampleAddresses(100).filter((ip) => !isLeftOut(ip) && !/^127\.|^::/.test(ip))
    let listed = 0
    for (const ip of some) {
      const { classification, signals } = checked(ip)
      const isIn = signals.tor || signals.vpn
      if (isIn) listed++
      const said = [`127.0.0.${codes[classification] ?? 2}`, classification]
      expect([ip, await asked(nameOf(ip))]).toEqual([ip, isIn ? said : []])
    }
    expect(listed).toBeGreaterThan(5)
  })
})

describeWith('postconf', ['-d', 'mail_version'], () => {
  it('takes reject_rbl_client as the document has it', () => {
    const docs = readFileSync(join(packageRoot, 'docs/export.md'), 'utf8')
    const [restriction = ''] = /reject_rbl_client [^`]+/.exec(docs) ?? []
    expect(restriction).not.toBe('')
    const folder = mkdtempSync(join(tmpdir(), 'iprisk-postfix-'))
    atEndOfFile(() => removeFolder(folder))
    for (const name of ['spool', 'data']) mkdirSync(join(folder, name))
    const used = `permit_mynetworks, reject_unauth_destination, ${restriction}`
    const settings = [
      'compatibility_level = 3.6',
      `queue_directory = ${folder}/spool`,
      `data_directory = ${folder}/data`,
      `smtpd_recipient_restrictions = ${used}`,
    ]
    writeFileSync(join(folder, 'main.cf'), `${settings.join('\n')}\n`)
    copyFileSync('/usr/share/postfix/master.cf.dist', join(folder, 'master.cf'))
    const read = execFileSync('postconf', ['-c', folder, '-h', 'smtpd_recipient_restrictions'])
    expect(read.toString().trim()).toBe(used)
    expect(() => execFileSync('postfix', ['-c', folder, 'check'], { stdio: 'pipe' })).not.toThrow()
  })
})
