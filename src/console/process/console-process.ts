// The console's processes (console-process-main.ts), so that its work costs the primary neither
// loop time nor memory: one for lookups, one for what walks whole tables or logs. They
// start on demand, end after five idle minutes, and answer in JSON bytes.
//
// Invariants: each works on one question; others wait here, up to a limit; a question above
// `consoleAskMsMax` fails and ends the process, whose successor takes the rest; they end with the
// primary.

import { isErrorCode } from '../../base/error-codes.ts'
import { environmentError, IpriskError } from '../../base/coded-error.ts'
import type { Log } from '../../base/log.ts'
import { type ChildError, createChildTask, type ProcessEnd } from '../../base/system/child-task.ts'
import type { ConsoleAnswer, ConsoleQuestion } from './console-messages.ts'

const consoleAskMsMax = 30_000

const consoleProcessIdleMs = 300_000

/** Waiting for one process, half of them of one caller; more get 503. */
export const consoleAsksMax = 64

export interface ConsoleProcess {
  /** Throws the process's errors, and `console_unavailable`. `caller`: who asks. */
  readonly ask: (question: ConsoleQuestion, caller?: string) => Promise<ConsoleAnswer>
  readonly close: () => void
}

interface ConsoleProcessOptions {
  readonly askMsMax?: number
  readonly idleMs?: number
  readonly program?: string | URL
}

export function createConsoleProcess(
  log: Log,
  options: ConsoleProcessOptions = {},
): ConsoleProcess {
  const quick = createProcess(log, options)
  const long = createProcess(log, options)
  return {
    ask: (question, caller) =>
      (quickKinds.includes(question.kind) ? quick : long).ask(question, caller),
    close: () => {
      quick.close()
      long.close()
    },
  }
}

const quickKinds: readonly ConsoleQuestion['kind'][] = ['address', 'addresses', 'feeds']

function createProcess(
  log: Log,
  {
    askMsMax = consoleAskMsMax,
    idleMs = consoleProcessIdleMs,
    program = new URL('./console-process-main.js', import.meta.url),
  }: ConsoleProcessOptions,
): ConsoleProcess {
  /** Who asked each unanswered question, the running one included. */
  const waiting: string[] = []
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
        log.warn({ kind: question.kind }, "The console's process took too long; it was stopped.")
        throw unavailable(`it took longer than ${askMsMax / 1000} seconds`)
      case 'stopped':
        throw unavailable('the server is shutting down')
      default:
        return outcome satisfies never
    }
  }
  return {
    ask: async (question, caller = '') => {
      const open = waiting.length
      const own = waiting.filter((one) => one === caller).length
      if (open > consoleAsksMax) throw unavailable(`${open - 1} requests already wait for it`)
      if (own > consoleAsksMax / 2) throw unavailable(`${own} of your requests already wait for it`)
      waiting.push(caller)
      return ask(question).finally(() => waiting.splice(waiting.indexOf(caller), 1))
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
  const message = `The console cannot compute this now: ${why}. Try again.`
  return environmentError('console_unavailable', message, { retryable: true })
}
