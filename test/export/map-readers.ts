// nginx and HAProxy with an exported file in their configuration, asked for addresses one by one:
// what each finds there, `none` where it finds nothing.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { freePort } from '../../bench/harness/free-port.ts'
import { newFolder } from '../build/fetch/site.ts'
import { eventually } from '../eventually.ts'

export async function askNginx(
  file: string,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const folder = newFolder()
  const port = await freePort()
  const config = join(folder, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(' ')
  writeFileSync(
    config,
    `pid ${folder}/pid; error_log ${folder}/error.log; daemon off; worker_processes 1;
events {}
http {
  ${temporary} access_log off;
  geo $arg_ip $iprisk { default "none"; include ${file}; }
  server { listen 127.0.0.1:${port}; location / { return 200 $iprisk; } }
}`,
  )
  execFileSync('nginx', ['-p', folder, '-c', config, '-t'], { stdio: 'pipe' })
  return askAll(spawn('nginx', ['-p', folder, '-c', config], { stdio: 'ignore' }), port, addresses)
}

export async function askHaproxy(
  file: string,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const port = await freePort()
  const config = join(newFolder(), 'haproxy.cfg')
  writeFileSync(
    config,
    `defaults
  mode http
  timeout client 10s
frontend maps
  bind 127.0.0.1:${port}
  http-request return status 200 content-type text/plain lf-string %[url_param(ip),map_ip(${file},none)]
`,
  )
  execFileSync('haproxy', ['-c', '-f', config], { stdio: 'pipe' })
  return askAll(spawn('haproxy', ['-db', '-f', config], { stdio: 'ignore' }), port, addresses)
}

async function askAll(
  child: ChildProcess,
  port: number,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    await eventually(() => ask(agent, port, '192.0.2.1').catch(() => undefined), 60_000)
    const said = new Map<string, string>()
    for (const ip of addresses) said.set(ip, await ask(agent, port, ip))
    return said
  } finally {
    agent.destroy()
    const ended = once(child, 'exit')
    child.kill()
    await ended
  }
}

function ask(agent: Agent, port: number, ip: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ agent, host: '127.0.0.1', port, path: `/?ip=${ip}` }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.on('end', () => resolve(text))
    })
    asked.on('error', reject)
    asked.end()
  })
}
