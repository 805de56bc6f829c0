// Generated from the OpenAPI document by deploy/reference/client-types.ts; not to be changed by hand.
// Clients must ignore members that they do not know, and values of open-ended texts.

export const checkPath = '/v1/intelligence/ip-risk/check'
export const batchPath = '/v1/intelligence/ip-risk/check/batch'
export const batchAddressesMax = 10000

/** Who the visitor is; absent unless the check has `agent`. */
export interface Agent {
  /** `spoofed`: the operator publishes its ranges, and the address is not in them. */
  readonly status: 'verified' | 'spoofed' | 'unverified' | 'unknown'
  /** The agent: `Googlebot`; empty if unknown. */
  readonly name: string
  /** Its operator. */
  readonly operator: string
  /** Its purpose. */
  readonly category:
    | 'search_crawler'
    | 'ai_tool'
    | 'advertising'
    | 'archive'
    | 'monitoring'
    | 'preview'
    | 'seo'
    | 'other'
    | ''
  /** The proof; empty unless verified. */
  readonly identified_by: 'signature' | 'published_range' | ''
  /** URL of the directory with the signing key, or empty. */
  readonly directory: string
}

/** Who the visitor claims to be; at most 8 KiB, `user_agent` at most 1 KiB. */
export interface AgentRequest {
  /** The visitor's header `User-Agent`. */
  readonly user_agent?: string
  /** The visitor's request, if it is signed (Web Bot Auth, RFC 9421). */
  readonly signature?: {
    /** The HTTP method. */
    readonly method: string
    /** `https` or `http`. */
    readonly scheme: string
    /** The host that the visitor requested, with its port if any. */
    readonly authority: string
    /** With the query: `/login?next=%2F`. */
    readonly path: string
    /** The three headers of a signed request. */
    readonly headers: {
      /** The header, as the visitor sent it. */
      readonly signature: string
      /** The header, as the visitor sent it. */
      readonly 'signature-input': string
      /** The header, as the visitor sent it. */
      readonly 'signature-agent': string
    }
  }
}

/** The results, one row per element of the request. */
export interface BatchAnswer {
  /** One row per element, in order. */
  readonly results: readonly (CheckAnswer | BatchError)[]
}

/** The row of an invalid element. */
export interface BatchError {
  /** The element of `ips` as sent, or its JSON if it is not a string; the `ip` of an element of `checks`, empty if that is not a string. */
  readonly ip: string
  /** Why this element was not answered. */
  readonly error: {
    /** Always `invalid_input`. */
    readonly code: 'invalid_input'
    /** What is wrong with the element. */
    readonly message: string
    /** The member at fault in an element of `checks`. */
    readonly param?: string
  }
}

/** The addresses to check: `ips` or `checks`, not both. */
export interface BatchRequest {
  /** The addresses. */
  readonly ips?: readonly string[]
  /** Instead of `ips`: bodies of checks, each with its own policy. */
  readonly checks?: readonly CheckRequest[]
  /** The policy to apply, if the key allows it; the key's default without it. */
  readonly policy?: string
}

/** The known bot; null if there is none. */
export interface Bot {
  /** How sure the match is. */
  readonly confidence: 'low' | 'medium' | 'high'
  /** The product or its operator: `Googlebot`. */
  readonly provider: string
  /** What the bot is for. */
  readonly category: 'search_crawler' | 'ai_tool'
}

/** What to do with an address or a prefix. */
export interface BouncerDecision {
  /** In the stream, the same for a prefix and decision in every pull. */
  readonly id: number
  /** Always `lists:iprisk`. */
  readonly origin: string
  /** `ban` for `block`, `captcha` for `challenge`, any other action as it is. */
  readonly type: string
  /** `Ip`, or `Range` for a prefix. */
  readonly scope: string
  /** The address or prefix. */
  readonly value: string
  /** How long to apply it, as in `0h5m0s`. */
  readonly duration: string
  /** `iprisk/` and the rule of the policy. */
  readonly scenario: string
}

