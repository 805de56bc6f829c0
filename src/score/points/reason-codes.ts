// Every reason of a verdict: its stable code and the one line that explains it to a person. Codes
// are public (contract 3.10): never renamed, never reused, only added. How many points a reason
// has is not written here; it follows from the evidence, and the ledger keeps the sum exact.

export const reasonTexts = {
  bogon: 'The address must not appear on the public Internet (IANA special-purpose registries).',
  unannounced: 'No network announces the address; ordinary traffic cannot come from it.',

  tor_exit_listed: 'Listed as a Tor exit.',
  tor_operator_range: 'Inside a range that its owner dedicates to Tor exits.',
  vpn_listed: 'Listed as an exit of a VPN.',
  vpn_inferred: 'In a network that rents servers, among servers that VPN operators name as theirs.',
  proxy_listed: 'Listed as a public or commercial proxy.',
  residential_proxy_listed: 'Listed as a proxy on the line of a household.',
  hosting_listed: 'Inside a range that is listed as hosting.',
  hosting_inferred: 'Its network is a hoster by a hand-kept table or two independent sources.',
  relay_listed: 'Exit of a privacy relay: an ordinary person behind it.',
  bot_verified: 'Inside a range that the operator of a known bot publishes.',
  bot_listed: 'Listed as a known bot by a third party.',

  tor_operator_trace:
    'In a range that its owner dedicates to Tor exits, but the consensus does not name it.',
  tor_trace: 'Old or weak evidence of a Tor exit, too little for the signal.',
  vpn_trace: 'Old or weak evidence of a VPN, too little for the signal.',
  proxy_trace: 'Old or weak evidence of a proxy, too little for the signal.',
  residential_proxy_trace:
    'Old or weak evidence of a residential proxy, too little for the signal.',
  hosting_trace: 'Weak evidence of hosting, too little for the signal.',
  relay_trace: 'Weak evidence of a privacy relay, too little for the signal.',
  bot_trace: 'Weak evidence of a known bot, too little for a match.',

  vpn_neighbourhood: 'Beside a server of a VPN, in the /24 (IPv6: /48) of a hoster.',
  proxy_neighbourhood: "Beside tested proxies, in a /24 of people's own lines.",
  blocklist_neighbourhood: 'In a /24 of which far more is blocklisted than of its peers.',

  blocklist_1: 'Named by one abuse blocklist.',
  blocklist_2: 'Named by two abuse blocklists.',
  blocklist_3: 'Named by three or four abuse blocklists.',
  blocklist_5: 'Named by five or more abuse blocklists.',
  blocklist_faded: 'Was named by an abuse blocklist, too long ago or too weakly to count.',
  blocklist_explained: 'Few blocklists beside Tor or a proxy say nothing new and do not count.',

  others_limited: 'Kinds beside the strongest one add at most 10 points together.',
  floor_mixed: 'Residential proxy and VPN contradict each other: at least 80.',
  floor_hosting: 'Three independent sources call it hosting: at least 40.',
  floor_vpn_inferred: 'Servers of VPN operators around it make it one of them: at least 50.',
  floor_residential_proxy: 'A residential proxy list and a public proxy list agree: at least 80.',
  announcement_unknown:
    'No known network announces it, but the data of networks are over 14 days old.',
  conflict_resolved: 'An operator names the address itself, which settles the contradiction.',

  cap_bot: 'A known bot that too few blocklists name: at most 10.',
  consumer_vpn: 'A VPN that ordinary people use in their own country: at most 49.',
  cap_relay: 'A privacy relay: at most 20.',
  cap_corporate: 'Corporate egress, employees behind it: at most 30.',
  cap_clean: 'Nothing here makes a class: at most 49.',
  cap_lone_range: "One third party's range over an ISP's or carrier's addresses alone: at most 49.",
  cap_shared: 'Many people share this address: at most 74.',
  clamp_100: 'The scale ends at 100.',

  range_suppressed_by_relay: 'Lists that took the privacy relay for something else do not count.',
  inference_suppressed: 'VPN servers around it say nothing of a known bot or a privacy relay.',
  bot_own_network: "Hosting by the bot's own operator does not count.",
  origin_changed: 'A range of a hoster is now announced by another network and does not count.',
  evidence_expired: 'Evidence that is too old to count was left out.',
  evidence_decayed: 'The evidence is a half-life old or older and counts less.',
  hosting_contradicted: "A third party lists people's own lines as hosting, which does not count.",
  range_over_lines: "A list names a whole range of people's own lines, which counts little.",
  rarely_seen: 'Seen on few recent days, on a line whose address changes hands: counts less.',
  shared_network: 'Evidence that does not name the very address counts less in a shared network.',
  hosting_unconfirmed: 'One source alone calls its network a hoster: few points.',
  anycast: 'Announced in many places at once: its location is a country, and may be another one.',
  cdn_edge: 'The edge of a content delivery network: is the forwarded address being read?',
} as const

/** What an operator's own lists add (table/answer/own-lists.ts): no verdict of the table has it. */
export const listReasonTexts = {
  list_allowed: "An own list of this service's operator allows it: the score is 0.",
  list_blocked: "An own list of this service's operator blocks it: the score is 100.",
} as const

export type ListReasonCode = keyof typeof listReasonTexts

export type ReasonCode = keyof typeof reasonTexts

/** All codes, in the order of the table. */
export const reasonCodes = Object.keys(reasonTexts) as readonly ReasonCode[]

/** The text of a code; the code itself where a newer table brings one unknown here. */
export function reasonText(code: string): string {
  if (Object.hasOwn(listReasonTexts, code)) return listReasonTexts[code as ListReasonCode]
  return Object.hasOwn(reasonTexts, code) ? reasonTexts[code as ReasonCode] : code
}
