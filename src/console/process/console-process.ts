// The process in which the console computes (console-process-main.ts): look-ups, tables of many
// addresses, comparisons of tables, rehearsals. Started at the first question, ended five minutes
// after the last one, so that neither the primary's loop nor its memory pays for a console that
// nobody looks at. Answers come as JSON bytes, which the primary hands on as they are.
//
// Invariants: it has one question at a time, the others wait here, a bound of them; one that takes
// longer than `consoleAskMsMax` fails and ends the process, whose successor takes what waits; the
// process ends with the primary.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { IpriskError, messageOf } from '../../base/coded-error.ts'
import type { Log } from '../../base/log.ts'
import type { ConsoleAsk, ConsoleQuestion, ConsoleReply } from './console-messages.ts'

/** One answer of the console's process; one that takes longer is ended. */
const consoleAskMsMax = 30_000

/** The process ends when nobody has asked for so long. */
const consoleProcessIdleMs = 300_000

/** Questions that wait for it; more get 503. */
export const consoleAsksMax = 64

/** What the process has answered. */
interface ConsoleAnswer {
  readonly status: number
  /** JSON. */
  readonly body: Uint8Array
}

export interface ConsoleProcess {
  /** Throws what the process has thrown, and `console_unavailable`. */
  readonly ask: (question: ConsoleQuestion) => Promise<ConsoleAnswer>
  readonly close: () => void
}

interface Running {
  readonly id: number
  readonly resolve: (reply: ConsoleReply) => void
  readonly reject: (error: IpriskError) => void
}

interface ConsoleProcessOptions {
  /** Milliseconds that one answer may take; default: `consoleAskMsMax`. */
  readonly askMsMax?: number
  /** Milliseconds after the last question until the process ends; default: `consoleProcessIdleMs`. */
  readonly idleMs?: number
  /** The program of the process; default: the console's own. */
  readonly program?: string
}

export function createConsoleProcess(
  log: Log,
  {
    askMsMax = consoleAskMsMax,
    idleMs = consoleProcessIdleMs,
    program,
  }: ConsoleProcessOptions = {},
): ConsoleProcess {
  let idle: NodeJS.Timeout | undefined
  let lastId = 0
  let isClosed = false
  let running: Running | undefined
  /** Questions that have no answer yet, the running one among them. */
  let open = 0
  let turn: Promise<unknown> = Promise.resolve()

  const child = createConsoleChild({
    ...(program !== undefined && { program }),
    onReply: (reply) => {
      if (reply.id === running?.id) running.resolve(reply)
    },
    onEnd: (why) => {
      log.warn({}, `The console's process: ${why}.`)
      running?.reject(unavailable(why))
    },
  })
  const run = async (question: ConsoleQuestion): Promise<ConsoleAnswer> => {
    if (isClosed) throw unavailable('the server is ending')
    clearTimeout(idle)
    lastId += 1
    const id = lastId
    const late = setTimeout(() => {
      log.warn({ kind: question.kind }, "The console's process took too long; it is ended.")
      child.stop()
      running?.reject(unavailable(`it took longer than ${askMsMax / 1000} seconds`))
    }, askMsMax)
    try {
      const reply = await new Promise<ConsoleReply>((resolve, reject) => {
        running = { id, resolve, reject }
        child.send({ id, ...question })
      })
      if ('failed' in reply) throw new IpriskError(reply.failed)
      return reply
    } finally {
      clearTimeout(late)
      running = undefined
      idle = setTimeout(child.stop, idleMs).unref()
    }
  }
  return {
    ask: async (question) => {
      if (open > consoleAsksMax) throw unavailable(`${open - 1} questions wait for it already`)
      open += 1
      const answered = turn.then(() => run(question)).finally(() => (open -= 1))
      // Without the answer, which may be large.
      turn = answered.then(
        () => undefined,
        () => undefined,
      )
      return answered
    },
    close: () => {
      isClosed = true
      clearTimeout(idle)
      child.stop()
      running?.reject(unavailable('the server is ending'))
    },
  }
}

function unavailable(why: string): IpriskError {
  return new IpriskError({
    code: 'console_unavailable',
    message: `The console cannot compute this now: ${why}. Try again.`,
    fault: 'environment',
    retryable: true,
  })
}

/**
 * One child process of the console (console-process-main.ts), started by the first question that it
 * is sent, and by the next one after its end.
 */
const ownProgram = fileURLToPath(new URL('./console-process-main.js', import.meta.url))

interface ConsoleChild {
  /** Starts it where it does not run. */
  readonly send: (ask: ConsoleAsk) => void
  /** Without a word to `onEnd`. */
  readonly stop: () => void
}

interface ConsoleChildOptions {
  readonly onReply: (reply: ConsoleReply) => void
  /** It ended by itself, could not be started or not be sent to. */
  readonly onEnd: (why: string) => void
  /** Default: the console's own. */
  readonly program?: string
}

function createConsoleChild(options: ConsoleChildOptions): ConsoleChild {
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