/** The body of every error response to a bouncer. */
export interface BouncerError {
  /** What is wrong and what to do. */
  readonly error: {
    /** Stable; branch on this. */
    readonly code:
      | 'invalid_input'
      | 'invalid_api_key'
      | 'api_not_enabled_for_plan'
      | 'token_not_allowed_for_api'
      | 'not_found'
      | 'method_not_allowed'
      | 'payload_too_large'
      | 'set_too_large'
      | 'rate_limit_exceeded'
      | 'api_quota_exceeded'
      | 'internal_error'
      | 'upstream_unavailable'
    /** For people; the wording may change. */
    readonly message: string
    /** The member or query parameter at fault, if any. */
    readonly param?: string
    /** Path of the documentation of the code, below /docs. */
    readonly doc_url: string
    /** Also in X-Request-Id and in the server's log. */
    readonly request_id: string
  }
  /** That of `error`, where bouncers read it. */
  readonly message: string
}

/** What is known about an address. */
export interface CheckAnswer {
  /** The main result. */
  readonly classification:
    | 'bogon'
    | 'clean'
    | 'known_bot'
    | 'hosting'
    | 'proxy'
    | 'vpn'
    | 'tor'
    | 'residential_proxy'
    | 'mixed'
  /** The band of `risk_score`. */
  readonly risk_level: 'low' | 'medium' | 'high' | 'very_high' | 'critical'
  /** From 0, no known risk, to 100. */
  readonly risk_score: number
  /** The address as sent. */
  readonly ip: string
  /** The IP version of the address. */
  readonly version: 4 | 6
  /** Canonical form of the checked address; absent if `ip` has that form. */
  readonly address?: string
  readonly network: Network | null
  readonly location: Location | null
  readonly proxy: Proxy | null
  readonly bot: Bot | null
  /** Independent facts about the address. */
  readonly signals: {
    readonly bogon: boolean
    readonly proxy: boolean
    readonly vpn: boolean
    readonly tor: boolean
    readonly hosting: boolean
    readonly residential_proxy: boolean
    readonly blocklist_match: boolean
    readonly relay: boolean
    readonly mobile: boolean
  }
  /** Codes that explain the score. */
  readonly reasons: readonly string[]
  /** Id of the table that answered. */
  readonly table: string
  readonly coverage?: Coverage
  /** The operator's own lists that match; absent if none does. */
  readonly lists?: readonly string[]
  /** The decision of the policy; absent if the service has none. */
  readonly decision?: {
    /** The rule's action. Operators may define others. */
    readonly action: string
    /** The rule that matched; empty if none did. */
    readonly rule: string
    /** The policy that was applied. */
    readonly policy: string
  }
  /** Observed rules that match, without effect on the decision; absent if none does. */
  readonly observed?: readonly string[]
  /** With `include=prefix`: the widest prefix around the address for which this answer holds. Absent in answers with context, which hold for their request alone. */
  readonly prefix?: string
  /** One for each kind present, strongest first; only with `include=detections`. */
  readonly detections?: readonly Detection[]
  readonly travel?: Travel
  readonly agent?: Agent
  /** Absent if there are none. */
  readonly context_errors?: readonly {
    /** The member at fault: `previous.at`. */
    readonly param: string
    /** What is wrong with it. */
    readonly message: string
  }[]
  /** With `?include=insights`; null if the plan has none or the table is too old. */
  readonly insights?: Insights | null
}

/** The address to check. */
export interface CheckRequest {
  /** One IPv4 or IPv6 address, without zone, brackets, prefix length or white space. */
  readonly ip: string
  /** The policy to apply, if the key allows it; the key's default without it. */
  readonly policy?: string
  readonly previous?: Previous
  readonly agent?: AgentRequest
}

/** Gaps of the table; absent if it covers every kind and is not old. */
export interface Coverage {
  /** Kinds without a recent enough feed in the table. */
  readonly missing: readonly (
    'tor' | 'vpn' | 'proxy' | 'residential_proxy' | 'hosting' | 'bot' | 'blocklist'
  )[]
  /** Kinds covered only by hand-maintained tables or incomplete feeds. */
  readonly partly: readonly (
    'tor' | 'vpn' | 'proxy' | 'residential_proxy' | 'hosting' | 'bot' | 'blocklist'
  )[]
  /** Days since the day of the table; only present above 7. */
  readonly age_days?: number
}

/** The changes since the last pull of this key. */
export interface DecisionStream {
  /** Decisions to add; null without any. */
  readonly new: readonly BouncerDecision[] | null
  /** Decisions to end; null without any. */
  readonly deleted: readonly BouncerDecision[] | null
}

