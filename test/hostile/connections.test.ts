// Who holds connections: the kernel's list against sockets that are really open, and the count of
// an address between two looks against a plain model.

import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import {
  type ConnectionFilter,
  countTcpLine,
  countTcpPeers,
  createConnectionFilter,
  type PeerCounts,
  peerKey,
} from '../../src/http/listen/connection-caps.ts'
import {
  newRequestCounters,
  counterSnapshot,
  counterTotals,
} from '../../src/observe/request-counters.ts'

const log = createLog({ level: 'silent', name: 'test', pretty: false })
const zeros = (count: number): number[] => Array.from({ length: count }, () => 0)
const loopback = peerKey(Uint8Array.of(127, 0, 0, 1))

describe('the peers of a port', () => {
  it('are the sockets that are open, of both families and of mapped addresses', async () => {
    const server = createServer()
    server.listen(0, '::')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const sockets: Socket[] = []
    const open = async (host: string, localAddress: string): Promise<void> => {
      const socket = connect({ port, host, localAddress })
      await once(socket, 'connect')
      sockets.push(socket)
    }
    try {
      for (let n = 0; n < 5; n++) await open('127.0.0.1', '127.0.0.1')
      for (let n = 0; n < 3; n++) await open('127.0.0.1', '127.0.0.9')
      for (let n = 0; n < 2; n++) await open('::1', '::1')
      const counts = await countTcpPeers(port)
      expect(counts.get(loopback)).toBe(5)
      expect(counts.get(peerKey(Uint8Array.of(127, 0, 0, 9)))).toBe(3)
      expect(counts.get(peerKey(Uint8Array.of(...zeros(15), 1)))).toBe(2)
      expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(10)
    } finally {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  })

  it('are told from lines, whatever else stands there', () => {
    const counts = new Map<string, number>()
    const line = (own: string, state: string): string =>
      `   7: 0100007F:${own} 0900007F:D431 ${state} 00000000:00000000 00:00000000 00000000 0 0 1`
    for (const state of ['01', '08', '06', '0A', '03'])
      countTcpLine(line('1F90', state), 8080, counts)
    countTcpLine(line('1F91', '01'), 8080, counts)
    countTcpLine('  sl  local_address rem_address   st tx_queue', 8080, counts)
    countTcpLine('', 8080, counts)
    expect([...counts.values()]).toEqual([2])
  })

  it('are one for an IPv4 address however written, and for an IPv6 /64', () => {
    const mapped = [...zeros(10), 255, 255, 127, 0, 0, 1]
    expect(peerKey(Uint8Array.from(mapped))).toBe(loopback)
    const six = (last: number): string =>
      peerKey(Uint8Array.of(0x2a, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, last))
    expect(six(1)).toBe(six(2))
    expect(six(1)).not.toBe(peerKey(Uint8Array.of(0x2a, ...zeros(15))))
  })
})

describe('the caps', () => {
  const made: ConnectionFilter[] = []
  afterEach(() => {
    for (const connections of made.splice(0)) connections.stop()
  })

  /** Opens connections of an address; how many of them stayed. */
  function openMany(
    { filter }: ConnectionFilter,
    count: number,
    address: readonly number[] = [127, 0, 0, 1],
  ): number {
    let stayed = 0
    for (let n = 0; n < count; n++) {
      let closed = false
      const res = {
        getRemoteAddress: () => Uint8Array.from(address).buffer,
        // As uWebSockets.js: the end of a connection is said within the call that ends it.
        close: () => {
          closed = true
          filter(res, -1)
          return res as never
        },
      }
      filter(res, 1)
      if (!closed) stayed++
    }
    return stayed
  }

  function make(
    caps: { readonly all: number; readonly perAddress: number },
    look: () => Promise<PeerCounts> = async () => new Map(),
  ) {
    const counters = newRequestCounters()
    const connections = createConnectionFilter({ ...caps, port: 1 }, counters, log, look)
    made.push(connections)
    return { connections, totals: () => counterTotals(counterSnapshot(counters)), counters }
  }

  it('let in as many as they say, and count the others', () => {
    const { connections, totals, counters } = make({ all: 10, perAddress: 0 })
    expect(openMany(connections, 25)).toBe(10)
    expect(counters.connections).toBe(10)
    expect(totals()).toMatchObject({ closedForAll: 15, closedForAddress: 0, opened: 10 })
    for (let n = 0; n < 4; n++) connections.filter({} as never, -1)
    expect(openMany(connections, 25)).toBe(4)
  })

  it('hold an address to its share and leave the others theirs', () => {
    const { connections, totals } = make({ all: 100, perAddress: 8 })
    expect(openMany(connections, 20, [9, 9, 9, 9])).toBe(8)
    expect(openMany(connections, 5)).toBe(5)
    expect(totals()).toMatchObject({ closedForAll: 0, closedForAddress: 12, opened: 13 })
  })

  it('believe the kernel about what has been closed, and about other processes', async () => {
    let held = 8
    const look = async (): Promise<PeerCounts> => new Map([[loopback, held]])
    const { connections } = make({ all: 100, perAddress: 8 }, look)
    expect(openMany(connections, 20)).toBe(8)
    held = 3
    await expect.poll(() => openMany(connections, 1), { timeout: 5000 }).toBe(1)
  })

  it('refuse nobody by address where addresses cannot be counted', async () => {
    const { connections } = make({ all: 100, perAddress: 8 }, () => Promise.reject(new Error('no')))
    await new Promise((resolve) => setImmediate(resolve))
    expect(openMany(connections, 20)).toBe(20)
  })
})
