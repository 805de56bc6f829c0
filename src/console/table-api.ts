// The routes of feeds, changes of tables, and rehearsals, computed by the console's process.

import { type AdminRoute, type RouteReply, viewing } from '../admin/admin-api.ts'
import { consoleLogBytesMax, rehearsalRequest } from '../api/admin-requests.ts'
import { anyObject, listOf, shape, text, textOrNull, whole } from '../api/json-schema.ts'
import { environmentError, messageOf } from '../base/coded-error.ts'
import { policiesBytesMax } from '../base/limits.ts'
import { asked, type ConsoleParts, worldOf } from './address-api.ts'
import { createRuns } from './kept-runs.ts'

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
  const runs = createRuns({
    path: '/admin/rehearsals',
    codes: ['rehearsal_running', 'rehearsal_unknown'],
    title: 'A rehearsal',
    prints: 'iprisk policy test --json',
  })
  return [
    {
      ...runs.start,
      summary: 'What policies would decide on the requests of a log or on sampled checks',
      body: rehearsalRequest,
      // JSON doubles line ends and quotes.
      bodyBytesMax: 2 * (consoleLogBytesMax + policiesBytesMax),
      run: async ({ bytes }) => {
        const world = worldOf(parts)
        const sample = await parts.sample?.save()
        const question = { kind: 'rehearsal', world, body: bytes, sample } as const
        return runs.begin(async () => (await parts.process.ask(question)).body)
      },
    },
    runs.view,
  ]
}
