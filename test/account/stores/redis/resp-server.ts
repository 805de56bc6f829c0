// A server that speaks the protocol of Redis, RESP 2, in this process, and answers as a test says:
// what a real one rarely does at the right instant. It knows whole commands alone, as clients send
// them.

import { type AddressInfo, type Socket, createServer } from 'node:net'

/** A reply as it goes over the wire; `undefined`: `+OK`. */
export type Answer = (command: readonly string[]) => string | undefined

export const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`

/** A server with all that a client asks for when it connects. */
const greeting = (name: string): string | undefined =>
  name === 'INFO' ? bulk('loading:0\r\nconnected_slaves:0\r\n') : undefined

export interface RespServer {
  readonly url: string
  /** All but what a client asks for by itself when it connects. */
  readonly commands: (readonly string[])[]
  connections: number
  readonly end: () => Promise<void>
}

export async function startRespServer(answer: Answer = () => undefined): Promise<RespServer> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    started.connections += 1
    let text = ''
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      for (;;) {
        const [command, rest] = cutCommand(text)
        if (command === undefined) return
        text = rest
        const [name = ''] = command
        const greeted = greeting(name.toUpperCase())
        if (greeted === undefined) started.commands.push(command)
        socket.write(greeted ?? answer(command) ?? '+OK\r\n')
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const started: RespServer = {
    url: `redis://127.0.0.1:${port}`,
    commands: [],
    connections: 0,
    end: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return started
}

/** The first command, `*n` and n texts of a given length, and what follows it. */
function cutCommand(text: string): readonly [string[] | undefined, string] {
  let at = 0
  const number = (mark: string): number => {
    const end = text.indexOf('\r\n', at)
    if (end < 0 || text[at] !== mark) return -1
    const value = Number(text.slice(at + 1, end))
    at = end + 2
    return value
  }
  const count = number('*')
  if (count < 0) return [undefined, text]
  const command: string[] = []
  for (let i = 0; i < count; i += 1) {
    const length = number('$')
    if (length < 0 || at + length + 2 > text.length) return [undefined, text]
    command.push(text.slice(at, at + length))
    at += length + 2
  }
  return [command, text.slice(at)]
}
