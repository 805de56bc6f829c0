// Work in a process of its own: the parent asks, the child answers, in plain data over
// node:child_process's channel.
//
//   parent                           child
//   startChild(…).ask(question) ───▶ answerParent(act): act(question)
//                               ◀─── the answer, or code and message of what was thrown
//
// One question at a time; asking never rejects. A child ends when its channel closes, and ignores
// signals that a terminal or `systemctl kill` sends to every process.

import { type ChildProcess, fork } from 'node:child_process'
import { type Fault, IpriskError, messageOf } from '../coded-error.ts'
import { createQueue } from '../concurrency.ts'
import { ignoreDebuggerSignal } from './debugger-signal.ts'
import { lowerPriority } from './process.ts'

/** `fault` is `undefined` unless it was an IpriskError. */
export interface ChildError {
  readonly code: string | undefined
  readonly message: string
  readonly fault: Fault | undefined
}

type Reply<Answer> = { readonly answer: Answer } | { readonly thrown: ChildError }

export type ChildOutcome<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly error: ChildError }
  /** It ended first, or could not be started. */
  | { readonly kind: 'ended'; readonly end: ProcessEnd }
  /** Timed out or aborted. */
  | { readonly kind: 'late' | 'stopped' }

export interface ProcessEnd {
  readonly by: number | NodeJS.Signals | null
  /** The end of its standard error, if that is a pipe. */
  readonly words: string
  readonly error: Error | undefined
}

const wordsCharsMax = 8000

/** Resolves once its pipes are closed too. */
export function endOf(
  child: ChildProcess,
  onWords: (words: string) => void = () => undefined,
): Promise<ProcessEnd> {
  let words = ''
  // Without free descriptors there are no pipes.
  const { stderr }: { readonly stderr?: ChildProcess['stderr'] | undefined } = child
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = `${words}${text}`.slice(-wordsCharsMax)
    onWords(words)
  })
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ by: null, words, error }))
    // Not 'close', which is missing if this side closed the channel.
    child.once('exit', (code, signal) => {
      const end = (): void => resolve({ by: signal ?? code, words, error: undefined })
      if (stderr?.closed === false) stderr.once('close', end)
      else end()
    })
  })
}

interface ChildOptions {
  readonly program: string | URL
  readonly arguments?: readonly string[]
  readonly nodeFlags?: readonly string[]
  readonly environment?: NodeJS.ProcessEnv
  /** Keep its standard error instead of passing it on. */
  readonly keepsWords?: boolean
  readonly hasLowPriority?: boolean
}

interface AskBounds {
  readonly msMax: number
  readonly signal: AbortSignal
}

export interface Child<Question, Answer> {
  readonly pid: number | undefined
  readonly ask: (question: Question, how: AskBounds) => Promise<ChildOutcome<Answer>>
  readonly release: () => void
  readonly kill: () => void
  readonly ended: Promise<ProcessEnd>
}