/** The finding of one kind of evidence. */
export interface Detection {
  /** What the evidence says. */
  readonly kind:
    'tor' | 'vpn' | 'proxy' | 'residential_proxy' | 'hosting' | 'bot' | 'blocklist' | 'relay'
  /** The operator; empty if unknown. */
  readonly provider: string
  /** How sure the finding is. */
  readonly confidence: 'low' | 'medium' | 'high'
  /** First day of the evidence, UTC. */
  readonly first_seen: string
  /** Last day, UTC. */
  readonly last_seen: string
  /** Share of recent days on which it was listed. */
  readonly percent_days_seen: number
}

/** The body of every error response. */
export interface Error {
  /** What is wrong and what to do. */
  readonly error: {
    /** Stable; branch on this. */
    readonly code:
      | 'invalid_input'
      | 'invalid_api_key'
      | 'api_not_enabled_for_plan'
      | 'token_not_allowed_for_api'
      | 'not_found'
      | 'method_not_allowed'
      | 'payload_too_large'
      | 'set_too_large'
      | 'rate_limit_exceeded'
      | 'api_quota_exceeded'
      | 'internal_error'
      | 'upstream_unavailable'
    /** For people; the wording may change. */
    readonly message: string
    /** The member or query parameter at fault, if any. */
    readonly param?: string
    /** Path of the documentation of the code, below /docs. */
    readonly doc_url: string
    /** Also in X-Request-Id and in the server's log. */
    readonly request_id: string
  }
}

/** Confirms what was stored. */
export interface FeedbackAnswer {
  /** Number of outcomes stored: all of those in the request. */
  readonly accepted: number
}

/** Outcomes of addresses. */
export interface FeedbackRequest {
  /** The outcomes. */
  readonly outcomes: readonly {
    /** The address. */
    readonly ip: string
    /** What the traffic from it turned out to be. */
    readonly outcome: 'legitimate' | 'abusive'
    /** When it was seen: an RFC 3339 time with a zone, or a day. Default: now. */
    readonly at?: string
    /** A reason, or a reference of your own. */
    readonly note?: string
    /** Your id of the login: outcomes with the same one count once. */
    readonly request_id?: string
  }[]
}

/** Explains an answer. */
export interface Insights {
  /** The table that answered. */
  readonly table: {
    /** As in the member table of the answer. */
    readonly id: string
    /** When the table file was written. */
    readonly built_at: string
    /** The day that counts as today in it, UTC. */
    readonly as_of: string
  }
  /** Lowest and highest score, given the uncertainty of the weights. */
  readonly score_range: readonly [number, number]
  /** Each part of the score, with its points. */
  readonly reasons: readonly {
    /** Stable code, as in reasons. */
    readonly code: string
    /** The code, explained in one sentence. */
    readonly text: string
    /** The points of all reasons add up to risk_score. */
    readonly points: number
  }[]
  /** Which feed lists what, and since when. */
  readonly evidence: readonly {
    /** Name in the catalogue. */
    readonly feed: string
    /** What it claims. */
    readonly kind:
      'tor' | 'vpn' | 'proxy' | 'residential_proxy' | 'hosting' | 'bot' | 'blocklist' | 'relay'
    /** The operator that it names; empty if it names none. */
    readonly provider: string
    /** Address, prefix or range that the feed lists; `AS64496` for a whole AS. */
    readonly matched: string
    /** How it matches the address. */
    readonly match: 'exact' | 'range' | 'as' | 'near'
    /** The first day on which the feed listed it. */
    readonly first_seen: string
    /** The last such day. */
    readonly last_seen: string
    /** Days out of the last 30 on which the feed listed it. */
    readonly days_seen: number
    /** Days out of the last 30 with a snapshot of the feed. */
    readonly days_observed: number
    /** The confidence that this evidence alone would give. */
    readonly confidence: 'low' | 'medium' | 'high'
    /** How much the feed counts. */
    readonly weight: number
    /** For blocklists, the number of lists that name it; otherwise 1. */
    readonly lists: number
    /** The licence of the feed. */
    readonly licence: string
  }[]
  /** What is listed around the address. */
  readonly neighborhood: readonly {
    /** `192.0.2.0/24`, `AS64496`. */
    readonly scope: string
    /** What is counted. IPv6 is counted in /64s, one per customer line. */
    readonly unit: 'address' | '/64'
    /** Number of units in the scope. */
    readonly size: number
    /** What is listed in the scope, by kind. */
    readonly listed: readonly {
      /** What the feeds claim. */
      readonly kind:
        'tor' | 'vpn' | 'proxy' | 'residential_proxy' | 'hosting' | 'bot' | 'blocklist' | 'relay'
      /** Number listed, in the scope's unit. */
      readonly listed: number
      /** Percentage of the scope. */
      readonly percent: number
      /** `percent` over that of the AS; null for the AS itself or an unknown AS. */
      readonly times_asn: number | null
    }[]
  }[]
  /** What would change the answer. */
  readonly counterfactuals: {
    /** The answer without each feed. */
    readonly without_feed: readonly {
      /** The feed left out. */
      readonly feed: string
      /** The classification without it. */
      readonly classification:
        | 'bogon'
        | 'clean'
        | 'known_bot'
        | 'hosting'
        | 'proxy'
        | 'vpn'
        | 'tor'
        | 'residential_proxy'
        | 'mixed'
      /** The level without it. */
      readonly risk_level: 'low' | 'medium' | 'high' | 'very_high' | 'critical'
      /** The score without it. */
      readonly risk_score: number
    }[]
    /** When the score falls below each level. */
    readonly falls_below: readonly {
      /** The level. */
      readonly risk_level: 'low' | 'medium' | 'high' | 'very_high' | 'critical'
      /** First day below it if nothing is seen again; null if never. */
      readonly day: string | null
    }[]
  }
  /** Other classifications with evidence. */
  readonly alternatives: readonly {
    /** Another classification with evidence. */
    readonly classification:
      | 'bogon'
      | 'clean'
      | 'known_bot'
      | 'hosting'
      | 'proxy'
      | 'vpn'
      | 'tor'
      | 'residential_proxy'
      | 'mixed'
    /** Strength of the evidence; 0.25 sets the signal. */
    readonly strength: number
    /** How sure it is. */
    readonly confidence: 'low' | 'medium' | 'high'
  }[]
}

