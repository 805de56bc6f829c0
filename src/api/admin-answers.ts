// The messages between the console's page and the administrative API, as types only. Times are ISO
// 8601 in UTC, days YYYY-MM-DD, addresses in the canonical form of the contract; shares are 0 to 1.
// Every text may come from a feed: hostile.

import type { AdminRole } from '../model/roles.ts'
import type { CheckAnswer, Decision } from './check-answer.ts'
import type { Insights } from './insights-answer.ts'

export interface ConsoleSession {
  readonly role: AdminRole
  readonly expires: string
}

/** POST /console/login {token} or {link}, the secret of a link that signs in once → 200 and the cookie. */
export interface ConsoleLogin extends ConsoleSession {
  /** In no other answer. Every request sends it as the header `x-iprisk-csrf`; the cookie alone grants nothing. */
  readonly csrf: string
}

/** GET /admin/address */
export interface AddressView {
  readonly answer: CheckAnswer
  readonly insights: Insights
  /** Decided by the requested policy, otherwise by `default`; `null` without policies. */
  readonly decision: Decision | null
  /** Own lists with an entry that matches, the most specific first. */
  readonly lists: readonly {
    readonly list: string
    readonly effect: string
    readonly entry: string
    readonly since: string
    readonly until: string | null
    readonly note: string
  }[]
  /** The sixty days to the table's: for each feed with evidence here, by day from the oldest, whether it listed the address ('1'), did not ('0'), did on some of these days, unknown which ('~'), or was not read as far as is known ('-'). */
  readonly strips: readonly {
    readonly feed: string
    readonly kind: string
    readonly since: string
    readonly until: string
    readonly days: string
  }[]
  readonly first_day: string
  readonly neighbours: {
    /** The /24; for IPv6 the /56, whose 256 /64s are looked up by their first address. */
    readonly prefix: string
    /** 256 cells in order: the addresses of the /24, or the /64s of the /56. */
    readonly cells: readonly {
      readonly ip: string
      readonly classification: string
      readonly risk_score: number
    }[]
  }
  /** What the answer would be: asked by `without` and `days`. */
  readonly what_if: { readonly risk_score: number; readonly classification: string } | null
}

/** GET /admin/network?of=AS24940, or a prefix. Of IPv6 `addresses` are /64s. */
export interface NetworkView {
  readonly of: string
  readonly name: string
  /** The previous table; `null` without one. */
  readonly against: string | null
  readonly ipv4: readonly {
    readonly classification: string
    readonly addresses: number
    /** By the previous table. */
    readonly before?: number
  }[]
  readonly ipv6: NetworkView['ipv4']
  readonly lists: AddressView['lists']
}

/** POST /admin/addresses {addresses: ["1.2.3.4", …] ≤ 10,000, policy?} → rows in the order asked; a bad one has `error`. */
export interface AddressRows {
  readonly rows: readonly (
    | {
        readonly ip: string
        readonly classification: string
        readonly risk_score: number
        readonly risk_level: string
        readonly asn: number
        readonly network: string
        readonly network_type: string
        readonly country: string
        readonly provider: string
        readonly reasons: readonly string[]
        readonly lists: readonly string[]
        readonly action: string
      }
    | { readonly ip: string; readonly error: string }
  )[]
}

/** GET /admin/traffic[?since=ISO]: a point a minute, 24 hours of them; the last one is of the minute that runs (ask with its `at` again). Minutes without a server are absent. */
export interface TrafficView {
  readonly minutes: readonly {
    readonly at: string
    readonly checks: number
    readonly classes: Readonly<Record<string, number>>
    /** Keyed by source: `check` (the API), `gate`, `bouncer`. */
    readonly sources: Readonly<Record<string, number>>
    /** Keyed by key id, the largest 8, estimated as `top` is. */
    readonly keys: Readonly<Record<string, number>>
    /** Keyed by tens of the score: 0–9, …, 90–100. */
    readonly scores: readonly number[]
    /** `policy/action` → count; empty without policies. */
    readonly decisions: Readonly<Record<string, number>>
    readonly statuses: Readonly<Record<string, number>>
    readonly limited: { readonly rate: number; readonly quota: number }
    /** Seconds; `null` without requests. */
    readonly latency: { readonly p50: number; readonly p90: number; readonly p99: number } | null
  }[]
  /** For the 24 hours before; `null` where the server has not counted that long. */
  readonly before: {
    readonly checks: number
    readonly decisions: Readonly<Record<string, number>>
  } | null
  /** For the last hour, the largest first, 20 each; `blocked` are networks that policies blocked: estimated from one check in 64 by a sketch of fixed size, at most `error` too many. */
  readonly top: Readonly<
    Record<
      'networks' | 'countries' | 'providers' | 'blocked' | 'keys',
      readonly { readonly name: string; readonly checks: number; readonly error: number }[]
    >
  >
}

