// Classifies an AS by the first rule that holds (MODEL.md, rules 5 and 9):
//
// - A hand-kept table sets everything: type, mobile, access, shared, corporate, cdn.
// - Feeds are noisy: tags, classes and lists set type and `access` (people's own lines), `shared`
// only for a campus, never `mobile`, `corporate` or `cdn`.
// - A `dsl` tag is a feed's strongest word: it wins over transit, mobile and all lists of hosters,
// so that one customer never makes an access network hosting.
// - The name decides last, and only the type.

import type { NetworkType } from '../../src/model/kind.ts'
import { type NetworkTraits, noTraits } from '../../src/model/network.ts'
import { hosterTableId } from '../../src/score/finding/hosting-finding.ts'
import { type AsFact, type AsFacts, asFeeds } from './as-facts.ts'
import type { AsTable, NetworkTables } from './network-tables.ts'

/** An AS and the sources of facts about it. */
export interface AsSubject {
  readonly asn: number
  readonly organization: string
  readonly facts: AsFacts
  readonly tables: NetworkTables
}

const isp: NetworkTraits = { ...noTraits, type: 'isp', access: true }
const carrier: NetworkTraits = { ...noTraits, type: 'isp' }
const hosting: NetworkTraits = { ...noTraits, type: 'hosting' }
const business: NetworkTraits = { ...noTraits, type: 'business' }
const education: NetworkTraits = { ...noTraits, type: 'education', shared: true }
const government: NetworkTraits = { ...noTraits, type: 'government' }

/** Traits of a table's ASes, and of mobile and corporate prefixes. */
export const traitsOfTable: Readonly<Record<AsTable, NetworkTraits>> = {
  hosting,
  mobile: { ...noTraits, type: 'mobile', mobile: true, access: true, shared: true },
  corporate: { ...business, corporate: true },
  satellite: { ...noTraits, type: 'satellite', access: true, shared: true },
  cdn: { ...noTraits, type: 'cdn', cdn: true },
  access: isp,
  education,
  government,
  business,
}

interface Evidence extends AsFact {
  readonly organization: string
  /** The type that the name suggests. */
  readonly named: NetworkType | undefined
  /** Independent voices that call it a hoster. */
  readonly hosters: number
}

type Rule = readonly [string, NetworkTraits, (evidence: Evidence) => boolean]

const satellite: NetworkTraits = { ...noTraits, type: 'satellite', access: true }
const namedEducation: NetworkTraits = { ...education, shared: false }
const taggedCdn: NetworkTraits = { ...noTraits, type: 'cdn' }

/** In order of precedence, after the hand-kept tables. */
const rules: readonly Rule[] = [
  ['tag-dsl', isp, ({ tags }) => tags.has('dsl')],
  ['tag-satnet', satellite, ({ tags, hosters }) => tags.has('satnet') && hosters === 0],
  ['tag-uni', education, ({ tags, hosters }) => tags.has('uni') && hosters < 2],
  ['tag-gov', government, ({ tags, hosters }) => tags.has('gov') && hosters < 2],
  ['name-education', namedEducation, ({ named, hosters }) => hosters < 2 && named === 'education'],
  ['name-government', government, ({ named, hosters }) => hosters < 2 && named === 'government'],
  // A carrier that also sells servers: hosting points would be wrong for most of its customers.
  ['carrier', carrier, (it) => it.hosters < 3 && isCarrier(it) && !it.peering.has('hosting')],
  // Small ISPs that rent out a few servers are tagged for it and call themselves Content. Eyeballs
  // or an ISP's name outvote that if no list of hosters names them.
  [
    'isp-with-servers',
    carrier,
    ({ hosters, lists, organization, named, tags, ...it }) =>
      hosters === 2 &&
      lists.length === 0 &&
      !hosterWords.test(organization) &&
      (named === 'isp' || (it.class === 'Eyeball' && !tags.has('tor'))),
  ],
  ['hosters-two', hosting, ({ hosters }) => hosters >= 2],
  ['tag-cdn', taggedCdn, (it) => it.tags.has('cdn') && it.class !== 'Eyeball'],
  ['tag-corp', business, ({ tags }) => tags.has('corp')],
  ['tag-mobile', isp, ({ tags, hosters }) => tags.has('mobile') && hosters === 0],
  // Two voices for people's lines outvote one for a hoster. VPN and Tor users count as eyeballs, so
  // such networks need a dsl tag.
  ['class-eyeball', isp, (it) => isEyeball(it) && (it.hosters === 0 || it.peering.has('access'))],
  // Hobby networks call themselves access too, but live on rented servers.
  [
    'peering-access',
    isp,
    ({ peering, hosters, tags }) =>
      peering.has('access') && hosters === 0 && !tags.has('perso') && !tags.has('vpn'),
  ],
  // Carriers of business lines that also sell servers: neither people's lines nor a hoster.
  [
    'eyeball-doubtful',
    carrier,
    (it) => isEyeball(it) && !it.peering.has('hosting') && (isTransit(it) || it.lists.length === 0),
  ],
  ['hosters-one', hosting, (it) => it.hosters === 1 || it.class === 'Content'],
  ['tag-biznet', business, ({ tags }) => tags.has('biznet')],
  ['peering-transit', carrier, (it) => isCarrier(it) || isTransit(it)],
  // VPN exits are hosted.
  ['tag-vpn', hosting, ({ tags }) => tags.has('vpn')],
  ['name-hoster', hosting, ({ organization }) => isHosterName(organization)],
  ['name-business', business, ({ named }) => named === 'business'],
  ['name-isp', carrier, ({ named }) => named === 'isp'],
]

