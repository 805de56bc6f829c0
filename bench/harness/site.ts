// A static file server on loopback: what a mirror of feeds is, for the benchmark of a build.

import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, sep } from 'node:path'

export interface FolderServer {
  readonly url: string
  readonly close: () => void
}

export async function serveFolder(folder: string): Promise<FolderServer> {
  const server = createServer((request, response) => {
    const path = join(folder, decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname))
    const inside = path.startsWith(folder + sep) && existsSync(path) && statSync(path).isFile()
    if (!inside) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { 'content-length': statSync(path).size })
    createReadStream(path).pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}
