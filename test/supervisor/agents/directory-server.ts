// A directory of keys as agents serve it, over HTTPS on the loopback, and a preload that lets the
// process which fetches keys find it: names resolve to a public address (`private.…` to a private
// one), and what may connect there is connected here. The policy on addresses is the product's.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export const mediaType = 'application/http-message-signatures-directory+json'

export type Answer = (response: ServerResponse) => void

export const answerKeys =
  (...xs: readonly string[]): Answer =>
  (response) => {
    const keys = xs.map((x) => ({ kty: 'OKP', crv: 'Ed25519', x }))
    response.writeHead(200, { 'content-type': mediaType }).end(JSON.stringify({ keys }))
  }

/** `asked` counts requests; `environment` is for the processes that fetch. */
export async function startDirectory(host: string) {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-directory-'))
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const names = `subjectAltName=DNS:${host},DNS:private.example`
  const subject = ['-subj', `/CN=${host}`, '-addext', names, '-days', '2', '-nodes']
  const files = ['-keyout', keyFile, '-out', certFile]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, ...files], { stdio: 'pipe' })
  const directory = { asked: 0, answer: (() => undefined) as Answer }
  const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
  const web = createServer(tls, (_request, response) => {
    directory.asked += 1
    directory.answer(response)
  })
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  const { port } = web.address() as AddressInfo
  const preload = join(folder, 'preload.mjs')
  writeFileSync(
    preload,
    `import net from 'node:net'
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
if (process.argv[1]?.endsWith('fetch-keys-main.js')) {
  dns.lookup = (name, options, done) =>
    setTimeout(done, 10, null, [
      { address: name.startsWith('private') ? '10.0.0.7' : '192.0.9.1', family: 4 },
    ])
  syncBuiltinESMExports()
  const connect = net.Socket.prototype.connect
  net.Socket.prototype.connect = function (...args) {
    const options = Array.isArray(args[0]) ? args[0][0] : args[0]
    if (typeof options?.lookup !== 'function') return connect.apply(this, args)
    options.lookup(options.host, { all: true }, (error) => {
      if (error) this.destroy(error)
      else connect.call(this, { host: '127.0.0.1', port: ${port} }, args.at(-1))
    })
    return this
  }
}
`,
  )
  return {
    directory,
    environment: {
      NODE_OPTIONS: `--import ${pathToFileURL(preload).href}`,
      NODE_EXTRA_CA_CERTS: certFile,
    },
    close: () => {
      web.closeAllConnections()
      web.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
