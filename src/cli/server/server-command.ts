// `iprisk reload`, `iprisk rollback` and `iprisk restart`: ask the server and wait for its result.

import { environmentError } from '../../base/coded-error.ts'
import type { Settings } from '../../config/settings.ts'
import {
  type ControlRequest,
  sendControlRequest,
  controlSocketPath,
} from '../../supervisor/sockets/control-socket.ts'
import { type Io, exitCodes } from '../terminal/io.ts'

export const reloadCommand = (settings: Settings, io: Io): Promise<number> =>
  askServer(settings.invocation.force ? 'reload --force' : 'reload', settings, io)

export const rollbackCommand = (settings: Settings, io: Io): Promise<number> =>
  askServer('rollback', settings, io)

export const restartCommand = (settings: Settings, io: Io): Promise<number> =>
  askServer('restart', settings, io)

async function askServer(
  request: ControlRequest,
  { state, serve: { port } }: Settings,
  io: Io,
): Promise<number> {
  const reply = await sendControlRequest(controlSocketPath(state, port), request)
  if (reply === undefined) {
    const message = `No server runs on port ${port} with the state folder ${state}; name another with --port and --state.`
    throw environmentError('no_server', message)
  }
  if (reply.ok) io.out(reply.text)
  else io.err(`iprisk: ${reply.text}`)
  return reply.ok ? exitCodes.done : exitCodes.failed
}
