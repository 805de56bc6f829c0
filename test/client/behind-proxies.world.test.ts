// Real proxies on both sides of an application: nginx and HAProxy in front of it, whose word on the
// address is read right whatever a client writes; and those that deploy/ ships between it and the
// server, through which checks come as without them.

import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type AddressOptions, clientAddress } from '../../src/client/address/client-address.ts'
import { createClient } from '../../src/client/node-client.ts'
import { type ProxyName, isWanted, proxyNames, startProxy } from '../hostile/proxies.ts'
import { keyedState, serversOfTests } from '../serve/server.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { startFrontProxy } from './front-proxies.ts'

const start = serversOfTests()
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})
const newFolder = (): string => mkdtempSync(join(tmpdir(), 'iprisk-proxies-'))
const wanted = proxyNames.filter(isWanted)

/** The proxy before an application that says whose address it sees. */
async function seenThrough(name: ProxyName, options: AddressOptions) {
  const app = createServer((request, response) => response.end(clientAddress(request, options)))
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))
  ends.push(() => app.close())
  const { port } = app.address() as AddressInfo
  const proxy = await startFrontProxy(name, { port, folder: newFolder() })
  ends.push(proxy.stop)
  const ask = async (headers: Readonly<Record<string, string>>): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${proxy.port}/`, { headers })
    return response.text()
  }
  return ask
}

const forged = {
  'x-forwarded-for': '198.51.100.9',
  forwarded: 'for=198.51.100.9',
  'cf-connecting-ip': '198.51.100.9',
}

describe.each(wanted)('%s in front of an application', (name) => {
  it.each<[AddressOptions]>([[{ trust: 1 }], [{ trust: 1, header: 'forwarded' }]])(
    'says whose address it is, %j, whatever a client writes',
    async (options) => {
      const ask = await seenThrough(name, options)
      expect(await ask({})).toBe('127.0.0.1')
      expect(await ask(forged)).toBe('127.0.0.1')
    },
  )

  it('is believed about the next proxy', async () => {
    const ask = await seenThrough(name, { trust: 2 })
    expect(await ask(forged)).toBe('198.51.100.9')
  })
})

describe.each(wanted)('%s between the client and the server', (name) => {
  it('changes no result', async () => {
    const { state, key } = await keyedState()
    const server = await start({ table: writeSmallTable(), state })
    const proxy = await startProxy(name, { ...server, folder: newFolder() })
    ends.push(proxy.stop)
    const options = { key, timeoutMs: 10_000, onMisconfigured: () => undefined }
    const client = createClient({ ...options, url: `http://127.0.0.1:${proxy.port}` })
    expect(await client.check('9.1.2.3')).toMatchObject({ answer: { classification: 'tor' } })
    expect(await client.check('9.1.2.4', { insights: true })).toMatchObject({ ok: true })
    const results = await client.checkBatch(['9.1.2.3', 'x'])
    expect(results.map(({ ok }) => ok)).toEqual([true, false])
    client.close()
    const wrong = createClient({ ...options, key: 'irk_no', url: `http://127.0.0.1:${proxy.port}` })
    expect(await wrong.check('9.1.2.3')).toMatchObject({ reason: 'misconfigured' })
    wrong.close()
  })
})
