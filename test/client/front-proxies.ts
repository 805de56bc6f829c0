// nginx and HAProxy in front of an application, as their own manuals have them hand on the address.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { freePort } from '../../bench/harness/free-port.ts'
import type { ProxyName } from '../hostile/proxies.ts'

export interface FrontProxy {
  readonly port: number
  readonly stop: () => unknown
}

/** A whole configuration of nginx around what stands in `http`; it writes below `folder` alone. */
export const nginxAround = (folder: string, http: string): string => `daemon off; pid ${folder}/pid;
    error_log stderr crit;
    events {}
    http { access_log off; ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
      .join(' ')}
      ${http} }`

const configurations: Readonly<
  Record<ProxyName, (from: number, to: number, folder: string) => string>
> = {
  nginx: (from, to, folder) =>
    nginxAround(
      folder,
      `server { listen 127.0.0.1:${from}; location / {
        proxy_pass http://127.0.0.1:${to};
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header Forwarded "$http_forwarded, for=$remote_addr"; } }`,
    ),
  haproxy: (from, to) => `defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
frontend in
  bind 127.0.0.1:${from}
  option forwardfor
  http-request add-header Forwarded for=%[src]
  default_backend out
backend out
  server one 127.0.0.1:${to}
`,
}

/** Waits until it listens. */
export async function startFrontProxy(
  name: ProxyName,
  to: { readonly port: number; readonly folder: string },
): Promise<FrontProxy> {
  const port = await freePort()
  const text = configurations[name](port, to.port, to.folder)
  return startConfigured(name, { port, text, folder: to.folder })
}

const commands: Readonly<
  Record<
    ProxyName | 'caddy',
    (path: string, folder: string) => { readonly test: string[]; readonly run: string[] }
  >
> = {
  nginx: (path, folder) => {
    const run = ['-p', folder, '-c', path]
    return { run, test: [...run, '-t'] }
  },
  haproxy: (path) => ({ run: ['-db', '-f', path], test: ['-c', '-f', path] }),
  caddy: (path) => {
    const by = ['--config', path, '--adapter', 'caddyfile']
    return { run: ['run', ...by], test: ['validate', ...by] }
  },
}

/** The proxy with a whole configuration, by which it listens on the port. */
export async function startConfigured(
  name: ProxyName | 'caddy',
  by: { readonly port: number; readonly text: string; readonly folder: string },
): Promise<FrontProxy> {
  const { port, text, folder } = by
  const path = join(folder, `${name}.conf`)
  writeFileSync(path, text)
  const { test, run } = commands[name](path, folder)
  // Caddy keeps its state below HOME.
  const env = { ...process.env, HOME: folder }
  execFileSync(name, test, { stdio: 'pipe', env })
  const child = spawn(name, run, { stdio: 'ignore', env })
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)
    const socket = connect(port, '127.0.0.1')
    const listens = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return listens
  })
  return { port, stop: () => child.kill('SIGTERM') }
}
