// Generated from the OpenAPI document by deploy/reference/client-types.ts; not to be changed by hand.
// Clients must ignore members that they do not know, and values of open-ended texts.

export const checkPath = '/v1/intelligence/ip-risk/check'
export const batchPath = '/v1/intelligence/ip-risk/check/batch'
export const batchAddressesMax = 10000

/** A row for each element of the request. */
export interface BatchAnswer {
  /** One for each element, in their order. */
  readonly results: readonly (CheckAnswer | BatchError)[]
}

/** The row of an element that is wrong. */
export interface BatchError {
  /** The element of `ips` as sent, or its JSON where it is no string; the `ip` of an element of `checks`, empty where that is no string. */
  readonly ip: string
  /** Why this element has no answer. */
  readonly error: {
    /** Always this one. */
    readonly code: 'invalid_input'
    /** What is wrong with the element. */
    readonly message: string
    /** The member of an element of `checks` that is wrong. */
    readonly param?: string
  }
}

/** The addresses to be checked: `ips` or `checks`, not both. */
export interface BatchRequest {
  /** The addresses. */
  readonly ips?: readonly string[]
  /** In place of `ips`: bodies of checks, each with a policy of its own. */
  readonly checks?: readonly CheckRequest[]
  /** The policy that decides, where the key allows it; the key's default without it. */
  readonly policy?: string
}

/** The known bot; null where it is none. */
export interface Bot {
  /** How sure the match is. */
  readonly confidence: 'low' | 'medium' | 'high'
  /** The product, or who runs it: `Googlebot`. */
  readonly provider: string
  /** What the bot is for. */
  readonly category: 'search_crawler' | 'ai_tool'
}

/** What is known of an address. */
export interface CheckAnswer {
  /** The one main word of the answer. */
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
  /** The band of risk_score, and of nothing else. */
  readonly risk_level: 'low' | 'medium' | 'high' | 'very_high' | 'critical'
  /** 0, nothing speaks against the address, to 100. */
  readonly risk_score: number
  /** The address as sent. */
  readonly ip: string
  /** The IP version of the address. */
  readonly version: 4 | 6
  /** Canonical text of what was judged, where `ip` is another text. */
  readonly address?: string
  readonly network: Network | null
  readonly location: Location | null
  readonly proxy: Proxy | null
  readonly bot: Bot | null
  /** What is known, each by itself. */
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
  /** Why the score is what it is. */
  readonly reasons: readonly string[]
  /** Id of the table that answered. */
  readonly table: string
  readonly coverage?: Coverage
  /** Names of the operator's own lists that match; absent where none does. */
  readonly lists?: readonly string[]
  /** Where the service has policies: what the chosen one decides. */
  readonly decision?: {
    /** The rule's action; an operator may have more words. */
    readonly action: string
    /** The rule that decided; empty where none did. */
    readonly rule: string
    /** The policy that was asked. */
    readonly policy: string
  }
  /** Rules in observation that hold; they decide nothing. Absent where none does. */
  readonly observed?: readonly string[]
  /** With `include=prefix`: the widest prefix around the address for which this answer holds. Absent in answers with context, which hold for their request alone. */
  readonly prefix?: string
  readonly travel?: Travel
  /** Absent where nothing is wrong. */
  readonly context_errors?: readonly {
    /** The member that is wrong: `previous.at`. */
    readonly param: string
    /** What is wrong with it. */
    readonly message: string
  }[]
  /** With `?include=insights`; null where the plan has none, or the table is too old. */
  readonly insights?: Insights | null
}

/** The address to be checked. */
export interface CheckRequest {
  /** One IPv4 or IPv6 address, without zone, brackets, prefix length or white space. */
  readonly ip: string
  /** The policy that decides, where the key allows it; the key's default without it. */
  readonly policy?: string
  readonly previous?: Previous
}

/** What the table does not know; absent where it covers every kind and is not old. */
export interface Coverage {
  /** Kinds of which the table has no feed that is young enough. */
  readonly missing: readonly (
    'tor' | 'vpn' | 'proxy' | 'residential_proxy' | 'hosting' | 'bot' | 'blocklist'
  )[]
  /** Kinds that only hand-kept tables or feeds cut short cover. */
  readonly partly: readonly (
    'tor' | 'vpn' | 'proxy' | 'residential_proxy' | 'hosting' | 'bot' | 'blocklist'
  )[]
  /** Days from the day of the table to the clock; only where they are more than 7. */
  readonly age_days?: number
}

/** What the server answers where it does not answer the question. */
export interface Error {
  /** What is wrong, and what to do. */
  readonly error: {
    /** Stable; programs decide by it. */
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
    /** What is wrong, and what to do. For people: it may change. */
    readonly message: string
    /** The member of the body, or of the query, that is wrong, where one is. */
    readonly param?: string
    /** Where the code is described: a path below /docs. */
    readonly doc_url: string
    /** Also in X-Request-Id, and in the server's log. */
    readonly request_id: string
  }
}

/** What was kept of the report. */
export interface FeedbackAnswer {
  /** How many outcomes were kept: all of the request. */
  readonly accepted: number
}

