// Work of minutes that a page starts and polls: one run of a kind at a time; the last ones are kept.

import { randomUUID } from 'node:crypto'
import type { AdminRoute } from '../admin/admin-api.ts'
import { anyObject, shape, text } from '../api/json-schema.ts'
import { inputError, messageOf } from '../base/coded-error.ts'
import type { ErrorCode } from '../base/error-codes.ts'

const runsKept = 20

/** `title` begins a sentence; `prints`: the command that prints the same report. */
export function createRuns(of: {
  readonly path: string
  /** While one runs, and of an unknown id. */
  readonly codes: readonly [ErrorCode, ErrorCode]
  readonly title: string
  readonly prints: string
}) {
  const { path, codes, title, prints } = of
  const views = new Map<string, Uint8Array>()
  let isRunning = false
  const begin = (run: (said: (stage: string) => void) => Promise<Uint8Array>) => {
    if (isRunning) {
      throw inputError(codes[0], `${title} is already running; try again when it ends.`)
    }
    for (const id of [...views.keys()].slice(0, -runsKept)) views.delete(id)
    const id = randomUUID()
    const begun = { id, status: 'running' }
    const set = (view: object): void => void views.set(id, Buffer.from(JSON.stringify(view)))
    isRunning = true
    set(begun)
    run((stage) => set({ ...begun, stage }))
      .then(
        // The report is JSON already, and may be long.
        (report) => views.set(id, Buffer.concat([headOf(id), report, Buffer.from('}\n')])),
        (error: unknown) => set({ id, status: 'failed', message: messageOf(error) }),
      )
      .finally(() => (isRunning = false))
    return begun
  }
  const answer = shape(
    {
      id: text,
      status: { enum: ['running', 'done', 'failed'] },
      stage: text,
      message: text,
      report: { ...anyObject, description: `What \`${prints}\` prints.` },
    },
    ['id', 'status'],
  )
  const shared = { role: 'analyst', answer } as const
  const view: AdminRoute = {
    ...shared,
    method: 'GET',
    path: `${path}/{id}`,
    summary: `${title}: its state, and its report`,
    status: 200,
    run: async ({ name }) => {
      const body = views.get(name)
      if (body !== undefined) return { reply: { status: 200, body } }
      const message = `Nothing has the id ${name.slice(0, 40)}: only the last ones are remembered.`
      throw inputError(codes[1], message)
    },
  }
  return { begin, view, start: { ...shared, method: 'POST', path, status: 202 } } as const
}

const headOf = (id: string): Buffer => Buffer.from(`{"id":"${id}","status":"done","report":`)
