// `iprisk doctor --front` where something else answers without end.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { checkFront } from '../../../src/cli/doctor/check-server.ts'

const piece = Buffer.alloc(1 << 20, 'x')
let sent = 0
const server = createServer((_request, response) => {
  const send = (): void => {
    if (response.destroyed) return
    sent += 1
    response.write(piece, send)
  }
  send()
})

afterAll(() => new Promise((resolve) => server.close(resolve)))

it('reads no more of it than of the API’s description', async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const found = await checkFront(`http://127.0.0.1:${port}`)
  expect(found.map(({ code }) => code)).toEqual(['front_elsewhere'])
  expect(sent).toBeLessThan(32)
})
