// The routes of the console's fixture, and what they keep.

import type { AuditView, KeysView, RefreshView } from '../../src/api/admin-answers.ts'
import type { AdminRole } from '../../src/model/roles.ts'
import { defaultPoliciesText } from '../../src/policy/default-policies.ts'
import { compileCondition } from '../../src/policy/condition/condition.ts'
import { checkPolicies, findingText } from '../../src/policy/policy-file.ts'
import {
  addressRows,
  addressView,
  feedsView,
  hostile,
  networkView,
  pastDay,
  rehearsalReport,
  setTrial,
  setsView,
  tableChanges,
  trafficView,
  travelContext,
} from './fixture-views.ts'

interface Entry {
  readonly entry: string
  readonly added: string
  readonly expires?: string
  readonly note?: string
}

interface List {
  readonly name: string
  readonly effect: string
  readonly created: string
  entries: Entry[]
}

export interface Fixture {
  /** Every request that was answered, `POST /admin/lists`. */
  readonly acts: string[]
  readonly lists: List[]
  /** The bodies of new keys. */
  readonly wishes: object[]
  policies: unknown
  readonly keys: KeysView['keys'][number][]
  readonly audit: AuditView['rows'][number][]
  refresh: RefreshView
}

const now = '2026-11-22T04:10:00Z'

export function newFixture(): Fixture {
  const entry = (number: number): Entry => ({
    entry: `198.51.100.${number}`,
    added: '2026-11-20T09:30:00Z',
    ...(number % 3 === 0 ? { expires: '2026-12-20T09:30:00Z' } : {}),
    ...(number % 2 === 0 ? { note: 'seen at the login' } : {}),
  })
  return {
    acts: [],
    wishes: [],
    lists: [
      {
        name: 'attackers',
        effect: 'block',
        created: '2026-10-01T08:00:00Z',
        entries: [
          { entry: 'AS64496', added: now, note: hostile },
          ...Array.from({ length: 12 }, (_, number) => entry(number)),
        ],
      },
      { name: 'offices', effect: 'allow', created: '2026-09-11T08:00:00Z', entries: [entry(77)] },
      { name: 'partners', effect: 'none', created: '2026-09-12T08:00:00Z', entries: [] },
    ],
    policies: (
      JSON.parse(defaultPoliciesText({ observe: false })) as { readonly policies: unknown }
    ).policies,
    keys: [key('k3f9a2c17d', 'login service', 412_803), key('k81b0e44f2', hostile, 12)],
    audit: [
      {
        at: '2026-11-22T03:11:00Z',
        who: 'deploy',
        via: 'command line',
        act: 'rotate',
        what: 'k3f9a2c17d',
      },
      { at: '2026-11-21T17:02:00Z', who: 'ada', via: 'console', act: 'lists add', what: hostile },
    ],
    refresh: {
      running: false,
      stage: null,
      last: { at: '2026-11-22T03:12:00Z', outcome: 'swapped', message: '' },
    },
  }
}

const key = (id: string, name: string, used: number): KeysView['keys'][number] => ({
  id,
  name,
  plan: 'team',
  created: '2026-08-01T10:00:00Z',
  last_used: '2026-11-22',
  revoked: null,
  expires: null,
  per_second: 50,
  quota: 1_000_000,
  used,
  policies: ['default'],
  state: 'live',
  test: false,
})

export interface FixtureRequest {
  readonly act: string
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, unknown>>
  readonly role: AdminRole
}

interface Reply {
  readonly status: number
  readonly value: unknown
}

const textIn = (body: FixtureRequest['body'], member: string): string => {
  const value = body[member]
  return typeof value === 'string' ? value : ''
}

const ok = (value: unknown, status = 200): Reply => ({ status, value })
const refusal = (status: number, code: string, message: string): Reply =>
  ok({ error: { code, message } }, status)