export interface FeedsView {
  readonly table: string
  readonly as_of: string
  readonly feeds: readonly {
    readonly id: string
    readonly name: string
    readonly kind: string
    readonly day: string
    readonly age_days: number
    readonly entries: number
    /** The last sixty days' entries, oldest first; `null` for a day without the feed. */
    readonly history: readonly (number | null)[]
    readonly quarantined: string | null
    readonly licence: string
  }[]
  /** Feeds that the last build could not fetch or kept out, by the build report. */
  readonly failing: readonly { readonly id: string; readonly why: string }[]
  readonly coverage: Readonly<
    Record<string, { readonly state: string; readonly day: string | null }>
  >
}

/** GET /admin/table/changes: the live table compared with the previous one; 202 {status:"running"} until it is computed. */
export interface TableChanges {
  readonly table: string
  readonly against: string | null
  readonly status: 'running' | 'done' | 'none'
  readonly addresses_changed?: number
  readonly classes?: readonly {
    readonly from: string
    readonly to: string
    readonly addresses: number
  }[]
  readonly countries?: readonly { readonly name: string; readonly addresses: number }[]
  readonly networks?: readonly { readonly name: string; readonly addresses: number }[]
  /** The same for IPv6; its `addresses` are /64s. */
  readonly ipv6?: {
    readonly lines_changed: number
  } & Required<Pick<TableChanges, 'classes' | 'countries' | 'networks'>>
  readonly largest?: readonly {
    readonly prefix: string
    readonly from: string
    readonly to: string
    readonly score_from: number
    readonly score_to: number
  }[]
}

/** GET /admin/refresh, POST /admin/refresh (role admin; 202, or 409 `refresh_running`). */
export interface RefreshView {
  readonly running: boolean
  readonly stage: string | null
  readonly last: {
    readonly at: string
    /** done or failed */ readonly outcome: string
    readonly message: string
  } | null
}

/** POST /admin/rehearsals {policies?: {name: …}, policy?, and log: text ≤ 2 MB or sample: true} → 202 {id, status}, 409 while one runs; GET /admin/rehearsals/{id}. Role analyst. Without `policies` the live ones; otherwise these, compared with the live ones. */
export interface RunView<Report> {
  readonly id: string
  readonly status: 'running' | 'done' | 'failed'
  /** The last line of a build's output. */
  readonly stage?: string
  readonly message?: string
  readonly report?: Report
}

/** POST /admin/past-days {ip, day} and GET /admin/past-days/{id}, likewise: what `iprisk explain ADDRESS --at DAY --json` prints. `left_out`: feeds without a snapshot up to that day. */
export type PastDay = CheckAnswer & {
  readonly insights: Insights
  readonly left_out: readonly string[]
}

/** Requests, and their share of all requests that named an address. */
export interface RequestShare {
  readonly requests: number
  readonly percent: number
}

export interface HitLists {
  readonly networks: readonly ({
    readonly asn: number
    readonly organization: string
  } & RequestShare)[]
  readonly providers: readonly ({ readonly provider: string } & RequestShare)[]
  readonly countries: readonly ({
    readonly country_code: string
    readonly country: string
  } & RequestShare)[]
}

export type FromTo = { readonly from: string; readonly to: string } & RequestShare

export interface ExampleFacts {
  readonly classification: string
  readonly risk_score: number
  readonly reasons: readonly string[]
  readonly provider: string
  readonly asn: number
  readonly organization: string
  readonly country_code: string
}

/** What `iprisk policy test --json` prints. */
export interface RehearsalReport {
  readonly table: { readonly id: string; readonly as_of: string }
  readonly policy: string
  readonly revision: string
  readonly against?: { readonly policy: string; readonly revision: string }
  readonly lines: number
  readonly requests: number
  /** Lines that should have an address and do not. */
  readonly bad_lines: number
  readonly actions: readonly ({ readonly action: string } & RequestShare)[]
  /** In the policy's order; the last has the rule `""` and counts what no rule decided. */
  readonly rules: readonly ({
    readonly rule: string
    readonly action: string
    /** Absent unless the rule is only observed: requests to which it would give another action. */
    readonly would_change?: number
  } & RequestShare)[]
  /** Requests that get another action than from the other policy. */
  readonly changed?: RequestShare & { readonly by_action: readonly FromTo[] }
  /** For requests whose action changes; without another policy, for those not allowed. */
  readonly hit: HitLists
  readonly examples: readonly RehearsedExample[]
}

type RehearsedExample = { readonly ip: string; readonly requests: number } & ExampleFacts & {
    readonly action: string
    readonly rule: string
    readonly action_before?: string
    readonly rule_before?: string
  }