/** Where the address is; null if the country is unknown. Unknown text is empty. */
export interface Location {
  /** ISO 3166-1: `DE`. */
  readonly country_code: string
  /** `AF`, `AN`, `AS`, `EU`, `NA`, `OC` or `SA`. */
  readonly continent_code: string
  /** English name. */
  readonly continent: string
  /** English name. */
  readonly country: string
  /** State or region. */
  readonly state: string
  /** City. */
  readonly city: string
  /** Postal code. */
  readonly zip: string
  /** Degrees north, up to four decimals. */
  readonly latitude: number
  /** Degrees east, up to four decimals. */
  readonly longitude: number
  /** IANA name, or empty. */
  readonly timezone: string
  /** ISO 4217: `EUR`. */
  readonly currency_code: string
  /** How precise the location is. */
  readonly accuracy: 'city' | 'region' | 'country'
}

/** Table, feeds, thresholds, value lists, policies and the limits of the key. */
export interface Meta {
  /** The table that answers. */
  readonly table: {
    /** As in the `table` member of every answer. */
    readonly id: string
    /** The day that counts as today in the table, UTC. */
    readonly as_of: string
    /** Seconds since that day. */
    readonly age_seconds: number
    /** Size of the file. */
    readonly bytes: number
  }
  /** Which kinds the feeds of the table cover. */
  readonly coverage: {
    /** Kinds without a recent enough feed in the table. */
    readonly missing: readonly (
      'tor' | 'vpn' | 'proxy' | 'residential_proxy' | 'hosting' | 'bot' | 'blocklist'
    )[]
    /** Kinds covered only by hand-maintained tables or incomplete feeds. */
    readonly partly: readonly (
      'tor' | 'vpn' | 'proxy' | 'residential_proxy' | 'hosting' | 'bot' | 'blocklist'
    )[]
    /** Days since the day of the table. */
    readonly age_days: number
    /** One entry for each kind. */
    readonly kinds: readonly {
      /** What its feeds claim about an address. */
      readonly kind: 'tor' | 'vpn' | 'proxy' | 'residential_proxy' | 'hosting' | 'bot' | 'blocklist'
      /** How well the feeds of the table cover the kind. */
      readonly state: 'full' | 'partly' | 'missing'
      /** The newest day of its feeds; null without a feed. */
      readonly newest: string | null
      /** Number of IPv4 addresses that its feeds list. */
      readonly addresses: number
    }[]
  }
  /** The feeds of the table. */
  readonly feeds: readonly {
    /** Name in the catalogue. */
    readonly id: string
    /** What it claims about an address. */
    readonly kind: string
    /** Publisher. */
    readonly provider: string
    /** SPDX identifier, or the publisher's own words. */
    readonly licence: string
    /** Web page of the feed. */
    readonly homepage: string
    /** The day of the snapshot in the table. */
    readonly day: string
    /** Seconds since that day. */
    readonly age_seconds: number
    /** Number of its entries in the table. */
    readonly entries: number
  }[]
  /** The score range of each level. */
  readonly thresholds: readonly {
    /** The level. */
    readonly risk_level: 'low' | 'medium' | 'high' | 'very_high' | 'critical'
    /** Its lowest score. */
    readonly risk_score_min: number
    /** Its highest score. */
    readonly risk_score_max: number
  }[]
  /** The values of each enumeration in an answer. */
  readonly values: {
    /** Its values. */
    readonly classification: readonly string[]
    /** Its values. */
    readonly risk_level: readonly string[]
    /** Its values. */
    readonly confidence: readonly string[]
    /** Its values. */
    readonly network_type: readonly string[]
    /** Its values. */
    readonly proxy_type: readonly string[]
    /** Its values. */
    readonly bot_category: readonly string[]
    /** Its values. */
    readonly signal: readonly string[]
    /** Its values. */
    readonly location_accuracy: readonly string[]
    /** Its values. */
    readonly travel_doubt: readonly string[]
  }
  /** Null if the service has no policies. */
  readonly policies: {
    /** A hash; servers with the same revision decide alike. */
    readonly revision: string
    /** The policies that a request with this key may name. */
    readonly names: readonly string[]
    /** The policy applied if a request names none. */
    readonly default: string
  } | null
  /** The key of the request. */
  readonly key: {
    /** The public part of the key. */
    readonly id: string
    /** Its plan. */
    readonly plan: string
    /** The APIs that it may call. */
    readonly apis: readonly string[]
    /** `never`, `on_request` or `always`. */
    readonly insights: string
    /** The limits of the key; null means unlimited. */
    readonly limits: {
      /** The rate limit. */
      readonly rate: {
        /** Requests per second, on average. */
        readonly per_second: number
        /** Requests in one burst. */
        readonly burst: number
        /** What is left now. */
        readonly remaining: number
        /** Seconds until the full burst is available. */
        readonly reset_seconds: number
      } | null
      /** The quota. */
      readonly quota: {
        /** Answers per calendar month, UTC. */
        readonly per_month: number
        /** What is left now. */
        readonly remaining: number
        /** Seconds until the full burst is available. */
        readonly reset_seconds: number
      } | null
    }
  }
}

