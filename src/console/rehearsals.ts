// The rehearsals that were asked for: one runs at a time in the console's process, and the last
// ones are remembered with their reports, so that a page can ask until one is done.

import { randomUUID } from 'node:crypto'
import { IpriskError, messageOf } from '../base/coded-error.ts'
import type { RehearsalView } from '../api/admin-answers.ts'
import { consoleRehearsalsKept } from '../base/limits.ts'

export interface Rehearsals {
  /** Begins one; throws `rehearsal_running`. */
  readonly begin: (run: () => Promise<Uint8Array>) => string
  /** Its RehearsalView as JSON; throws `rehearsal_unknown`. */
  readonly view: (id: string) => Uint8Array
}

type Outcome =
  | { readonly status: 'running' }
  | { readonly status: 'done'; readonly report: Uint8Array }
  | { readonly status: 'failed'; readonly message: string }

export function createRehearsals(): Rehearsals {
  const outcomes = new Map<string, Outcome>()
  return {
    begin: (run) => {
      if ([...outcomes.values()].some(({ status }) => status === 'running')) throw running()
      for (const id of outcomes.keys()) {
        if (outcomes.size < consoleRehearsalsKept) break
        outcomes.delete(id)
      }
      const id = randomUUID()
      outcomes.set(id, { status: 'running' })
      run().then(
        (report) => outcomes.set(id, { status: 'done', report }),
        (error: unknown) => outcomes.set(id, { status: 'failed', message: messageOf(error) }),
      )
      return id
    },
    view: (id) => {
      const outcome = outcomes.get(id)
      if (outcome === undefined) throw unknown(id)
      if (outcome.status !== 'done') {
        const view: RehearsalView = { id, ...outcome }
        return Buffer.from(JSON.stringify(view))
      }
      // The report is JSON already, and may be long.
      const head = JSON.stringify({ id, status: outcome.status }).slice(0, -1)
      return Buffer.concat([Buffer.from(`${head},"report":`), outcome.report, Buffer.from('}\n')])
    },
  }
}

function running(): IpriskError {
  const message = 'A rehearsal runs already; one runs at a time.'
  return new IpriskError({ code: 'rehearsal_running', message, fault: 'input' })
}

function unknown(id: string): IpriskError {
  const message = `There is no rehearsal ${id.slice(0, 40)}: only the last ones are remembered.`
  return new IpriskError({ code: 'rehearsal_unknown', message, fault: 'input' })
}