/** Users of a VPN or of Tor come out of its network and count as its eyeballs. */
const isEyeball = (fact: AsFact): boolean =>
  fact.class === 'Eyeball' && !fact.tags.has('vpn') && !fact.tags.has('tor')

const isCarrier = (fact: AsFact): boolean => fact.class === 'T1' || fact.class === 'Carrier'

const isTransit = (fact: AsFact): boolean =>
  fact.peering.has('transit') || fact.peering.has('network-service')

const noFact: AsFact = {
  class: 'Unknown',
  tags: new Set(),
  peering: new Set(),
  lists: [],
  name: '',
}

/** The traits of an AS, and the rule that gave them, such as `table-mobile` or `tag-dsl`. */
export function classifyNetwork(subject: AsSubject): NetworkTraits & { readonly rule: string } {
  const { asn, organization, facts, tables } = subject
  const { table } = tables.asRow(asn) ?? {}
  if (table !== undefined) return { ...traitsOfTable[table], rule: `table-${table}` }
  // Feeds take a VPN's users for eyeballs.
  if (isVpnOperator(subject)) return { ...hosting, rule: 'table-vpn-operators' }
  const fact = facts.get(asn) ?? noFact
  const hosters = groupCount(hostingVoices(fact))
  const evidence = { ...fact, organization, named: typeOfName(organization), hosters }
  const [rule, traits] = rules.find(([, , holds]) => holds(evidence)) ?? ['none', noTraits]
  return { ...traits, rule }
}

/**
 * Voices for evidence of kind hosting with match `as` (rule 5: the hand-kept table, or two groups
 * by hostingGroup); [] for other known networks. The organization's name is a voice; alone, like
 * any other, it gives a few points.
 */
export function hostingLists(subject: AsSubject): readonly string[] {
  const { type, rule } = classifyNetwork(subject)
  if (rule === 'table-hosting') {
    return [hostingTableVoice, ...hostingVoices(subject.facts.get(subject.asn))]
  }
  if (type !== 'hosting' && type !== 'cdn' && type !== 'unknown') return []
  const voices = hostingVoices(subject.facts.get(subject.asn))
  if (isHosterName(subject.organization)) return [...voices, namesVoice]
  if (voices.length > 0) return voices
  // Otherwise the voice that gave the type.
  if (rule === 'hosters-one') return [asFeeds.classes]
  return rule === 'tag-vpn' ? [asFeeds.tags] : []
}

// What an organization's name suggests, the weakest hint: it sets the type if nothing else is
// known, and is a second voice for a hoster. Patterns hold only words that ISPs and hosters do not
// use; cities and counties are left out, since many run access networks.