/** The network that announces the address; null without an AS. */
export interface Network {
  /** Number of the AS that announces the address. */
  readonly asn: number
  /** Who owns the network; empty if unknown. */
  readonly organization: string
  /** What the network is used for. New types may be added. */
  readonly type: string
  /** The traffic looks like mobile traffic. */
  readonly mobile: boolean
}

/** Asks for `travel`; ignored and reported in `context_errors` if it is invalid. */
export interface Previous {
  /** The previous address of the same user. */
  readonly ip: string
  /** When it was used: RFC 3339, at most 60 seconds in the future. */
  readonly at: string
}

/** The proxy, VPN, Tor exit or host behind the address; null if there is none. */
export interface Proxy {
  /** How sure the finding is. */
  readonly confidence: 'low' | 'medium' | 'high'
  /** The kind of proxy. */
  readonly type: 'proxy' | 'vpn' | 'tor' | 'data_center' | 'residential'
  /** The operator or hosting company; empty if unknown. */
  readonly provider: string
  /** The last day on which a feed listed the address, UTC. */
  readonly last_seen_at: string
  /** Percentage of recent days on which it was listed. */
  readonly percent_days_seen: number
}

/** Distance and speed from `previous`; absent if the check has none. */
export interface Travel {
  /** Both addresses have a location; else the rest is empty. */
  readonly known: boolean
  /** The shortest distance, given the accuracy of both. */
  readonly km: number
  /** From `previous.at` to now, at least one minute. */
  readonly hours: number
  /** `km` divided by `hours`. */
  readonly kmh: number
  /** Both are in the same country. */
  readonly same_country: boolean
  /** The same AS announces both. */
  readonly same_asn: boolean
  /** Both are likely to be locations of the user. */
  readonly reliable: boolean
  /** Facts about either address that make it unreliable. */
  readonly unreliable_because: readonly (
    | 'relay'
    | 'vpn'
    | 'tor'
    | 'proxy'
    | 'hosting'
    | 'satellite'
    | 'mobile'
    | 'cdn'
    | 'corporate_egress'
    | 'country_only'
  )[]
}
