// nginx, Caddy and HAProxy in front of a login, as deploy/gate/ configures them. Only ports are
// changed, and time-outs where the gate is to answer: the machine of the tests may be busy.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../../src/base/package-root.ts'
import { freePort } from '../../../bench/harness/free-port.ts'
import { type FrontProxy, nginxAround, startConfigured } from '../../client/front-proxies.ts'
import { newState } from '../../serve/server.ts'

export const gateProxies = ['nginx', 'caddy', 'haproxy'] as const
export type GateProxy = (typeof gateProxies)[number]

interface Behind {
  readonly gatePort: number
  readonly applicationPort: number
  /** Nothing but ports changed: for what does not depend on an answer in time. */
  readonly isShipped?: boolean
}

const shipped = (name: string): string =>
  readFileSync(join(packageRoot, 'deploy/gate', name), 'utf8')

/** `text` with each pair's left side, which it must hold, replaced everywhere. */
export function changed(text: string, pairs: readonly (readonly [string, string])[]): string {
  return pairs.reduce((now, [from, to]) => {
    if (!now.includes(from)) throw new Error(`Not in the configuration: ${from}`)
    return now.replaceAll(from, to)
  }, text)
}

/** What stands in for the address of the visitor's connection, in what is not `isShipped`. */
export const addressHeader = 'X-Test-Address'

/** The first block of that language in docs/gate.md. */
export function blockOf(language: string): string {
  const text = readFileSync(join(packageRoot, 'docs/gate.md'), 'utf8')
  const block = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'm').exec(text)?.[1]
  if (block === undefined) throw new Error(`docs/gate.md has no block of ${language}.`)
  return block
}

/** Listens on 127.0.0.1 and ::1. `text`: another configuration than the one in deploy/gate/. */
export async function startGateProxy(
  name: GateProxy,
  behind: Behind,
  text?: string,
): Promise<FrontProxy> {
  const folder = newState()
  const port = await freePort()
  return startConfigured(name, {
    port,
    folder,
    text: await configurations[name]({ ...behind, port, folder, text }),
  })
}

interface Wanted extends Behind {
  readonly port: number
  readonly folder: string
  readonly text: string | undefined
}

const patient = ['timeout 200ms', 'timeout 20s'] as const

const configurations: Readonly<Record<GateProxy, (wanted: Wanted) => Promise<string> | string>> = {
  nginx: ({ gatePort, applicationPort, isShipped = false, port, folder, text }) => {
    const server = changed(text ?? shipped('nginx.conf'), [
      ['127.0.0.1:9191', `127.0.0.1:${gatePort}`],
      ['127.0.0.1:3000', `127.0.0.1:${applicationPort}`],
      ['listen 8000;', `listen 127.0.0.1:${port}; listen [::1]:${port};`],
      ...(isShipped ? [] : [patient]),
    ])
    const from = `set_real_ip_from 127.0.0.1; real_ip_header ${addressHeader};`
    return nginxAround(folder, isShipped ? server : `${from}\n${server}`)
  },
  caddy: async ({ gatePort, applicationPort, isShipped = false, port, text }) => {
    const between = [[':9192', `:${await freePort()}`]] as const
    const now = changed(text ?? shipped('Caddyfile'), [
      ['127.0.0.1:9191', `127.0.0.1:${gatePort}`],
      ...(text === undefined ? between : []),
      ['127.0.0.1:3000', `127.0.0.1:${applicationPort}`],
      [':8000 {', `:${port} {\n\tbind 127.0.0.1 [::1]`],
      ...(isShipped || text !== undefined ? [] : [patient]),
      ...(isShipped ? [] : ([['{remote_host}', `{header.${addressHeader}}`]] as const)),
    ])
    return `{\n\tadmin off\n\tauto_https off\n}\n${now}`
  },
  haproxy: ({ gatePort, applicationPort, isShipped = false, port, folder, text }) => {
    const lua = join(folder, 'iprisk-gate.lua')
    const seconds = isShipped ? 0.2 : 20
    const script = changed(shipped('iprisk-gate.lua'), [
      ["'127.0.0.1', 9191, 0.2", `'127.0.0.1', ${gatePort}, ${seconds}`],
    ])
    writeFileSync(lua, script)
    const from = isShipped ? '' : `\n    http-request set-src hdr(${addressHeader})`
    return changed(text ?? shipped('haproxy.cfg'), [
      ['-per-thread iprisk-gate.lua', `-per-thread ${lua}`],
      ['127.0.0.1:3000', `127.0.0.1:${applicationPort}`],
      ['bind :8000', `bind 127.0.0.1:${port}\n    bind [::1]:${port}${from}`],
    ])
  },
}
