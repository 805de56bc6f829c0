// Where a connection may lead. A base that is not private is had through a local HTTP proxy: the
// test's public name never resolves, and what the proxy does not serve is connected to directly.
// What a publisher's DNS may say is said by a resolver in the place of the system's.

import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openNetworkHealth } from '../../../build/fetch/network-health.ts'
import { httpGet } from '../../../build/fetch/http-get.ts'
import { openConnectionPools } from '../../../build/fetch/connection-pools.ts'
import type { Site } from './site.ts'
import { newFolder, openSite, quickLimits, text } from './site.ts'

afterEach(() => {
  delete process.env['http_proxy']
  delete process.env['no_proxy']
})

/** Fetches a page of `feeds.example` through a proxy that answers with a redirect to `location`. */
async function redirected(
  location: string,
  direct = 'localhost,127.0.0.1',
): Promise<{
  readonly code: string
  readonly proxy: Site
}> {
  const proxy = await openSite({
    'http://feeds.example/list': (_request, response) => {
      response.writeHead(302, { location }).end()
    },
    'http://other.example/list': text('192.0.2.1\n'),
  })
  process.env['http_proxy'] = proxy.url
  process.env['no_proxy'] = direct
  const network = openConnectionPools({
    limits: quickLimits,
    health: openNetworkHealth({ hosts: 1, deadHosts: 1 }),
  })
  const answer = await httpGet(network, {
    url: new URL('http://feeds.example/list'),
    to: join(newFolder(), 'file.tmp'),
    format: 'list',
    bytes: { min: 1, max: 1000 },
  })
  await network.close()
  return { code: answer.kind === 'failed' ? answer.error.code : answer.kind, proxy }
}

describe('a name', () => {
  const answers: Readonly<Record<string, readonly string[]>> = {
    'mixed.example': ['127.0.0.1', '8.8.8.8'],
    'inside.example': ['127.0.0.1'],
    'mirror.example': ['127.0.0.1'],
  }
  const getFrom = async (url: string, mirrorHost?: string): Promise<string> => {
    const network = openConnectionPools({
      limits: quickLimits,
      health: openNetworkHealth({ hosts: 1, deadHosts: 1 }),
      mirrorHost,
      resolve: (host, _options, callback) => {
        const found = answers[host] ?? []
        callback(
          null,
          found.map((address) => ({ address, family: 4 })),
        )
      },
    })
    const answer = await httpGet(network, {
      url: new URL(url),
      to: join(newFolder(), 'file.tmp'),
      format: 'list',
      bytes: { min: 1, max: 1000 },
    })
    await network.close()
    return answer.kind === 'failed' ? answer.error.code : answer.kind
  }

  it.each(['mixed.example', 'inside.example'])(
    'of a publisher that resolves to a private address is refused: %s',
    async (name) => {
      const inside = await openSite({ '/': text('192.0.2.1\n') })
      expect(await getFrom(`http://${name}:${inside.port}/`)).toBe('fetch_refused_address')
      expect(inside.requests).toHaveLength(0)
    },
  )

  it('of a mirror may, and lead to itself, but to no other inside', async () => {
    const inside = await openSite({ '/': text('192.0.2.1\n') })
    const leading = (to: string) => (_request: unknown, response: ServerResponse) => {
      response.writeHead(302, { location: `http://${to}:${inside.port}/` }).end()
    }
    inside.handlers.set('/old', leading('mirror.example'))
    inside.handlers.set('/away', leading('inside.example'))
    const mirror = `http://mirror.example:${inside.port}`
    expect(await getFrom(`${mirror}/old`, 'mirror.example')).toBe('fresh')
    expect(await getFrom(`${mirror}/away`, 'mirror.example')).toBe('fetch_refused_address')
    expect(inside.requests.map(({ url }) => url)).toEqual(['/old', '/', '/away'])
    expect(await getFrom(`${mirror}/old`)).toBe('fetch_refused_address')
    expect(inside.requests).toHaveLength(3)
  })
})

describe('a redirect from a public host', () => {
  it('through the proxy of the environment, to another public host, is followed', async () => {
    const { code, proxy } = await redirected('http://other.example/list')
    expect(code).toBe('fresh')
    expect(proxy.requests).toHaveLength(2)
  })

  it.each([
    'http://127.0.0.1:PORT/',
    'http://0x7f000001:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/',
    // A name: it is refused where it is resolved for the connection.
    'http://localhost:PORT/',
  ])('to %s is refused before anything is connected', async (location) => {
    const inside = await openSite({ '/': text('192.0.2.1\n') })
    const { code } = await redirected(location.replace('PORT', String(inside.port)))
    expect(code).toBe('fetch_refused_address')
    expect(inside.requests).toHaveLength(0)
  })

  it('cannot ride on a connection that was opened to a configured address', async () => {
    const inside = await openSite({ '/': text('192.0.2.1\n') })
    const to = `http://localhost:${inside.port}/`
    const proxy = await openSite({
      'http://feeds.example/list': (_request, response) => {
        response.writeHead(302, { location: to }).end()
      },
    })
    process.env['http_proxy'] = proxy.url
    process.env['no_proxy'] = 'localhost'
    const network = openConnectionPools({
      limits: quickLimits,
      health: openNetworkHealth({ hosts: 2, deadHosts: 2 }),
      mirrorHost: 'localhost',
    })
    const folder = newFolder()
    const common = { format: 'list', bytes: { min: 1, max: 1000 } }
    const first = await httpGet(network, { ...common, url: new URL(to), to: join(folder, 'a') })
    expect(first.kind).toBe('fresh')
    const url = new URL('http://feeds.example/list')
    const second = await httpGet(network, { ...common, url, to: join(folder, 'b') })
    expect(second).toMatchObject({ kind: 'failed', error: { code: 'fetch_refused_address' } })
    expect(inside.requests).toHaveLength(1)
    await network.close()
  })
})
