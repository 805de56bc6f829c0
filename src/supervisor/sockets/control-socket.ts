// The socket by which commands (`iprisk reload`, `rollback`, `restart`, `keys`) and a server that
// takes over talk to a running server: a file in its state folder, named after its port, one JSON
// line each way. A server removes only its own file; a successor replaces it by a rename.

import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { type Socket, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { type Interface, createInterface } from 'node:readline'
import { environmentError, messageOf } from '../../base/coded-error.ts'
import { parseJson } from '../../base/json-object.ts'
import { keyAcknowledgeMs } from '../../base/limits.ts'
import type { ListFile } from '../../table/served-table.ts'
import { listenOnUnixSocket } from './unix-socket.ts'

/**
 * `keys`, `lists`: every worker reads them before the reply. `yield`: another server takes over,
 * and this one ends. `sample`: writes the sample; the text is JSON (`SampledPlaces`). `forget
 * ADDRESS`: the text is the number of checks.
 */
export type ControlRequest = PlainRequest | ForgetRequest
type PlainRequest = Exclude<keyof typeof replyMsMax, 'forget'>
type ForgetRequest = `forget ${string}`

export interface ControlReply {
  readonly ok: boolean
  readonly text: string
  /** No answer came. */
  readonly silent?: boolean
}

export interface SampledPlaces {
  readonly sample: string
  readonly table?: string | undefined
  readonly lists?: ListFile | undefined
}

export type ControlSocket = Awaited<ReturnType<typeof openControlSocket>>

/**
 * Restarting many workers takes minutes, compiling two million entries seconds, and for keys the
 * server itself waits `keyAcknowledgeMs`.
 */
const replyMsMax = {
  reload: 3_600_000,
  'reload --force': 3_600_000,
  rollback: 3_600_000,
  restart: 3_600_000,
  keys: 2 * keyAcknowledgeMs,
  lists: 60_000,
  sample: 60_000,
  yield: 30_000,
  forget: 60_000,
} as const
const requests = Object.keys(replyMsMax).filter((name) => name !== 'forget') as PlainRequest[]

export const controlSocketPath = (stateFolder: string, port: number): string =>
  join(stateFolder, `control-${port}.sock`)

/** Includes sockets of dead servers. */
export function controlSocketPaths(stateFolder: string): readonly string[] {
  if (!existsSync(stateFolder)) return []
  return readdirSync(stateFolder)
    .filter((name) => /^control-\d+\.sock$/.test(name))
    .map((name) => join(stateFolder, name))
}

/** One request per connection. Throws `control_unavailable`. */
export async function openControlSocket(
  path: string,
  act: (request: ControlRequest) => Promise<ControlReply>,
) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    void serve(socket, act)
  })
  // On close, Node removes the name it listened on, which must not be another server's.
  const own = `${path}.${process.pid}`
  rmSync(own, { force: true })
  try {
    await listenOnUnixSocket(server, own)
  } catch (cause) {
    server.close()
    throw environmentError(
      'control_unavailable',
      `Cannot listen on ${path} (${messageOf(cause)}): "iprisk reload", "rollback" and ` +
        '"restart" will not reach this server; its signals do. Changed keys are loaded within a second.',
      { cause },
    )
  }
  const { ino } = statSync(own)
  renameSync(own, path)
  return {
    close: async (): Promise<void> => {
      if (statSync(path, { throwIfNoEntry: false })?.ino === ino) rmSync(path, { force: true })
      const closed = new Promise((resolve) => server.close(resolve))
      // A suspended client would keep this process alive; replies are still written.
      for (const socket of sockets) socket.destroySoon()
      await closed
    },
  }
}

const requestBytesMax = 1024
const requestMsMax = 10_000

async function serve(
  socket: Socket,
  act: (request: ControlRequest) => Promise<ControlReply>,
): Promise<void> {
  socket.on('error', () => undefined)
  let bytes = 0
  socket.on('data', (piece) => {
    bytes += piece.length
    if (bytes > requestBytesMax) socket.destroy()
  })
  socket.setTimeout(requestMsMax, () => socket.destroy())
  for await (const line of linesOf(socket)) {
    // Answering may take longer.
    socket.setTimeout(0)
    const text = parseJson(line)
    const request = isForget(text) ? text : requests.find((known) => known === text)
    const reply =
      request === undefined
        ? { ok: false, text: `Unknown request; known: ${requests.join(', ')}.` }
        : await act(request).catch((error: unknown) => ({ ok: false, text: messageOf(error) }))
    // The client may be gone, or this server closing.
    if (socket.writable) socket.end(`${JSON.stringify(reply)}\n`)
    return
  }
}

export const isForget = (request: unknown): request is ForgetRequest =>
  typeof request === 'string' && /^forget [\da-f:.]+$/.test(request)

export const addressToForget = (request: ForgetRequest): string => request.split(' ')[1]!

function linesOf(socket: Socket): Interface {
  const lines = createInterface({ input: socket })
  socket.once('close', () => lines.close())
  return lines
}

/** `undefined` if nothing listens. */
export async function sendControlRequest(
  path: string,
  request: ControlRequest,
  msMax: number = replyMsMax[requests.find((plain) => plain === request) ?? 'forget'],
): Promise<ControlReply | undefined> {
  const socket = connect(path)
  let late = false
  socket.setTimeout(msMax, () => {
    late = true
    socket.destroy()
  })
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      socket.once('connect', resolve)
    })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return undefined
    const message = `${path} cannot be reached: ${messageOf(cause)}`
    throw environmentError('control_unavailable', message, { cause })
  }
  socket.on('error', () => undefined)
  socket.write(`${JSON.stringify(request)}\n`)
  for await (const line of linesOf(socket)) {
    socket.destroy()
    return JSON.parse(line) as ControlReply
  }
  const text = late ? 'The server does not answer.' : 'The server exited before it answered.'
  return { ok: false, text, silent: true }
}

/**
 * Makes the running servers of a state folder read changed keys or lists; the change is in effect
 * once this resolves. `warn` gets a sentence per server that does not confirm it. Never rejects.
 */
export async function notifyServers(
  { state }: { readonly state: string },
  changed: 'keys' | 'lists',
  warn: (text: string) => void,
): Promise<void> {
  await Promise.all(
    controlSocketPaths(state).map(async (path) => {
      const problem = await sendControlRequest(path, changed).then(
        (reply) => (reply === undefined || reply.ok ? undefined : reply.text),
        (error: unknown) => `${messageOf(error)}.`,
      )
      if (problem === undefined) return
      warn(
        `iprisk: the server of ${path} has not confirmed the change: ${problem} Its ` +
          'workers poll for changes and see this one within a second if they can.',
      )
    }),
  )
}