/** `program` is a compiled file that calls `answerParent`. */
export function startChild<Question, Answer>(options: ChildOptions): Child<Question, Answer> {
  const { program, environment = process.env, nodeFlags = [], keepsWords = false } = options
  const output = keepsWords ? 'pipe' : 'inherit'
  const child = fork(program, options.arguments, {
    execArgv: [...nodeFlags],
    env: environment,
    serialization: 'advanced',
    // Not `ignore`, which opens /dev/null: a sandbox may forbid that.
    stdio: ['pipe', output, output, 'ipc'],
  })
  child.stdin?.on('error', () => undefined).end()
  child.stdout?.resume()
  if (options.hasLowPriority === true) lowerPriority(child.pid)
  let end: ProcessEnd | undefined
  let onEnd: (() => void) | undefined
  const ended = endOf(child).then((known) => {
    end = known
    onEnd?.()
    return known
  })
  const kill = (): void => void child.kill('SIGKILL')
  return {
    pid: child.pid,
    ask: (question, { msMax, signal }) =>
      new Promise((resolve) => {
        const settle = (outcome: ChildOutcome<Answer>): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', stop)
          child.off('message', onReply)
          onEnd = undefined
          resolve(outcome)
        }
        const giveUp = (kind: 'late' | 'stopped'): void => {
          settle({ kind })
          kill()
        }
        const stop = (): void => giveUp('stopped')
        const onReply = (reply: Reply<Answer>): void =>
          settle(
            'thrown' in reply
              ? { kind: 'failed', error: reply.thrown }
              : { kind: 'answered', answer: reply.answer },
          )
        onEnd = () => end && settle({ kind: 'ended', end })
        const timer = setTimeout(() => giveUp('late'), msMax)
        signal.addEventListener('abort', stop)
        child.once('message', onReply)
        onEnd()
        if (signal.aborted) stop()
        // A child that ended or did not start has no channel.
        else if (child.connected) {
          try {
            child.send(question as object, (error) => void (error && kill()))
          } catch (error) {
            const message = messageOf(error)
            settle({ kind: 'failed', error: { code: undefined, message, fault: undefined } })
          }
        }
      }),
    release: () => {
      if (child.connected) child.disconnect()
    },
    kill,
    ended,
  }
}

export async function askOnce<Question, Answer>(
  child: Child<Question, Answer>,
  question: Question,
  how: AskBounds,
): Promise<ChildOutcome<Answer>> {
  const outcome = await child.ask(question, how)
  child.release()
  await child.ended
  return outcome
}

interface ChildTask<Question, Answer> {
  readonly ask: (question: Question) => Promise<ChildOutcome<Answer>>
  readonly stop: () => void
  readonly close: () => void
}

/**
 * Starts the child with a question, ends it after `idleMs` without one. `onEnd`: it ended by
 * itself.
 */
export function createChildTask<Question, Answer>(
  options: ChildOptions & {
    readonly msMax: number
    readonly idleMs: number
    readonly onEnd?: (end: ProcessEnd) => void
  },
): ChildTask<Question, Answer> {
  const { msMax, idleMs, onEnd } = options
  const closing = new AbortController()
  const { signal } = closing
  let child: Child<Question, Answer> | undefined
  let idle: NodeJS.Timeout | undefined
  const enqueue = createQueue()
  const stop = (): void => {
    clearTimeout(idle)
    child?.kill()
    child = undefined
  }
  const start = (): Child<Question, Answer> => {
    const started = startChild<Question, Answer>(options)
    void watchEnd(started)
    return started
  }
  const watchEnd = async (started: Child<Question, Answer>): Promise<void> => {
    const end = await started.ended
    if (child !== started) return
    child = undefined
    onEnd?.(end)
  }
  const run = async (question: Question): Promise<ChildOutcome<Answer>> => {
    if (signal.aborted) return { kind: 'stopped' }
    clearTimeout(idle)
    child ??= start()
    const outcome = await child.ask(question, { msMax, signal })
    if (outcome.kind === 'late') stop()
    else idle = setTimeout(stop, idleMs).unref()
    return outcome
  }
  return {
    ask: (question) => enqueue(() => run(question)),
    stop,
    close: () => {
      closing.abort()
      stop()
    },
  }
}

function sendReply(reply: Reply<unknown>): void {
  try {
    process.send?.(reply)
  } catch (error) {
    const thrown = { code: undefined, message: messageOf(error), fault: undefined }
    process.send?.({ thrown } satisfies Reply<unknown>)
  }
}

export function answerParent(act: (question: never) => unknown): void {
  ignoreDebuggerSignal()
  const replyTo = async (question: unknown): Promise<Reply<unknown>> => {
    try {
      return { answer: await act(question as never) }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const fault = error instanceof IpriskError ? error.fault : undefined
      return { thrown: { code, message: messageOf(error), fault } }
    }
  }
  process.on('message', (question) => {
    void replyTo(question).then(sendReply)
  })
  // The parent may have ended already.
  if (!process.connected) process.exit(0)
  process.on('disconnect', () => process.exit(0))
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGUSR2']) process.on(signal, () => undefined)
}
