// The routes that look at addresses. The console's process computes the answers as bytes.

import { type AdminRequest, type AdminRoute, type RouteReply, viewing } from '../admin/admin-api.ts'
import { viaOf } from '../admin/admin-caller.ts'
import { environmentError, inputError } from '../base/coded-error.ts'
import type { Plans } from '../config/plan.ts'
import type { Settings } from '../config/settings.ts'
import type { ListFile, TableInfo } from '../table/served-table.ts'
import type { Policies } from '../model/policy-form.ts'
import type { SetManager } from '../supervisor/sets/set-manager.ts'
import type { TableManager } from '../supervisor/tables/table-manager.ts'
import type { FeedDaysFile } from './feed-days.ts'
import { addressesRequest } from '../api/admin-requests.ts'
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
          days: wholeOf(query, 'days', 0),
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
  const hours = wholeOf(query, 'previous_hours', 1)
  return { ip: ip.trim(), at: new Date(Date.now() - hours * 3_600_000).toISOString() }
}

function wholeOf(query: URLSearchParams, name: string, usual: number): number {
  const value = Number(query.get(name) ?? usual)
  if (Number.isInteger(value) && value >= 0 && value <= wholeMax) return value
  throw inputError('invalid_input', `${name} must be a whole number from 0 to ${wholeMax}.`)
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
