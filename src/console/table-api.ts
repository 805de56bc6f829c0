// The routes of feeds, changes of tables, and rehearsals, computed by the console's process.

import { randomUUID } from 'node:crypto'
import { type AdminRoute, type RouteReply, viewing } from '../admin/admin-api.ts'
import type { RehearsalView } from '../api/admin-answers.ts'
import { consoleLogBytesMax, rehearsalRequest } from '../api/admin-requests.ts'
import { anyObject, listOf, shape, text, textOrNull, whole } from '../api/json-schema.ts'
import { environmentError, inputError, messageOf } from '../base/coded-error.ts'
import { policiesBytesMax } from '../base/limits.ts'
import { asked, type ConsoleParts, worldOf } from './address-api.ts'

const consoleRehearsalsKept = 20

const objects = listOf(anyObject)

export function tableRoutes(parts: ConsoleParts): readonly AdminRoute[] {
  return [feedsRoute(parts), changesRoute(parts), ...rehearsalRoutes(parts)]
}

function feedsRoute(parts: ConsoleParts): AdminRoute {
  return {
    ...viewing,
    path: '/admin/feeds',
    summary: 'The feeds of the table in use, with their entries by day',
    answer: shape(
      { table: text, as_of: text, feeds: objects, failing: objects, coverage: anyObject },
      [],
    ),
    run: async (request) =>
      asked(parts, request, {
        kind: 'feeds',
        world: worldOf(parts),
        report: parts.settings.build.report,
        days: parts.feedDays.days(),
      }),
  }
}

/** Computed once for each pair of tables. */
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
    ...viewing,
    path: '/admin/table/changes',
    summary:
      'Differences between the table in use and the previous one; 202 while they are computed',
    answer: shape(
      {
        table: text,
        against: textOrNull,
        status: { enum: ['running', 'done', 'none'] },
        addresses_changed: whole,
        classes: objects,
        countries: objects,
        networks: objects,
        largest: objects,
        ipv6: { ...anyObject, description: 'The same for IPv6, counted in /64s.' },
      },
      ['table', 'against', 'status'],
    ),
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
        // A new request tries again; polling stops here.
        known = undefined
        const message = `The tables could not be compared: ${failure}`
        throw environmentError('console_unavailable', message, { retryable: true })
      }
      if (known?.key !== key) void compute(key, before.path)
      if (known?.body !== undefined) return { reply: { status: 200, body: known.body } }
      return { reply: { status: 202, body: { table: id, against: previous, status: 'running' } } }
    },
  }
}

function rehearsalRoutes(parts: ConsoleParts): readonly AdminRoute[] {
  const rehearsals = createRehearsals()
  const path = '/admin/rehearsals'
  const answer = shape(
    {
      id: text,
      status: { enum: ['running', 'done', 'failed'] },
      message: text,
      report: { ...anyObject, description: 'What `iprisk policy test --json` prints.' },
    },
    ['id', 'status'],
  )
  return [
    {
      method: 'POST',
      path,
      role: 'analyst',
      summary: 'What policies would decide on the requests of a log or on sampled checks',
      status: 202,
      body: rehearsalRequest,
      // JSON doubles line ends and quotes.
      bodyBytesMax: 2 * (consoleLogBytesMax + policiesBytesMax),
      answer,
      run: async ({ bytes }) => {
        const world = worldOf(parts)
        const sample = await parts.sample?.save()
        const question = { kind: 'rehearsal', world, body: bytes, sample } as const
        const id = rehearsals.begin(async () => (await parts.process.ask(question)).body)
        return { id, status: 'running' }
      },
    },
    {
      method: 'GET',
      path: `${path}/{id}`,
      role: 'analyst',
      summary: 'The state of a rehearsal, and its report',
      status: 200,
      answer,
      run: async ({ name }) => ({ reply: { status: 200, body: rehearsals.view(name) } }),
    },
  ]
}

type Outcome =
  | { readonly status: 'running' }
  | { readonly status: 'done'; readonly report: Uint8Array }
  | { readonly status: 'failed'; readonly message: string }

/** One runs at a time; the last ones are kept for polling pages. */
function createRehearsals() {
  const outcomes = new Map<string, Outcome>()
  return {
    begin(run: () => Promise<Uint8Array>): string {
      if ([...outcomes.values()].some(({ status }) => status === 'running')) {
        throw inputError(
          'rehearsal_running',
          'A rehearsal is already running; try again when it ends.',
        )
      }
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
    /** A RehearsalView as JSON. */
    view(id: string): Uint8Array {
      const outcome = outcomes.get(id)
      if (outcome === undefined) {
        const message = `There is no rehearsal ${id.slice(0, 40)}: only the last ones are remembered.`
        throw inputError('rehearsal_unknown', message)
      }
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
