// Every reason of a verdict: its stable code and a one-line explanation. Codes are public: never
// renamed or reused, only added. Points follow from the evidence; the ledger keeps their sum exact.

export const reasonTexts = {
  bogon: 'The address must not appear on the public Internet (IANA special-purpose registries).',
  unannounced: 'No network announces the address, so ordinary traffic cannot come from it.',

  tor_exit_listed: 'Listed as a Tor exit.',
  tor_operator_range: 'In a range that its owner dedicates to Tor exits.',
  vpn_listed: 'Listed as a VPN exit.',
  vpn_inferred: 'In a hosting network, among servers that VPN operators publish as their own.',
  proxy_listed: 'Listed as a public or commercial proxy.',
  residential_proxy_listed: 'Listed as a residential proxy.',
  hosting_listed: 'In a range listed as hosting.',
  hosting_inferred: 'A curated table or two independent sources classify its network as hosting.',
  relay_listed: 'Exit of a privacy relay, with ordinary users behind it.',
  bot_verified: 'In a range published by the operator of a known bot.',
  bot_listed: 'Listed as a known bot by a third party.',

  tor_operator_trace:
    'In a range that its owner dedicates to Tor exits, but not in the Tor consensus.',
  tor_trace: 'Old or weak evidence of a Tor exit, not enough for the signal.',
  vpn_trace: 'Old or weak evidence of a VPN, not enough for the signal.',
  proxy_trace: 'Old or weak evidence of a proxy, not enough for the signal.',
  residential_proxy_trace:
    'Old or weak evidence of a residential proxy, not enough for the signal.',
  hosting_trace: 'Weak evidence of hosting, not enough for the signal.',
  relay_trace: 'Weak evidence of a privacy relay, not enough for the signal.',
  bot_trace: 'Weak evidence of a known bot, not enough for a match.',

  vpn_neighbourhood: 'Near a VPN server, in the same /24 (IPv6: /48) of a hosting network.',
  proxy_neighbourhood: 'Near tested proxies, in a /24 of residential connections.',
  blocklist_neighbourhood: 'Its /24 has far more blocklisted addresses than similar ones.',

  blocklist_1: 'On one abuse blocklist.',
  blocklist_2: 'On two abuse blocklists.',
  blocklist_3: 'On three or four abuse blocklists.',
  blocklist_5: 'On five or more abuse blocklists.',
  blocklist_faded: 'Was on an abuse blocklist, too long ago or too weakly to count.',
  blocklist_explained: 'A few blocklists add nothing to a Tor exit or proxy and do not count.',

  others_limited: 'All kinds besides the strongest add at most 10 points together.',
  floor_mixed: 'Residential proxy and VPN contradict each other: at least 80.',
  floor_hosting: 'Three independent sources classify it as hosting: at least 40.',
  floor_vpn_inferred: 'Surrounded by VPN servers: at least 50.',
  floor_residential_proxy: 'On a residential proxy list and a public proxy list: at least 80.',
  announcement_unknown:
    'No known network announces it, but the network data is more than 14 days old.',
  conflict_resolved: 'A VPN operator lists the address itself, which resolves the conflict.',

  cap_bot: 'A known bot on too few blocklists to count: at most 10.',
  consumer_vpn: 'A VPN that ordinary people use in their own country: at most 49.',
  cap_relay: 'A privacy relay: at most 20.',
  cap_corporate: 'Corporate egress with employees behind it: at most 30.',
  cap_clean: 'Not enough evidence for a classification: at most 49.',
  cap_lone_range: 'Only in one third-party range over addresses of an ISP or carrier: at most 49.',
  cap_shared: 'Many people share this address: at most 74.',
  clamp_100: 'The score is capped at 100.',

  range_suppressed_by_relay: 'Lists that mistake the privacy relay for something else are ignored.',
  inference_suppressed: 'VPN servers around a known bot or a privacy relay do not count.',
  bot_own_network: "Hosting by the bot's own operator does not count.",
  origin_changed: 'A hosting range now announced by another network does not count.',
  evidence_expired: 'Evidence too old to count was left out.',
  evidence_decayed: 'The evidence is at least one half-life old and counts less.',
  hosting_contradicted: 'A third party lists residential connections as hosting: does not count.',
  range_over_lines: 'Listed only within a whole range of residential connections: counts little.',
  rarely_seen: 'Seen on few recent days, on a connection with a changing address: counts less.',
  shared_network: 'Evidence that does not name the address itself counts less in a shared network.',
  hosting_unconfirmed: 'Only one source classifies its network as hosting: few points.',
  anycast: 'Announced in many places: the location is only a country, and may be wrong.',
  cdn_edge: 'Edge of a content delivery network: check that you read X-Forwarded-For.',
} as const

/** Reasons of an operator's own lists (table/answer/own-lists.ts), never in a table's verdict. */
export const listReasonTexts = {
  list_allowed: "On an allow list of this service's operator: the score is 0.",
  list_blocked: "On a block list of this service's operator: the score is 100.",
} as const

export type ListReasonCode = keyof typeof listReasonTexts

export type ReasonCode = keyof typeof reasonTexts

export const reasonCodes = Object.keys(reasonTexts) as readonly ReasonCode[]

/** The text of a code, or the code itself if a newer table has an unknown one. */
export function reasonText(code: string): string {
  if (Object.hasOwn(listReasonTexts, code)) return listReasonTexts[code as ListReasonCode]
  return Object.hasOwn(reasonTexts, code) ? reasonTexts[code as ReasonCode] : code
}
