// Logs written by the real programs, driven by requests with odd users, ports, forwarded addresses,
// paths and no HTTP at all: each line is read, by the form that `--log auto` finds.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { guessFormat } from '../../src/bulk/log-guess.ts'
import { type LogEntry, type LogFormat, newLineReader } from '../../src/bulk/log-line.ts'
import type { LogFormName } from '../../src/config/line-formats.ts'
import { freePort } from '../../bench/harness/free-port.ts'
import { describeWith } from '../deploy/need.ts'

const folders: string[] = []
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-logs-'))
  chmodSync(folder, 0o777)
  folders.push(folder)
  return folder
}
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

const users = [
  'ann',
  'ann b. smith',
  '',
  '""',
  'a"b\\',
  'é ü',
  '- [x] "',
  ' - - [',
  'x'.repeat(300),
]
const forwarded = ['203.0.113.7', '198.51.100.9, 10.0.0.1', '[2001:db8::7]:443', '203.0.113.8:4711']
const odd = ['unknown', '-', '', '"', 'a, b', '203.0.113.7, "x"', '%00', '\\x22']
const targets = [
  '/',
  '/a?b=1',
  '/"',
  '/a%22b',
  '/é',
  '/[x]',
  '/\\',
  `/${'a'.repeat(3000)}`,
  '*',
  '//x',
]

const get = (target: string, headers: readonly string[]): string =>
  [`GET ${target} HTTP/1.1`, 'Host: example.com', 'Connection: close', ...headers, '', ''].join(
    '\r\n',
  )

const requests: readonly string[] = [
  ...users.map((user) =>
    get('/admin', [`Authorization: Basic ${Buffer.from(`${user}:x`).toString('base64')}`]),
  ),
  ...[...forwarded, ...odd].map((text) => get('/', [`X-Forwarded-For: ${text}`])),
  ...targets.map((target) => get(target, [])),
  ...['', 'a "b" \\', 'é', '[22/Aug/2026:00:00:01 +0000] "GET / HTTP/1.1" 200'].map((agent) =>
    get('/', [`User-Agent: ${agent}`, `Referer: ${agent}`]),
  ),
  // No HTTP.
  '\x16\x03\x01\x02\x00\x01\x00',
  'GET\r\n\r\n',
  'GET / HTTP/9.9\r\n\r\n',
  '"" ""\r\n\r\n',
  '\0\0\0\0\r\n\r\n',
]

/** Until the other side closes. */
async function send(request: string, host: string, port: number): Promise<void> {
  const socket = connect({ host, port })
  socket.on('error', () => undefined)
  socket.setTimeout(5000, () => socket.destroy())
  socket.resume()
  socket.end(Buffer.from(request, 'latin1'))
  await once(socket, 'close')
}

interface Program {
  readonly command: readonly [program: string, ...args: string[]]
  readonly port: number
  readonly folder: string
  readonly hosts?: readonly string[]
  readonly prefix?: string
}

async function written({ command, port, folder, hosts, prefix = '' }: Program): Promise<void> {
  const [program, ...args] = command
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const texts = { out: '', err: '' }
  child.stdout.on('data', (text) => (texts.out += String(text)))
  child.stderr.on('data', (text) => (texts.err += String(text)))
  try {
    await listening(child, port, texts)
    for (const host of hosts ?? ['127.0.0.1', '::1']) {
      for (const request of requests) await send(prefix + request, host, port)
    }
    await setTimeout(500)
  } finally {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  }
  writeFileSync(join(folder, 'stdout.log'), texts.out)
}

async function listening(child: ChildProcess, port: number, texts: object): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    if (child.exitCode !== null) throw new Error(JSON.stringify(texts))
    const socket = connect({ host: '127.0.0.1', port })
    const isOpen = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (isOpen) return
    await setTimeout(100)
  }
  throw new Error(`it does not listen: ${JSON.stringify(texts)}`)
}