export function fixtureRoutes(fixture: Fixture, request: FixtureRequest): Reply {
  const { act, query, body } = request
  const lists = listRoutes(fixture, request)
  if (lists !== undefined) return lists
  switch (act) {
    case 'GET /admin/address': {
      const ip = query.get('ip') ?? ''
      if (!/^[0-9a-f.:]+$/.test(ip)) return refusal(400, 'invalid_input', `${ip} is no address.`)
      const view = addressView(ip, query.get('without') ?? '', Number(query.get('days') ?? 0))
      const previous = query.get('previous')
      if (previous === null) return ok(view)
      const more = travelContext(previous, Number(query.get('previous_hours')))
      return ok({ ...view, answer: { ...view.answer, ...more } })
    }
    case 'GET /admin/network':
      return ok(networkView(query.get('of') ?? ''))
    case 'POST /admin/addresses':
      return ok(addressRows(body['addresses'] as readonly string[]))
    case 'GET /status':
      return ok({ status: 'ready', ...tableOf(), policies: { last_failure: null } })
    case 'GET /admin/traffic':
      return ok(trafficView(Date.parse(now)))
    case 'GET /admin/feeds':
      return ok(feedsView())
    case 'GET /admin/table':
      return ok(tableOf())
    case 'GET /admin/table/changes':
      return ok(tableChanges)
    case 'POST /admin/table/reload':
      return ok({ kind: 'swapped', table: '20261123-00000000' })
    case 'POST /admin/table/rollback':
      return refusal(409, 'table_refused', 'There is no earlier table.')
    case 'GET /admin/refresh':
      return ok(fixture.refresh)
    case 'POST /admin/refresh':
      fixture.refresh = { ...fixture.refresh, running: true, stage: 'fetching 12 of 90' }
      return ok({}, 202)
    case 'POST /admin/rehearsals':
      return ok({ id: 'r1' }, 202)
    case 'GET /admin/rehearsals/r1':
      return ok({ id: 'r1', status: 'done', report: rehearsalReport })
    case 'POST /admin/past-days':
      return ok({ id: textIn(body, 'day'), status: 'running' }, 202)
    case 'GET /admin/past-days/2026-07-13':
      return ok({ id: '2026-07-13', status: 'done', report: pastDay })
    case 'GET /admin/past-days/2025-01-01':
      return ok({ id: '2025-01-01', status: 'failed', message: 'There is no history in data.' })
    case 'GET /admin/sets':
      return ok(setsView)
    case 'POST /admin/sets/try': {
      if (textIn(body, 'condition').includes('decision')) {
        return refusal(
          422,
          'set_too_large',
          'The set has 4,300,000 prefixes; narrow its condition.',
        )
      }
      const compiled = compileCondition(textIn(body, 'condition'))
      if (compiled.kind === 'condition') return ok(setTrial)
      return refusal(400, 'invalid_input', findingText('condition', compiled))
    }
    case 'GET /admin/audit':
      return ok({ rows: query.has('before') ? [] : fixture.audit })
    default:
      return policyAndKeyRoutes(fixture, request)
  }
}

function policyAndKeyRoutes(fixture: Fixture, { act, body, role }: FixtureRequest): Reply {
  const checked = (policies: unknown) => checkPolicies(JSON.stringify({ policies }))
  const live = checked(fixture.policies)
  const revision = 'policies' in live ? live.policies.revision : null
  if (act === 'GET /admin/policies') {
    const status = {
      path: 'policies.json',
      revision,
      names: ['default'],
      warnings: [],
      last_failure: null,
    }
    if (fixture.policies === null) return ok({ status: null, policies: {} })
    return ok({ status, policies: fixture.policies })
  }
  if (act === 'POST /admin/policies/check') {
    const found = checked(body['policies'])
    if ('mistakes' in found) return ok({ revision: null, names: [], mistakes: found.mistakes })
    const { revision, policies } = found.policies
    return ok({ revision, names: Object.keys(policies), mistakes: [] })
  }
  if (role !== 'admin') return refusal(403, 'forbidden_role', 'This needs the role admin.')
  if (act === 'POST /admin/policies') {
    if (body['revision'] !== revision) {
      return refusal(409, 'policies_changed', 'The policies were changed; load them anew.')
    }
    fixture.policies = body['policies']
    return ok({ revision: 'saved' })
  }
  if (act === 'GET /admin/keys')
    return ok({
      total: fixture.keys.length,
      plans: ['free', 'team', 'internal'],
      keys: fixture.keys,
      skipped: [],
    } satisfies KeysView)
  if (act === 'POST /admin/keys') {
    fixture.wishes.push(body)
    fixture.keys.push(key('knew', textIn(body, 'name'), 0))
    return ok({ id: 'knew', key: 'irk_knew_the-secret-that-is-shown-once', in_effect: true }, 201)
  }
  const [, id, rest] = /^[A-Z]+ \/admin\/keys\/(\w+)(\/rotate)?$/.exec(act) ?? []
  const at = fixture.keys.findIndex((one) => one.id === id)
  if (at < 0) return refusal(404, 'not_found', 'There is nothing at this path.')
  if (rest === '/rotate')
    return ok({
      id,
      key: `irk_${id}_another-secret`,
      old_secret_until: '2026-11-23T04:10:00Z',
      in_effect: true,
    })
  fixture.keys[at] = { ...fixture.keys[at]!, state: 'revoked', revoked: now }
  return ok({})
}