/** How addresses turned out. */
export interface FeedbackRequest {
  /** What is reported. */
  readonly outcomes: readonly {
    /** The address. */
    readonly ip: string
    /** What the traffic from it turned out to be. */
    readonly outcome: 'legitimate' | 'abusive'
    /** When it was seen, RFC 3339 with a zone, or a day; now by default. */
    readonly at?: string
    /** Why, or a reference of yours. */
    readonly note?: string
  }[]
}

/** Why an answer is what it is. */
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
  /** Least and greatest score by the uncertainty of the weights. */
  readonly score_range: readonly [number, number]
  /** Each part of the score, with its points. */
  readonly reasons: readonly {
    /** Stable code, as in reasons. */
    readonly code: string
    /** The code in one sentence. */
    readonly text: string
    /** The points of all reasons add up to risk_score. */
    readonly points: number
  }[]
  /** Which feed says what, since when. */
  readonly evidence: readonly {
    /** Its name in the catalogue. */
    readonly feed: string
    /** What it claims. */
    readonly kind:
      'tor' | 'vpn' | 'proxy' | 'residential_proxy' | 'hosting' | 'bot' | 'blocklist' | 'relay'
    /** Whom it names; empty where it names none. */
    readonly provider: string
    /** Address, prefix or range that the feed lists; `AS64496` for a whole AS. */
    readonly matched: string
    /** How it meets the address. */
    readonly match: 'exact' | 'range' | 'as' | 'near'
    /** The first day on which the feed listed it. */
    readonly first_seen: string
    /** The newest one. */
    readonly last_seen: string
    /** Of the last 30 days, those on which the feed listed it. */
    readonly days_seen: number
    /** Of the last 30 days, those with a snapshot of the feed. */
    readonly days_observed: number
    /** What this piece alone would give its finding. */
    readonly confidence: 'low' | 'medium' | 'high'
    /** How much the feed's word counts. */
    readonly weight: number
    /** Of a blocklist: how many lists name it; 1 elsewhere. */
    readonly lists: number
    /** The licence of the feed. */
    readonly licence: string
  }[]
  /** What is listed around the address. */
  readonly neighborhood: readonly {
    /** `192.0.2.0/24`, `AS64496`. */
    readonly scope: string
    /** What is counted: IPv6 is counted by /64, a customer's line. */
    readonly unit: 'address' | '/64'
    /** How many there are. */
    readonly size: number
    /** What of them is listed, by kind. */
    readonly listed: readonly {
      /** What is claimed. */
      readonly kind:
        'tor' | 'vpn' | 'proxy' | 'residential_proxy' | 'hosting' | 'bot' | 'blocklist' | 'relay'
      /** In the scope's unit. */
      readonly listed: number
      /** Of the scope's size. */
      readonly percent: number
      /** percent over that of the whole AS; null for the AS itself and an unknown AS. */
      readonly times_asn: number | null
    }[]
  }[]
  /** What the answer would be if something were otherwise. */
  readonly counterfactuals: {
    /** The answer without each feed. */
    readonly without_feed: readonly {
      /** The feed that is left out. */
      readonly feed: string
      /** What the answer would be then. */
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
      /** Its level. */
      readonly risk_level: 'low' | 'medium' | 'high' | 'very_high' | 'critical'
      /** Its score. */
      readonly risk_score: number
    }[]
    /** When the score falls by itself. */
    readonly falls_below: readonly {
      /** The level that it falls below. */
      readonly risk_level: 'low' | 'medium' | 'high' | 'very_high' | 'critical'
      /** The first day, if nothing is seen again; null: never. */
      readonly day: string | null
    }[]
  }
  /** What else the address might be. */
  readonly alternatives: readonly {
    /** Another class that has evidence. */
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
    /** How strong that evidence is; 0.25 makes a signal. */
    readonly strength: number
    /** How sure it is. */
    readonly confidence: 'low' | 'medium' | 'high'
  }[]
}

/** Where the address is; null without a country. Text that is unknown is empty. */
export interface Location {
  /** ISO 3166-1: `DE`. */
  readonly country_code: string
  /** `AF`, `AN`, `AS`, `EU`, `NA`, `OC` or `SA`. */
  readonly continent_code: string
  /** Its name in English. */
  readonly continent: string
  /** Its name in English. */
  readonly country: string
  /** State or region. */
  readonly state: string
  /** The name of the city. */
  readonly city: string
  /** Postal code. */
  readonly zip: string
  /** Degrees north, at most four decimals. */
  readonly latitude: number
  /** Degrees east, at most four decimals. */
  readonly longitude: number
  /** IANA name, or empty. */
  readonly timezone: string
  /** ISO 4217: `EUR`. */
  readonly currency_code: string
  /** What the coordinates are the point of. */
  readonly accuracy: 'city' | 'region' | 'country'
}

