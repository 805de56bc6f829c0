// Notifies the running servers of a state folder that keys or lists have changed, and waits until
// their workers know: the change is in effect when the command returns. The change itself stands,
// whatever a server says; servers of other machines see it in the store by themselves.

import { messageOf } from '../../base/coded-error.ts'
import type { Settings } from '../../config/settings.ts'
import { controlSocketPaths, sendControlRequest } from '../../supervisor/sockets/control-socket.ts'
import type { Io } from '../terminal/io.ts'

/** To be called when the change is kept and its key has been shown. Never throws. */
export async function notifyServers(
  { state }: Pick<Settings, 'state'>,
  { err }: Pick<Io, 'err'>,
  what: 'keys' | 'lists' = 'keys',
): Promise<void> {
  await Promise.all(
    controlSocketPaths(state).map(async (path) => {
      const problem = await notifyServer(path, what)
      if (problem === undefined) return
      err(
        `iprisk: the server of ${path} has not said that it knows the change: ${problem} Its ` +
          'workers look for changes by themselves, and see this one within a second where they can.',
      )
    }),
  )
}

/** What the server says against it; `undefined` where all is well, or none runs. */
async function notifyServer(path: string, what: 'keys' | 'lists'): Promise<string | undefined> {
  try {
    const reply = await sendControlRequest(path, what)
    return reply === undefined || reply.ok ? undefined : reply.text
  } catch (error) {
    return `${messageOf(error)}.`
  }
}