const acted = (counts: object): Reply =>
  ok({ added: 0, changed: 0, removed: 0, cautions: [], in_effect: true, ...counts })

function listRoutes({ lists }: Fixture, { act, query, body }: FixtureRequest): Reply | undefined {
  const head = ({ name, effect, created, entries }: List) => ({
    name,
    effect,
    created,
    entries: entries.length,
  })
  if (act === 'GET /admin/lists') return ok({ lists: lists.map(head) })
  if (act === 'POST /admin/lists') {
    const { name = '', effect = 'none' } = body as {
      readonly name?: string
      readonly effect?: string
    }
    if (lists.some((list) => list.name === name)) {
      return refusal(409, 'list_exists', `There is a list ${name} already.`)
    }
    lists.push({ name, effect, created: now, entries: [] })
    return acted({})
  }
  const [, method = '', name, rest = ''] = /^([A-Z]+) \/admin\/lists\/([^/]+)(.*)$/.exec(act) ?? []
  if (name === undefined) return undefined
  const list = lists.find((one) => one.name === name)
  if (list === undefined) return refusal(404, 'list_unknown', `There is no list ${name}.`)
  const texts = (body['entries'] ?? body['lines'] ?? []) as readonly string[]
  switch (`${method} ${rest}`) {
    case 'GET ':
      return ok({ ...head(list), shown: query.has('after') ? [] : list.entries, next: null })
    case 'POST /entries': {
      const wrong = texts.find((text) => /[^0-9a-fA-F.:/AS-]/.test(text))
      if (wrong !== undefined) return refusal(400, 'lists_file', `${wrong} is no entry.`)
      const note = body['note'] === undefined ? {} : { note: textIn(body, 'note') }
      const until = body['for'] === undefined ? {} : { expires: '2026-11-29T04:10:00Z' }
      list.entries.unshift(...texts.map((entry) => ({ entry, added: now, ...note, ...until })))
      return acted({ added: texts.length })
    }
    case 'DELETE /entries':
      list.entries = list.entries.filter(({ entry }) => !texts.includes(entry))
      return acted({ removed: texts.length })
    case 'POST /import':
      if (body['preview'] === true) {
        const count = texts.filter((text) => /^\d/.test(text)).length
        const lines = [`lines, read as one entry a line: ${count} entries`]
        return ok({ added: count, changed: 0, removed: 0, cautions: [], preview: { lines } })
      }
      list.entries.push(...texts.map((entry) => ({ entry, added: now })))
      return acted({ added: texts.length })
    case 'POST /undo':
      return acted({ act: 'undo', removed: 1 })
    default:
      lists.splice(lists.indexOf(list), 1)
      return acted({ removed: list.entries.length })
  }
}

function tableOf() {
  return {
    table: {
      id: '20261122-7f3a91c2',
      as_of: '2026-11-22',
      age_seconds: 93_000,
      bytes: 283_950_112,
      feeds: 72,
    },
    tables: {
      previous: '20261121-10be77aa',
      held: null,
      last_swap: { at: '2026-11-22T03:12:00Z', took_ms: 412 },
      last_refusal: null,
    },
  }
}