/** What the service knows, and what the asking key may do. */
export interface Meta {
  /** The table that answers. */
  readonly table: {
    /** As in the member table of every answer. */
    readonly id: string
    /** The day that counts as today in the table, UTC. */
    readonly as_of: string
    /** From that day to the clock. */
    readonly age_seconds: number
    /** The size of the file. */
    readonly bytes: number
  }
  /** Which kinds the feeds of the table cover. */
  readonly coverage: {
    /** Kinds of which the table has no feed that is young enough. */
    readonly missing: readonly (
      'tor' | 'vpn' | 'proxy' | 'residential_proxy' | 'hosting' | 'bot' | 'blocklist'
    )[]
    /** Kinds that only hand-kept tables or feeds cut short cover. */
    readonly partly: readonly (
      'tor' | 'vpn' | 'proxy' | 'residential_proxy' | 'hosting' | 'bot' | 'blocklist'
    )[]
    /** Days from the day of the table to the clock. */
    readonly age_days: number
    /** One for each kind. */
    readonly kinds: readonly {
      /** What its feeds claim of an address. */
      readonly kind: 'tor' | 'vpn' | 'proxy' | 'residential_proxy' | 'hosting' | 'bot' | 'blocklist'
      /** How far the feeds of the table cover the kind. */
      readonly state: 'full' | 'partly' | 'missing'
      /** The newest day of its feeds; null where there is none. */
      readonly newest: string | null
      /** IPv4 addresses that its feeds list. */
      readonly addresses: number
    }[]
  }
  /** The feeds of the table. */
  readonly feeds: readonly {
    /** Its name in the catalogue. */
    readonly id: string
    /** What it claims of an address. */
    readonly kind: string
    /** Who publishes it. */
    readonly provider: string
    /** Its SPDX identifier, or what its publisher says. */
    readonly licence: string
    /** The page of the feed. */
    readonly homepage: string
    /** The day of the snapshot in the table. */
    readonly day: string
    /** From that day to the clock. */
    readonly age_seconds: number
    /** How many lines of it are in the table. */
    readonly entries: number
  }[]
  /** The scores of each level. */
  readonly thresholds: readonly {
    /** The level. */
    readonly risk_level: 'low' | 'medium' | 'high' | 'very_high' | 'critical'
    /** Its least score. */
    readonly risk_score_min: number
    /** Its greatest score. */
    readonly risk_score_max: number
  }[]
  /** The values of each list of an answer. */
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
  /** Null where the service has no policies. */
  readonly policies: {
    /** A hash: machines with the same one decide alike. */
    readonly revision: string
    /** Those that a request of the key may name. */
    readonly names: readonly string[]
    /** The one that decides where a request names none. */
    readonly default: string
  } | null
  /** The asking key. */
  readonly key: {
    /** The public part of the key. */
    readonly id: string
    /** Its plan. */
    readonly plan: string
    /** What it may call. */
    readonly apis: readonly string[]
    /** `never`, `on_request` or `always`. */
    readonly insights: string
    /** A limit that does not exist is null. */
    readonly limits: {
      /** The rate limit. */
      readonly rate: {
        /** Requests a second, on average. */
        readonly per_second: number
        /** Requests at once. */
        readonly burst: number
        /** What is left just now. */
        readonly remaining: number
        /** Until all of it is back. */
        readonly reset_seconds: number
      } | null
      /** The quota. */
      readonly quota: {
        /** Answers a calendar month, UTC. */
        readonly per_month: number
        /** What is left just now. */
        readonly remaining: number
        /** Until all of it is back. */
        readonly reset_seconds: number
      } | null
    }
  }
}

/** Who announces the address; null without an AS. */
export interface Network {
  /** The autonomous system that announces the address. */
  readonly asn: number
  /** Who owns the network; empty where it is unknown. */
  readonly organization: string
  /** What the network is for. New types may appear. */
  readonly type: string
  /** The traffic looks like that of a mobile network. */
  readonly mobile: boolean
}

/** Asks for `travel`. Whatever is wrong with it is reported in `context_errors` and fails no check. */
export interface Previous {
  /** The address that the same user came from before. */
  readonly ip: string
  /** When that was: RFC 3339, at most 60 seconds in the future. */
  readonly at: string
}

/** What stands between the user and you; null where nothing does. */
export interface Proxy {
  /** How sure the finding is. */
  readonly confidence: 'low' | 'medium' | 'high'
  /** What stands between the user and you. */
  readonly type: 'proxy' | 'vpn' | 'tor' | 'data_center' | 'residential'
  /** Who runs it, of hosting the hoster; empty where it is unknown. */
  readonly provider: string
  /** The newest day on which a feed listed the address, UTC. */
  readonly last_seen_at: string
  /** Of the recent days, those on which it was listed. */
  readonly percent_days_seen: number
}

/** Where the check has `previous`: how far and how fast its user would have travelled. */
export interface Travel {
  /** Both addresses have a place. Otherwise all else is empty. */
  readonly known: boolean
  /** The least distance that the accuracy of both places allows. */
  readonly km: number
  /** From `previous.at` to now, at least one minute. */
  readonly hours: number
  /** km over hours. */
  readonly kmh: number
  /** Both are in one country. */
  readonly same_country: boolean
  /** One autonomous system announces both. */
  readonly same_asn: boolean
  /** Both places are likely to be those of the user. */
  readonly reliable: boolean
  /** What of either address says otherwise. */
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
