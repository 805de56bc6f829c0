// One child process of the console (console-process-main.ts), started by the first question that it
// is sent, and by the next one after its end.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { messageOf } from '../../base/coded-error.ts'
import type { ConsoleAsk, ConsoleReply } from './console-messages.ts'

const ownProgram = fileURLToPath(new URL('./console-process-main.js', import.meta.url))

export interface ConsoleChild {
  /** Starts it where it does not run. */
  readonly send: (ask: ConsoleAsk) => void
  /** Without a word to `onEnd`. */
  readonly stop: () => void
}

export interface ConsoleChildOptions {
  readonly onReply: (reply: ConsoleReply) => void
  /** It ended by itself, could not be started or not be sent to. */
  readonly onEnd: (why: string) => void
  /** Default: the console's own. */
  readonly program?: string
}

export function createConsoleChild(options: ConsoleChildOptions): ConsoleChild {
  const { onReply, onEnd, program = ownProgram } = options
  let child: ChildProcess | undefined

  const stop = (): void => {
    const stopped = child
    child = undefined
    stopped?.kill('SIGKILL')
  }
  const start = (): ChildProcess => {
    const started = fork(program, [], {
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const end = (why: string): void => {
      if (child !== started) return
      stop()
      onEnd(why)
    }
    started.on('message', (reply: ConsoleReply) => {
      if (child === started) onReply(reply)
    })
    started.on('error', ({ message }) => end(message))
    started.once('exit', () => end('its process has ended'))
    return started
  }
  return {
    stop,
    send: (ask) => {
      try {
        child ??= start()
        const asked = child
        asked.send(ask, (error) => {
          if (error === null || child !== asked) return
          stop()
          onEnd(error.message)
        })
      } catch (error) {
        stop()
        onEnd(messageOf(error))
      }
    },
  }
}
