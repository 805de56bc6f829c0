// Runs the process that compiles own lists (compile-lists-main.ts): started for the first request,
// ended when there was none for a while, so that a server whose lists rest does not pay for it.

import type { StoresSettings } from '../../account/stores/open-stores.ts'
import { IpriskError } from '../../base/coded-error.ts'
import { createChildTask } from '../../base/system/child-task.ts'

/** With a million entries it holds some hundred megabytes. */
const idleMsMax = 300_000
/** A million entries take two seconds where nothing else runs. */
const compileMsMax = 60_000

export interface CompileRequest {
  readonly settings: StoresSettings
  readonly path: string
  /** Where it is written before it has its name. */
  readonly unfinished: string
  /** Leave out damaged parts instead of failing. */
  readonly partly?: boolean
}

/** What was compiled. */
export interface CompiledLists {
  /** That of the catalogue. */
  readonly tag: string
  readonly lists: number
  readonly entries: number
  /** There is a file; without entries there is none. */
  readonly written: boolean
}

export interface ListsCompiler {
  /** Throws `lists_damaged` and `lists_uncompiled`; after `close` always. */
  readonly compile: (request: CompileRequest) => Promise<CompiledLists>
  readonly close: () => void
}

export function createListsCompiler(): ListsCompiler {
  const task = createChildTask<CompileRequest, CompiledLists>({
    program: new URL('./compile-lists-main.js', import.meta.url),
    msMax: compileMsMax,
    idleMs: idleMsMax,
  })
  return {
    compile: async (request) => {
      const outcome = await task.ask(request)
      switch (outcome.kind) {
        case 'answered':
          return outcome.answer
        case 'failed':
          // What it holds may be half of something.
          task.stop()
          throw uncompiled(outcome.error.message, outcome.error.code === 'lists_damaged')
        case 'ended':
          throw uncompiled(outcome.end.error?.message ?? 'the process for it has ended')
        case 'late':
          throw uncompiled(`it took longer than ${compileMsMax / 1000} seconds`)
        case 'stopped':
          throw uncompiled('this server ends')
        default:
          return outcome satisfies never
      }
    },
    close: task.close,
  }
}

function uncompiled(why: string, damaged = false): IpriskError {
  return new IpriskError({
    code: damaged ? 'lists_damaged' : 'lists_uncompiled',
    message: `The own lists could not be compiled: ${why.replace(/\.$/, '')}.`,
    fault: 'environment',
    retryable: true,
  })
}
