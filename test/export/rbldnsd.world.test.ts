// Debian's rbldnsd serves an export as a zone: codes and texts of both families are those of `check`.

import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { Resolver } from 'node:dns/promises'
import { basename, dirname } from 'node:path'
import { userInfo } from 'node:os'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseAddress } from '../../src/ip/parse-address.ts'
import { describeWith } from '../deploy/need.ts'
import { eventually } from '../eventually.ts'
import { checked, exported, isLeftOut, sampleAddresses } from './small-export.ts'

const port = 20_053
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
