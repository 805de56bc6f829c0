// What reads lists for real takes each format whole: nft and ipset in a network namespace of the
// test's own, nginx, HAProxy, and curl with its tag.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../../deploy/need.ts'
import { type Server, makeKey, newState, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'

const folder = newState()
let server: Server
let key = ''
beforeAll(async () => {
  const config = join(folder, 'iprisk.json')
  const published = { listed: 'signals.tor || signals.vpn' }
  writeFileSync(config, JSON.stringify({ lists: { published } }), { mode: 0o644 })
  const state = join(folder, 'state')
  key = await makeKey(state, { apis: ['lists'] })
  server = await startServer({ table: writeSmallTable(), state, args: ['--config', config] })
})
afterAll(() => server?.stop())

const curl = (query: string, ...more: readonly string[]): string =>
  execFileSync(
    'curl',
    ['-sS', '-u', `x:${key}`, ...more, `http://127.0.0.1:${server.port}/lists/listed?${query}`],
    { encoding: 'utf8' },
  )
function download(format: string): string {
  const path = join(folder, format)
  writeFileSync(path, curl(`format=${format}`), { mode: 0o644 })
  return path
}
const said = (...[command = '', ...args]: readonly string[]): string =>
  execFileSync(command, args, { encoding: 'utf8' })
const inside = (script: string): string => said('unshare', '-n', 'sh', '-c', script)

const ipv4 = ['9.1.2.3', '9.200.0.0/16', '11.1.1.1']

describeWith('curl', ['--version'], () => {
  it('gets 304 by its tag', () => {
    const tag = join(folder, 'tag')
    expect(curl('', '--etag-save', tag).split('\n')).toEqual(expect.arrayContaining(ipv4))
    expect(curl('', '--etag-compare', tag, '-w', '%{http_code}')).toBe('304')
    expect(curl('', '--compressed')).toContain('9.200.0.0/16\n')
  })
})

describeWith('nft', ['--version'], () => {
  it('loads it, twice', () => {
    const path = download('nft')
    const listed = inside(`nft -f ${path} && nft -f ${path} && nft list set inet iprisk listed-4`)
    for (const one of ipv4) expect(listed).toContain(one)
  })
})

describeWith('ipset', ['--version'], () => {
  it('restores it, twice', () => {
    const path = download('ipset')
    const listed = inside(
      `ipset restore -f ${path} && ipset restore -f ${path} && ipset list listed-4`,
    )
    for (const one of ipv4) expect(listed).toContain(one)
  })
})

describeWith('nginx', ['-v'], () => {
  it('includes it in a geo block', () => {
    const path = download('nginx')
    const main = join(folder, 'nginx.conf')
    const http = `http { access_log off; geo $listed { default 0; include ${path}; } }`
    writeFileSync(main, `pid ${folder}/pid;\nerror_log stderr;\nevents {}\n${http}\n`)
    expect(() => said('nginx', '-t', '-q', '-p', folder, '-c', main)).not.toThrow()
  })
})

describeWith('haproxy', ['-v'], () => {
  it('takes it as a map', () => {
    const path = download('haproxy')
    const main = join(folder, 'haproxy.cfg')
    writeFileSync(
      main,
      `defaults
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s
frontend web
  bind 127.0.0.1:1
  http-request deny if { src,map_ip(${path}) -m found }
`,
    )
    expect(() => said('haproxy', '-c', '-q', '-f', main)).not.toThrow()
    expect(readFileSync(path, 'utf8')).toContain('9.200.0.0/16 listed\n')
  })
})