const patterns: readonly (readonly [NetworkType, RegExp])[] = [
  [
    'education',
    /\b(?:universit[a-zäéà]*|universidad[a-z]*|uniwersytet|univerzita|hochschule|college|colleges|polytechnic|politechnika|school district|public schools|schools|institute of technology|education(?:al)? (?:and research )?network|research and education network)\b/i,
  ],
  [
    'government',
    /\b(?:department of defen[cs]e|dod|usaisc|air force|navy|naval|army|marine corps|ministry of|ministerio|minist[eè]re|ministerstvo|federal government|government of|house of representatives|parliament|e-?gov(?:ernment|net)?|u\.?s\.? department|state department|supreme court|province of|commonwealth of|state of)\b/i,
  ],
  [
    'business',
    /\b(?:bank|bancorp|banco|banque|insurance|assurance|hospital|healthcare|health system|clinic|medical center|pharmaceuticals?|pharma|motors?|automotive|airlines?|airways|aerospace|chemicals?|petroleum|oil and gas|electric power|power company|financial|securities|stock exchange|brewery|foods|cosmetics|steel|mining|semiconductors?)\b/i,
  ],
  [
    'isp',
    /\b(?:telecom[a-z]*|telekom[a-z]*|telematika|t[eé]l[eé]communications?|telef[oó]nica|chinanet|china unicom|china mobile|broadband|banda larga|internet service provider|cable ?tv|catv|fibra|fibre|fibernet|provedor(?:es)?|isp|wisp)\b/i,
  ],
]

const typeOfName = (organization: string): NetworkType | undefined =>
  patterns.find(([, pattern]) => pattern.test(organization))?.[0]

/**
 * Measured on 2026-08-22: matches 101 of 432 hand-kept hosters, 3 of the 687 ASes in other tables
 * and 6 of the 3,463 with the tag dsl.
 */
const hosterWords =
  /(?:(?<![\w-])[a-z0-9-]*(?:hosting|hoster|host|servers?|cloud|vps)|\b(?:(?:web)?hosting[a-z0-9-]*|hosts|clouds|serveurs?|servidores|hospedagem|h[eé]bergement|data ?cent(?:er|re)s?|datacent(?:er|re)[a-z]*|rechenzentrum|vds|colo|colocation|dedicated))\b/i

/** Words that contain a hoster's word, and names of access and telephone products. */
const otherWords =
  /\b(?:(?:st\.?|saint)[ -]cloud|mccloud|observers?|ghost|voip|voice[a-z]*|telephon[a-z]*|wireless|cable|fib(?:er|re)[a-z]*|exchange|city of|county)\b/i

/** Calls itself a hoster, and nothing in its name contradicts. */
export const isHosterName = (organization: string): boolean =>
  hosterWords.test(organization) &&
  !otherWords.test(organization) &&
  typeOfName(organization) === undefined

/** Whether an organization's name contains the owner's, in any spelling. */
export function isOwnedBy(organization: string, owner: string): boolean {
  const simple = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
  return simple(organization).includes(simple(owner))
}

/** In the hand-kept table, while the owner still holds the number. */
const isVpnOperator = ({ asn, organization, tables }: AsSubject): boolean =>
  tables.vpnOperators.some((row) => row.asn === asn && isOwnedBy(organization, row.owner))

// Which independent voices call an AS a hoster: hand-kept tables, feeds, feeds' tags. Voices that
// republish each other share a group and count once (MODEL.md, rules 3 and 5).

/** The voice of data/tables/hosting.csv; feeds go by their ids. */
export const hostingTableVoice = hosterTableId

/** The voice of the organization's registered name. */
export const namesVoice = 'network-names'

/** Lists that republish each other, and their possible sources. */
export const badListGroup = 'bad-asn-list'

/**
 * Measured on 2026-08-22: all 723 ASes of badlist are in tn3w (724), 714 of them in x4b (892), with
 * the same misspellings. Names are in their group, because these lists seem gathered by name:
 * others confirm 48 % of their ASes with such a name and 51 % of the rest. Beside the tag names do
 * add (46 % against 34 %), and beside PeeringDB (53 % against 24 %).
 */
const groups: Readonly<Record<string, string>> = {
  'hosting-asn-badlist': badListGroup,
  'hosting-asn-tn3w': badListGroup,
  'hosting-asn-x4b': badListGroup,
  [namesVoice]: badListGroup,
}

export const hostingGroup = (voice: string): string => groups[voice] ?? voice

/**
 * Ascending: feeds that list the AS, bgp.tools' tag `vpsh` (sells virtual servers), PeeringDB's
 * class `hosting`.
 */
export function hostingVoices(fact: AsFact | undefined): readonly string[] {
  if (fact === undefined) return []
  const voices = [...fact.lists]
  if (fact.tags.has('vpsh')) voices.push('asn-bgptools-tags')
  if (fact.peering.has('hosting')) voices.push('asn-peeringdb-classes')
  return voices.sort()
}

export const groupCount = (voices: readonly string[]): number =>
  new Set(voices.map(hostingGroup)).size
