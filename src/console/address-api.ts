// The routes that look at addresses. The console's process computes the answers as bytes; past days
// are computed by a process of their own.

import {
  type AdminRequest,
  type AdminRoute,
  type RouteReply,
  viewing,
  wholeParameter,
  withBody,
} from '../admin/admin-api.ts'
import { viaOf } from '../admin/admin-caller.ts'
import { environmentError, inputError } from '../base/coded-error.ts'
import { formatDay } from '../base/day.ts'
import type { Plans } from '../config/plan.ts'
import type { Settings } from '../config/settings.ts'
import type { ListFile, TableInfo } from '../table/served-table.ts'
import type { Policies } from '../model/policy-form.ts'
import type { SetManager } from '../supervisor/sets/set-manager.ts'
import { spawnBuild } from '../supervisor/tables/refresh.ts'
import type { TableManager } from '../supervisor/tables/table-manager.ts'
import type { FeedDaysFile } from './feed-days.ts'
import { createRuns } from './kept-runs.ts'
import { addressesRequest, pastDayRequest } from '../api/admin-requests.ts'
import { anyObject, listOf, objectOrNull, shape, text, textOrNull } from '../api/json-schema.ts'
import type { ConsoleQuestion, AnsweringFiles } from './process/console-messages.ts'
import type { ConsoleProcess } from './process/console-process.ts'

export interface ConsoleParts {
  readonly settings: Pick<Settings, 'state' | 'store' | 'build'>
  /** Those that workers answer from. */
  readonly tables: Pick<TableManager, 'file' | 'previousFile' | 'status'>
  readonly table: () => TableInfo | undefined
  readonly sample: { readonly save: () => Promise<string | undefined> } | undefined
  readonly feedDays: Pick<FeedDaysFile, 'days'>
  readonly lists: { readonly file: () => ListFile | undefined }
  readonly policies: { readonly policies: () => Policies | undefined }
  readonly sets: Pick<SetManager, 'folders' | 'conditions'>
  readonly plans: () => Plans
  readonly listUrl: string
  /** `iprisk explain` as a Node program and its arguments. */
  readonly explainCommand: readonly string[]
  readonly buildEnvironment?: NodeJS.ProcessEnv | undefined
  readonly process: ConsoleProcess
}

/** Years of days ahead: nothing changes any more. Months of hours ago. */
const wholeMax = 3650
const feedsWithoutMax = 100

/** Throws `no_table` without one. */
export function worldOf({ settings, tables, lists, policies }: ConsoleParts): AnsweringFiles {
  const file = tables.file()
  if (file === undefined) {
    const message = 'There is no table yet. Build one with "iprisk build".'
    throw environmentError('no_table', message, { retryable: true })
  }
  const { state, store } = settings
  return {
    table: file.path,
    builtMs: file.builtMs,
    lists: lists.file(),
    policies: policies.policies(),
    stores: { state, store },
  }
}

export async function asked(
  { process }: Pick<ConsoleParts, 'process'>,
  { caller }: AdminRequest,
  question: ConsoleQuestion,
): Promise<RouteReply> {
  return { reply: await process.ask(question, viaOf(caller)) }
}

export function lookRoutes(parts: ConsoleParts): readonly AdminRoute[] {
  return [
    {
      ...viewing,
      path: '/admin/address',
      summary:
        'All about an address: answer, insights, decision, lists, days, neighbours, what-ifs',
      query: {
        ip: 'The address.',
        policy: 'The policy to decide by; default: `default`.',
        without: 'Feeds to leave out, comma-separated: `what_if`.',
        days: `Days without new evidence, at most ${wholeMax}: \`what_if\`.`,
        user_agent: "The visitor's User-Agent: `answer.agent`, which the policy reads.",
        previous: 'The previous address of the user: `answer.travel`, which the policy reads.',
        previous_hours: `How long ago that was, at most ${wholeMax} hours; default: 1.`,
      },
      answer: shape(
        {
          answer: anyObject,
          insights: anyObject,
          decision: objectOrNull,
          lists: listOf(anyObject),
          strips: listOf(anyObject),
          first_day: text,
          neighbours: anyObject,
          what_if: objectOrNull,
        },
        ['answer', 'insights', 'decision', 'lists', 'strips', 'neighbours', 'what_if'],
      ),
      run: async (request) => {
        const { query } = request
        const policy = query.get('policy') ?? undefined
        const without = (query.get('without') ?? '').split(',').filter((feed) => feed !== '')
        if (without.length > feedsWithoutMax) {
          throw inputError('invalid_input', `without may name at most ${feedsWithoutMax} feeds.`)
        }
        return asked(parts, request, {
          kind: 'address',
          world: worldOf(parts),
          ip: (query.get('ip') ?? '').trim(),
          policy,
          without,
          days: wholeParameter(query, 'days', { usual: 0, max: wholeMax }),
          userAgent: query.get('user_agent') ?? undefined,
          previous: previousOf(query),
        })
      },
    },
    networkRoute(parts),
    {
      method: 'POST',
      path: '/admin/addresses',
      role: 'viewer',
      summary: 'Many addresses as rows, in the order of the request; an invalid one has `error`',
      body: addressesRequest,
      status: 200,
      answer: shape({ rows: listOf(anyObject) }, []),
      run: async (request) =>
        asked(parts, request, { kind: 'addresses', world: worldOf(parts), body: request.bytes }),
    },
  ]
}

function previousOf(query: URLSearchParams) {
  const ip = query.get('previous')
  if (ip === null) return undefined
  const hours = wholeParameter(query, 'previous_hours', { usual: 1, max: wholeMax })
  return { ip: ip.trim(), at: new Date(Date.now() - hours * 3_600_000).toISOString() }
}

const rows = listOf(anyObject)

function networkRoute(parts: ConsoleParts): AdminRoute {
  return {
    ...viewing,
    path: '/admin/network',
    summary:
      'The classes of the addresses of a prefix or an AS, now and before, and own lists that name it',
    query: { of: 'The prefix, or `AS24940`.' },
    answer: shape({
      of: text,
      name: text,
      against: textOrNull,
      ipv4: rows,
      ipv6: rows,
      lists: rows,
    }),
    run: async (request) =>
      asked(parts, request, {
        kind: 'network',
        world: worldOf(parts),
        of: request.query.get('of') ?? '',
        against: parts.tables.previousFile()?.path,
      }),
  }
}

/** A build takes about a minute of an idle machine. */
const pastLimits = { timeout: 900_000, killSignal: 'SIGKILL' } as const

/**
 * The verdict of a past day (contract 6.9): `iprisk explain ADDRESS --at DAY` as a child process,
 * which needs the compiler and the history, and makes that day's table unless it is kept.
 */
export function pastRoutes(
  { explainCommand, buildEnvironment: env }: ConsoleParts,
  signal: AbortSignal,
): readonly AdminRoute[] {
  const runs = createRuns({
    path: '/admin/past-days',
    codes: ['past_day_running', 'past_day_unknown'],
    title: 'A build of a past day',
    prints: 'iprisk explain ADDRESS --at DAY --json',
  })
  return [
    withBody(pastDayRequest, {
      ...runs.start,
      summary: 'The verdict of a past day, where tables are built',
      run: async (_request, { ip, day }) =>
        runs.begin(async (said) => {
          const command = [...explainCommand, ip, '--at', formatDay(day), '--json']
          const build = spawnBuild(command, said, { env, signal, ...pastLimits })
          const { output, reason } = await build.ended
          if (reason === undefined) return Buffer.from(output)
          throw new Error(reason.replace('iprisk: ', ''))
        }),
    }),
    runs.view,
  ]
}
