// What a web server's answers mean to a server that asks it for published tables.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openReleaseSource } from '../../../src/publish/fetch/release-source.ts'

const etag = '"7"'
const web = createServer((request, response) => {
  if (request.url !== '/tables/manifest.json') response.writeHead(404).end()
  else if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end()
  else response.writeHead(200, { etag }).end('content')
})
let url = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/tables`
})
afterAll(() => {
  web.closeAllConnections()
  web.close()
})

it('takes what is new, knows what is as it was, and reports the status of anything else', async () => {
  const { get } = openReleaseSource(url)
  const bytesMax = 100
  expect(await get('manifest.json', { bytesMax })).toEqual({ bytes: Buffer.from('content'), etag })
  expect(await get('manifest.json', { bytesMax, etag: '"6"' })).toMatchObject({ etag })
  expect(await get('manifest.json', { bytesMax, etag })).toEqual({ bytes: undefined, etag })
  await expect(get('parts/x', { bytesMax })).rejects.toMatchObject({
    code: 'pull_status',
    message: `${url}/parts/x: status 404`,
  })
})
