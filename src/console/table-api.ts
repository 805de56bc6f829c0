// The routes of what a table is made of, what it changed, and what policies would do: computed by
// the console's process, and remembered here where it does not change.

import { randomUUID } from 'node:crypto'
import type { AdminRoute, RouteReply } from '../admin/admin-api.ts'
import type { RehearsalView } from '../api/admin-answers.ts'
import { consoleLogBytesMax, rehearsalRequest } from '../api/admin-requests.ts'
import { IpriskError, messageOf } from '../base/coded-error.ts'
import { policiesBytesMax } from '../base/limits.ts'
import { asked, type ConsoleParts, worldOf } from './address-api.ts'

/** Rehearsals that are remembered, the newest. */
const consoleRehearsalsKept = 20

const text = { type: 'string' } as const
const object = { type: 'object' } as const
const objects = { type: 'array', items: object } as const

export function tableRoutes(parts: ConsoleParts): readonly AdminRoute[] {
  return [feedsRoute(parts), changesRoute(parts), ...rehearsalRoutes(parts)]
}

function feedsRoute(parts: ConsoleParts): AdminRoute {
  return {
    method: 'GET',
    path: '/admin/feeds',
    role: 'viewer',
    summary: 'The feeds of the table that answers, and how many entries they had by day',
    status: 200,
    answer: {
      type: 'object',
      properties: { table: text, as_of: text, feeds: objects, coverage: object },
    },
    run: async () => {
      const { report } = parts.settings.build
      const days = parts.feedDays.days()
      return asked(parts, { kind: 'feeds', world: worldOf(parts), report, days })
    },
  }
}

/** Of a pair of tables it is computed once. */
function changesRoute(parts: ConsoleParts): AdminRoute {
  let known: { readonly key: string; body?: Uint8Array; failure?: string } | undefined
  const compute = async (key: string, against: string): Promise<void> => {
    const own = { key } as NonNullable<typeof known>
    known = own
    try {
      own.body = (await parts.process.ask({ kind: 'changes', world: worldOf(parts), against })).body
    } catch (error) {
      own.failure = messageOf(error)
    }
  }
  return {
    method: 'GET',
    path: '/admin/table/changes',
    role: 'viewer',
    summary:
      'What the table that answers says otherwise than the one before; 202 while it is computed',
    status: 200,
    answer: {
      type: 'object',
      required: ['table', 'against', 'status'],
      properties: {
        table: text,
        against: { type: ['string', 'null'] },
        status: { enum: ['running', 'done', 'none'] },
        addresses_changed: { type: 'integer' },
        classes: objects,
        countries: objects,
        networks: objects,
        largest: objects,
        ipv6: { type: 'object', description: 'The same of IPv6, counted in /64s.' },
      },
    },
    run: async (): Promise<object | RouteReply> => {
      const { table } = worldOf(parts)
      const { tables } = parts
      const before = tables.previousFile()
      const { previous } = tables.status()
      const id = parts.table()?.id ?? ''
      if (before === undefined || previous === null) {
        return { table: id, against: null, status: 'none' }
      }
      const key = `${table} ${before.path}`
      if (known?.key === key && known.failure !== undefined) {
        const { failure } = known
        // Who asks again tries again; who polls stops here.
        known = undefined
        throw notCompared(failure)
      }
      if (known?.key !== key) void compute(key, before.path)
      if (known?.body !== undefined) return { reply: { status: 200, body: known.body } }
      return { reply: { status: 202, body: { table: id, against: previous, status: 'running' } } }
    },
  }
}

function notCompared(why: string): IpriskError {
  return new IpriskError({
    code: 'console_unavailable',
    message: `The tables could not be compared: ${why}`,
    fault: 'environment',
    retryable: true,
  })
}

function rehearsalRoutes(parts: ConsoleParts): readonly AdminRoute[] {
  const rehearsals = createRehearsals()
  const path = '/admin/rehearsals'
  const answer = {
    type: 'object',
    required: ['id', 'status'],
    properties: {
      id: text,
      status: { enum: ['running', 'done', 'failed'] },
      message: text,
      report: { type: 'object', description: 'What `iprisk policy test --json` prints.' },
    },
  } as const
  return [
    {
      method: 'POST',
      path,
      role: 'analyst',
      summary:
        'What policies would do to the requests of a log, or to the checks that were sampled',
      status: 202,
      body: rehearsalRequest,
      // Line ends and quotes of a log are two bytes each in JSON.
      bodyBytesMax: 2 * (consoleLogBytesMax + policiesBytesMax),
      answer,
      run: async ({ bytes }) => {
        const world = worldOf(parts)
        const sample = await parts.sample?.save()
        const id = rehearsals.begin(async () => {
          const { body } = await parts.process.ask({
            kind: 'rehearsal',
            world,
            body: bytes,
            sample,
          })
          return body
        })
        return { id, status: 'running' }
      },
    },
    {
      method: 'GET',
      path: `${path}/{id}`,
      role: 'analyst',
      summary: 'How a rehearsal goes, and its report',
      status: 200,
      answer,
      run: async ({ name }) => ({ reply: { status: 200, body: rehearsals.view(name) } }),
    },
  ]
}

/**
 * The rehearsals that were asked for: one runs at a time in the console's process, and the last
 * ones are remembered with their reports, so that a page can ask until one is done.
 */
interface Rehearsals {
  /** Begins one; throws `rehearsal_running`. */
  readonly begin: (run: () => Promise<Uint8Array>) => string
  /** Its RehearsalView as JSON; throws `rehearsal_unknown`. */
  readonly view: (id: string) => Uint8Array
}

type Outcome =
  | { readonly status: 'running' }
  | { readonly status: 'done'; readonly report: Uint8Array }
  | { readonly status: 'failed'; readonly message: string }

function createRehearsals(): Rehearsals {
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
