// What `iprisk doctor` finds of a proxy in front of the server: nginx as it comes.

import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { DoctorFinding } from '../../../src/cli/doctor/doctor-finding.ts'
import { checkFront, checkServer } from '../../../src/cli/doctor/check-server.ts'
import { askStatus } from '../../../src/cli/server/ask-admin.ts'
import { type Settings, readSettings } from '../../../src/config/settings.ts'
import { freePort } from '../../../bench/harness/free-port.ts'
import { newState, serversOfTests } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { describeWith } from '../../deploy/need.ts'
import { eventually } from '../../eventually.ts'

const start = serversOfTests()
let child: ChildProcess | undefined

afterEach(() => void child?.kill('SIGKILL'))

function byCode(findings: readonly DoctorFinding[]): ReadonlyMap<string, DoctorFinding> {
  return new Map(findings.map((finding) => [finding.code, finding]))
}

function settingsOf(flags: Readonly<Record<string, unknown>>): Settings {
  return readSettings({ command: 'doctor', flags, environment: {}, cwd: newState() })
}

describeWith('nginx', ['-v'], () => {
  it('as it comes, which speaks HTTP/1.0, gets the line that mends it', async () => {
    const server = await start({ table: writeSmallTable() })
    const [bad, good] = [await freePort(), await freePort()]
    const upstream = `proxy_pass http://127.0.0.1:${server.port};`
    child = startNginx([
      `server { listen 127.0.0.1:${bad}; location / { ${upstream} } }`,
      `server { listen 127.0.0.1:${good}; location / { ${upstream} proxy_http_version 1.1; } }`,
    ])
    const found = await eventually(async () => {
      const first = byCode(await checkFront(`http://127.0.0.1:${bad}`))
      return first.has('front_unreachable') ? undefined : first
    })
    expect(found.get('http_1_0_proxy')?.fix).toContain('proxy_http_version 1.1;')
    expect(await checkFront(`http://127.0.0.1:${good}`)).toEqual([])
    // Seen from the server, too: connections that bring nothing.
    const { port, adminPort } = server
    const settings = settingsOf({ port, adminPort })
    expect(
      byCode(await checkServer(settings, await askStatus(settings.serve))).has('nothing_heard'),
    ).toBe(false)
    for (let n = 0; n < 25; n += 1) {
      const { status } = await fetch(`http://127.0.0.1:${bad}/openapi.json`)
      expect(status).toBe(505)
    }
    const seen = await eventually(async () =>
      byCode(await checkServer(settings, await askStatus(settings.serve))).get('nothing_heard'),
    )
    expect(seen.text).toMatch(/At least 2\d of \d+ connections were closed without/)
  })
})

function startNginx(servers: readonly string[]): ChildProcess {
  const folder = newState()
  const configuration = join(folder, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const lines = [
    'daemon off; master_process off; error_log stderr crit;',
    `pid ${folder}/pid; events {} http { access_log off;`,
    ...temporary.map((name) => `${name}_temp_path ${folder}/${name};`),
    ...servers,
    '}',
  ]
  writeFileSync(configuration, lines.join('\n'))
  return spawn('nginx', ['-p', folder, '-c', configuration], { stdio: 'ignore' })
}
