// The process in which the console computes (console-process-main.ts): look-ups, tables of many
// addresses, comparisons of tables, rehearsals. Started at the first question, ended five minutes
// after the last one, so that neither the primary's loop nor its memory pays for a console that
// nobody looks at. Answers come as JSON bytes, which the primary hands on as they are.
//
// There are two of it, so that a rehearsal of many seconds holds up no look-up.
//
// Invariants: each has one question at a time, the others wait here, a bound of them; one that takes
// longer than `consoleAskMsMax` fails and ends the process, whose successor takes what waits; the
// processes end with the primary.

import { isErrorCode } from '../../base/error-codes.ts'
import { IpriskError } from '../../base/coded-error.ts'
import type { Log } from '../../base/log.ts'
import { type ChildError, createChildTask, type ProcessEnd } from '../../base/system/child-task.ts'
import type { ConsoleAnswer, ConsoleQuestion } from './console-messages.ts'

/** One answer of the console's process; one that takes longer is ended. */
const consoleAskMsMax = 30_000

/** The process ends when nobody has asked for so long. */
const consoleProcessIdleMs = 300_000

/** Questions that wait for one of them; more get 503. */
export const consoleAsksMax = 64

export interface ConsoleProcess {
  /** Throws what the process has thrown, and `console_unavailable`. */
  readonly ask: (question: ConsoleQuestion) => Promise<ConsoleAnswer>
  readonly close: () => void
}

interface ConsoleProcessOptions {
  /** Milliseconds that one answer may take. */
  readonly askMsMax?: number
  /** Milliseconds after the last question until the process ends. */
  readonly idleMs?: number
  /** The program of the process. */
  readonly program?: string | URL
}

export function createConsoleProcess(
  log: Log,
  options: ConsoleProcessOptions = {},
): ConsoleProcess {
  const quick = createProcess(log, options)
  const long = createProcess(log, options)
  return {
    ask: (question) => (longKinds.has(question.kind) ? long : quick).ask(question),
    close: () => {
      quick.close()
      long.close()
    },
  }
}

const longKinds: ReadonlySet<ConsoleQuestion['kind']> = new Set(['changes', 'rehearsal'])

function createProcess(
  log: Log,
  {
    askMsMax = consoleAskMsMax,
    idleMs = consoleProcessIdleMs,
    program = new URL('./console-process-main.js', import.meta.url),
  }: ConsoleProcessOptions,
): ConsoleProcess {
  /** Questions that have no answer yet, the running one among them. */
  let open = 0
  const task = createChildTask<ConsoleQuestion, ConsoleAnswer>({
    program,
    msMax: askMsMax,
    idleMs,
    onEnd: (end) => log.warn({}, `The console's process: ${whyEnded(end)}.`),
  })
  const ask = async (question: ConsoleQuestion): Promise<ConsoleAnswer> => {
    const outcome = await task.ask(question)
    switch (outcome.kind) {
      case 'answered':
        return outcome.answer
      case 'failed':
        throw thrownByProcess(outcome.error)
      case 'ended':
        throw unavailable(whyEnded(outcome.end))
      case 'late':
        log.warn({ kind: question.kind }, "The console's process took too long; it is ended.")
        throw unavailable(`it took longer than ${askMsMax / 1000} seconds`)
      case 'stopped':
        throw unavailable('the server is ending')
      default:
        return outcome satisfies never
    }
  }
  return {
    ask: async (question) => {
      if (open > consoleAsksMax) throw unavailable(`${open - 1} questions wait for it already`)
      open += 1
      return ask(question).finally(() => (open -= 1))
    },
    close: task.close,
  }
}

const whyEnded = ({ error }: ProcessEnd): string => error?.message ?? 'its process has ended'

function thrownByProcess({ code, message, fault }: ChildError): IpriskError {
  if (fault !== undefined && isErrorCode(code)) {
    return new IpriskError({ code, message: message.replaceAll('\n', ' '), fault })
  }
  const failure = `The console's process failed: ${message}`
  return new IpriskError({ code: 'console_failed', message: failure, fault: 'bug' })
}

function unavailable(why: string): IpriskError {
  return new IpriskError({
    code: 'console_unavailable',
    message: `The console cannot compute this now: ${why}. Try again.`,
    fault: 'environment',
    retryable: true,
  })
}
