// The cap of connections of one client address, end to end: a server of two workers, of which each
// knows by the kernel's list alone what the other one let in (src/http/listen/connection-caps.ts), and clients
// of two addresses of loopback. Not here: the cap of all connections
// (bench/faults/server/overload.ts).

import { type Socket, connect } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { makeKey, newState, serversOfTests } from '../serve/server.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { wordsOf } from './framing-cases.ts'
import { eventually } from '../eventually.ts'

const cap = 6
/** With two workers, so many in a row are not turned away by only one of them. */
const inARow = 20

const start = serversOfTests()
const sockets: Socket[] = []

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** A connection that was answered; `undefined` for one that was closed before a byte came. */
async function open(from: string, port: number, request: string): Promise<Socket | undefined> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  sockets.push(socket)
  const isAnswered = new Promise<boolean>((resolve) => {
    socket.on('error', () => undefined)
    socket.once('data', () => resolve(true))
    socket.once('close', () => resolve(false))
  })
  socket.write(request)
  return (await isAnswered) ? socket : undefined
}

it('closes at accept what one address opens above its cap, and serves the other one', async () => {
  const state = newState()
  const { honest } = wordsOf(await makeKey(state), 'x')
  const args = ['--connections-per-address', String(cap)]
  const server = await start({ table: writeSmallTable(), state, workers: 2, args })
  const closedBy = (label: string): Promise<number> =>
    server.metric('iprisk_connections_closed_total', `cap="${label}"`)
  let turnedAway = 0
  const tryOne = async (): Promise<Socket | undefined> => {
    const socket = await open('127.0.0.1', server.port, honest)
    if (socket === undefined) turnedAway += 1
    return socket
  }
  /** One that opens during a look is counted twice until the next one, and so may be turned away. */
  const fill = (): Promise<readonly Socket[]> => {
    const held: Socket[] = []
    return eventually(async () => {
      const socket = await tryOne()
      if (socket !== undefined) held.push(socket)
      return held.length === cap ? held : undefined
    })
  }

  const held = await fill()
  let closed = 0
  await eventually(async () => {
    // One that is idle for long would be closed, and make room.
    for (const socket of held) socket.write(honest)
    const more = await tryOne()
    more?.destroy()
    closed = more === undefined ? closed + 1 : 0
    return closed === inARow
  })
  expect(held.filter(({ readable }) => !readable)).toHaveLength(0)
  expect(await closedBy('address')).toBe(turnedAway)
  expect(await closedBy('all')).toBe(0)

  for (let n = 0; n < cap / 2; n += 1) {
    expect(await open('127.0.0.9', server.port, honest)).toBeDefined()
  }

  for (const socket of held) socket.destroy()
  expect(await fill()).toHaveLength(cap)
  expect(await closedBy('address')).toBe(turnedAway)
})