/** How many lines there are, what they were taken for, and those that were not read. */
function readLog(path: string) {
  expect([path, existsSync(path)]).toEqual([path, true])
  const bytes = readFileSync(path)
  const format = guessFormat(bytes)
  const form = format.kind === 'log' ? format.form : format.kind
  const lines = bytes
    .toString()
    .split('\n')
    .filter((line) => line !== '')
  const read = newLineReader({ ...(format as LogFormat), by: 'hour' })
  const entries = lines.map((line) => [line, read(line)] as const)
  const unread = entries.filter(([, entry]) => entry === undefined || 'reason' in entry)
  return { form, lines: lines.length, unread, entries }
}

/** Of the peer, or handed on. */
const addresses = ['127.0.0.1', '::1', '203.0.113.7', '198.51.100.9', '2001:db8::7', '203.0.113.8']

/** Where the log at `path` is not what it should be. */
function faultsOf(path: string, wanted: LogFormName, linesMin: number): readonly unknown[] {
  const { form, lines, unread, entries } = readLog(path)
  const others = entries.filter(
    ([, entry]) => !addresses.includes((entry as Partial<LogEntry>).address ?? ''),
  )
  const isLog = form === wanted && lines >= linesMin
  return [...unread, ...others, ...(isLog ? [] : [{ path, form, lines }])]
}

/** Some programs answer several of one connection, or none of what is no HTTP. */
const most = requests.length - 6

describeWith('nginx', ['-v'], () => {
  it('reads what it logs', async () => {
    const [folder, port] = [newFolder(), await freePort()]
    const config = join(folder, 'nginx.conf')
    const main =
      '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent ' +
      '"$http_referer" "$http_user_agent" "$http_x_forwarded_for"'
    const json =
      '{"time":"$time_iso8601","remote_addr":"$remote_addr","user":"$remote_user",' +
      '"x_forwarded_for":"$http_x_forwarded_for","request":"$request","status":$status}'
    writeFileSync(
      config,
      `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; worker_processes 1;
      events {}
      http {
        client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
        uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
        log_format main '${main}';
        log_format json '${json}';
        log_format escaped escape=json '${json}';
        log_format vhost '$http_host:$server_port $remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"';
        access_log ${folder}/combined.log combined;
        access_log ${folder}/main.log main;
        access_log ${folder}/json.log json;
        access_log ${folder}/escaped.log escaped;
        access_log ${folder}/vhost.log vhost;
        server { listen 127.0.0.1:${port}; listen [::1]:${port}; location / { return 200 "ok"; } }
      }`,
    )
    await written({ command: ['nginx', '-c', config, '-p', folder], port, folder })
    expect(faultsOf(join(folder, 'combined.log'), 'combined', 2 * most)).toEqual([])
    expect(faultsOf(join(folder, 'main.log'), 'combined_forwarded', 2 * most)).toEqual([])
    expect(faultsOf(join(folder, 'json.log'), 'json', 2 * most)).toEqual([])
    expect(faultsOf(join(folder, 'escaped.log'), 'json', 2 * most)).toEqual([])
    expect(faultsOf(join(folder, 'vhost.log'), 'vhost_combined', 2 * most)).toEqual([])
    const entries = readLog(join(folder, 'main.log')).entries.map(([, entry]) => entry)
    for (const address of addresses) {
      expect(entries).toContainEqual(expect.objectContaining({ address }))
    }
  })
})

describeWith('apache2', ['-v'], () => {
  it('reads what it logs', async () => {
    const [folder, port] = [newFolder(), await freePort()]
    const modules = [
      'mpm_event',
      'authn_core',
      'authn_file',
      'authz_core',
      'authz_user',
      'auth_basic',
    ]
    const config = join(folder, 'apache.conf')
    writeFileSync(join(folder, 'users'), 'nobody-here:x\n')
    writeFileSync(
      config,
      `ServerRoot ${folder}
      ServerName example.com
      PidFile ${folder}/pid
      DefaultRuntimeDir ${folder}
      Mutex file:${folder} default
      ErrorLog ${folder}/error.log
      Listen 127.0.0.1:${port}
      Listen [::1]:${port}
      ${modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
      User www-data
      Group www-data
      CustomLog ${folder}/common.log "%h %l %u %t \\"%r\\" %>s %b"
      CustomLog ${folder}/combined.log "%h %l %u %t \\"%r\\" %>s %O \\"%{Referer}i\\" \\"%{User-Agent}i\\""
      CustomLog ${folder}/vhost.log "%v:%p %h %l %u %t \\"%r\\" %>s %O \\"%{Referer}i\\" \\"%{User-Agent}i\\""
      DocumentRoot ${folder}
      <Location />
        AuthType Basic
        AuthName x
        AuthUserFile ${folder}/users
        Require valid-user
      </Location>`,
    )
    await written({ command: ['apache2', '-f', config, '-DFOREGROUND'], port, folder })
    expect(faultsOf(join(folder, 'common.log'), 'common', 2 * most)).toEqual([])
    expect(faultsOf(join(folder, 'combined.log'), 'combined', 2 * most)).toEqual([])
    expect(faultsOf(join(folder, 'vhost.log'), 'vhost_combined', 2 * most)).toEqual([])
  })
})

