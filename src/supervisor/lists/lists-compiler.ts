// Runs the process that compiles own lists (compile-lists-main.ts): started for the first request,
// ended when there was none for a while, so that a server whose lists rest does not pay for it.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { StoresSettings } from '../../account/stores/open-stores.ts'
import { IpriskError } from '../../base/coded-error.ts'

const program = fileURLToPath(new URL('./compile-lists-main.js', import.meta.url))

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

export type CompileReply = CompiledLists | { readonly failed: string; readonly damaged: boolean }

export interface ListsCompiler {
  /** One at a time. Throws `lists_damaged` and `lists_uncompiled`; after `close` always. */
  readonly compile: (request: CompileRequest) => Promise<CompiledLists>
  readonly close: () => void
}

export function createListsCompiler(): ListsCompiler {
  let child: ChildProcess | undefined
  let idle: NodeJS.Timeout | undefined
  let isClosed = false
  const end = (): void => {
    clearTimeout(idle)
    child?.kill('SIGKILL')
    child = undefined
  }
  const start = (): ChildProcess => {
    const started = fork(program, [], {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    started.once('exit', () => {
      if (child === started) child = undefined
    })
    return started
  }
  return {
    compile: async (request) => {
      // A process that is started after `close` would keep the server's process alive.
      if (isClosed) throw uncompiled('this server ends')
      clearTimeout(idle)
      const asked = (child ??= start())
      try {
        const reply = await replyOf(asked, request)
        if (!('failed' in reply)) return reply
        throw uncompiled(reply.failed, reply.damaged)
      } catch (error) {
        // What it holds may be half of something.
        end()
        throw error
      } finally {
        idle = setTimeout(end, idleMsMax)
        idle.unref()
      }
    },
    close: () => {
      isClosed = true
      end()
    },
  }
}

function replyOf(child: ChildProcess, request: CompileRequest): Promise<CompileReply> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      clearTimeout(late)
      child.off('message', onMessage)
      child.off('exit', onExit)
      act()
    }
    const onMessage = (reply: CompileReply): void => settle(() => resolve(reply))
    const onExit = (): void => settle(() => reject(uncompiled('the process for it has ended')))
    const late = setTimeout(
      () => settle(() => reject(uncompiled(`it took longer than ${compileMsMax / 1000} seconds`))),
      compileMsMax,
    )
    child.once('message', onMessage)
    child.once('exit', onExit)
    child.send(request, (error) => {
      if (error !== null) settle(() => reject(uncompiled(error.message)))
    })
  })
}

function uncompiled(why: string, damaged = false): IpriskError {
  return new IpriskError({
    code: damaged ? 'lists_damaged' : 'lists_uncompiled',
    message: `The own lists could not be compiled: ${why.replace(/\.$/, '')}.`,
    fault: 'environment',
    retryable: true,
  })
}