/** POST /admin/policies {policies, revision: that of GET /admin/policies `status`, null without a file, file_tag: as there} → 200 {revision, file_tag}; 409 `policies_changed` if the file has changed since; 400 {error, mistakes}. POST /admin/policies/check: {revision, names, mistakes}. Role admin to save, viewer to check. */

/** GET /admin/audit?limit=100&before=…, `before` the `at` of the last row known; newest first. */
export interface AuditView {
  readonly rows: readonly {
    readonly at: string
    readonly who: string
    readonly via: string
    readonly act: string
    readonly what: string
  }[]
}

/**
 * GET /admin/keys, newest first, at most 2,000. POST /admin/keys {name?, plan, rate?, burst?,
 * quota?, policies?, test?, expires?: "90d" or a day} → 201 KeyIssued; POST /admin/keys/{id}/rotate
 * {grace_hours?} → KeyIssued; DELETE /admin/keys/{id} → {id, revoked, in_effect}. Role admin only.
 */
export interface KeysView {
  readonly total: number
  readonly plans: readonly string[]
  /** Invalid records, one sentence each; the first twenty. */
  readonly skipped: readonly string[]
  readonly keys: readonly {
    readonly id: string
    readonly name: string
    readonly plan: string
    readonly state: 'live' | 'expired' | 'revoked'
    readonly test: boolean
    readonly created: string
    readonly last_used: string | null
    readonly revoked: string | null
    readonly expires: string | null
    readonly per_second: number | null
    readonly quota: number | null
    readonly used: number
    readonly policies: readonly string[]
  }[]
}

export interface KeyIssued {
  readonly id: string
  readonly key: string
  /** After a rotation: until when the old secret works; `null` if it ended at once. */
  readonly old_secret_until?: string | null
  /** For a new key: what may not be intended, a sentence each. */
  readonly cautions?: readonly string[]
  readonly in_effect: boolean
}

/** For every refused request: the text is for people, the code for programs. */
export interface ConsoleError {
  readonly error: {
    /** From the login: `wrong_token`, `too_many_logins`, `no_admin_token` (the server has none: the message says how to make one), `link_spent`; later `no_session` (also if the header `x-iprisk-csrf` is missing or wrong), `forbidden_role`. */
    readonly code: string
    readonly message: string
  }
}

export interface PoliciesStatus {
  readonly path: string
  /** A hash: machines with the same one decide alike. */
  readonly revision: string
  readonly names: readonly string[]
  /** Warnings about the file in use, each with its place. */
  readonly warnings: readonly string[]
  /** Why a changed file is not in use, or that it is missing; null while the file is in use. */
  readonly last_failure: { readonly at: string; readonly reason: string } | null
}

export interface SampleStatus {
  /** The most checks it holds, each of a different address (IPv6: /64). */
  readonly size: number
  readonly checks: number
  /** The day of its oldest check; null while it is empty. */
  readonly since: string | null
}

/** GET /admin/sets: the published sets as last made; a set is made when it is read. */
export interface SetsView {
  /** The prefix of the names, `http://0.0.0.0:8080/lists/`. */
  readonly url: string
  readonly formats: readonly string[]
  /** The first plan whose keys may read sets. */
  readonly plan: string | null
  readonly sets: readonly {
    readonly name: string
    readonly condition: string
    readonly built_in: boolean
    readonly made: SetMade | null
  }[]
}

/** Counts are of prefixes. */
export interface SetMade {
  readonly at: string
  readonly prefixes: number
  /** `null` if it is too large, or an earlier version made it. */
  readonly ipv4: number | null
  readonly too_large: boolean
  /** Since the previous generation; `null` if none is kept. */
  readonly growth: number | null
  /** Keyed by the formats requested: `plain`, `mmdb.iprisk`. */
  readonly bytes: Readonly<Record<string, number>>
}

/** POST /admin/sets/try {condition}: 400 `invalid_input` with the place of a mistake, 422 `set_too_large`. Role analyst. IPv6 `addresses` are /64s. */
export type SetTrial = Readonly<
  Record<
    'ipv4' | 'ipv6',
    {
      readonly prefixes: number
      readonly addresses: number
      /** Keyed by organization, the largest first. */
      readonly networks: readonly { readonly name: string; readonly addresses: number }[]
    }
  >
>

/** A key: every member of its record except the hashes of its secrets. */
export interface KeySummary {
  readonly name: string
  readonly plan: string
  readonly apis: readonly string[]
  readonly created_at: string
  readonly expires: string | null
  readonly revoked_at: string | null
  readonly rate: number | null
  readonly burst: number | null
  readonly quota: number | null
  /** The policies it may choose, its default first; null: only the one named default. */
  readonly policies: readonly string[] | null
  /** Present only for test keys. */
  readonly test?: true | undefined
  readonly secrets: readonly { readonly created_at: string; readonly expires_at: string | null }[]
}

/** Carries the session's text in every request of the page, reads included. */
export const csrfHeader = 'x-iprisk-csrf'