describeWith('haproxy', ['-v'], () => {
  it.each(['raw', 'rfc3164', 'rfc5424'])('reads what it logs as %s', async (format) => {
    const [folder, port] = [newFolder(), await freePort()]
    const config = join(folder, 'haproxy.cfg')
    writeFileSync(
      config,
      `global
        log stdout format ${format} local0
      defaults
        mode http
        log global
        option httplog
        timeout client 5s
        timeout connect 5s
        timeout server 5s
      frontend web
        bind 127.0.0.1:${port}
        bind [::1]:${port}
        http-request capture req.hdr(User-Agent) len 64
        http-request return status 200 content-type text/plain string ok
`,
    )
    await written({ command: ['haproxy', '-f', config], port, folder })
    // Between the lines are its own messages.
    const path = join(folder, 'stdout.log')
    const log = readFileSync(path, 'utf8').split('\n')
    writeFileSync(
      path,
      log.filter((line) => / web[ ~].*\d{2}\.\d{3}\]|\] web /.test(line)).join('\n'),
    )
    expect(faultsOf(path, 'haproxy', 2 * most)).toEqual([])
  })
})

describeWith('caddy', ['version'], () => {
  it('reads what it logs', async () => {
    const [folder, port] = [newFolder(), await freePort()]
    const config = join(folder, 'Caddyfile')
    writeFileSync(
      config,
      `{
        admin off
        auto_https off
        storage file_system ${folder}
      }
      http://:${port} {
        log {
          output file ${folder}/access.log
          format json
        }
        respond "ok"
      }\n`,
    )
    await written({
      command: ['caddy', 'run', '--config', config, '--adapter', 'caddyfile'],
      port,
      folder,
    })
    // What is no HTTP, or of another host, has no line.
    expect(faultsOf(join(folder, 'access.log'), 'caddy', 40)).toEqual([])
  })
})

describeWith('squid', ['-v'], () => {
  it('reads what it logs', async () => {
    const [folder, port] = [newFolder(), await freePort()]
    const config = join(folder, 'squid.conf')
    writeFileSync(
      config,
      `http_port 127.0.0.1:${port}
      http_port [::1]:${port}
      http_access deny all
      cache deny all
      cache_effective_user proxy
      coredump_dir ${folder}
      pid_filename ${folder}/pid
      cache_log ${folder}/cache.log
      access_log stdio:${folder}/access.log squid
      shutdown_lifetime 0 seconds\n`,
    )
    await written({ command: ['squid', '-N', '-f', config], port, folder })
    expect(faultsOf(join(folder, 'access.log'), 'squid', most)).toEqual([])
  })
})

describeWith('gunicorn', ['--version'], () => {
  it('reads what it logs', async () => {
    const [folder, port] = [newFolder(), await freePort()]
    writeFileSync(
      join(folder, 'app.py'),
      'def app(environ, start):\n    start("200 OK", [("Content-Length", "2")])\n    return [b"ok"]\n',
    )
    const bind = ['-b', `127.0.0.1:${port}`, '-b', `[::1]:${port}`]
    await written({
      command: ['gunicorn', ...bind, '--access-logfile', 'access.log', 'app:app'],
      port,
      folder,
    })
    expect(faultsOf(join(folder, 'access.log'), 'combined', 2 * (most - 4))).toEqual([])
  })
})
