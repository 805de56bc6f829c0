// What kind of network an AS is: the first rule that holds. Pure. What a rule may conclude depends
// on who says it (MODEL.md, rules 5 and 9):
//
// - A hand-kept table sets everything: type, mobile, access, shared, corporate, cdn.
// - Feeds are noisy. A tag, class or list sets the type, and whether the lines are people's own
//   (`access`); never `mobile`, `corporate` or `cdn`, and `shared` only for a campus.
// - A `dsl` tag is the strongest word of a feed: somebody lives there. It wins over transit, mobile
//   and every list of hosters, so that no access network becomes hosting through one customer.
// - The name decides last, and only the type.

import type { NetworkType } from '../../src/model/kind.ts'
import { hosterTableId } from '../../src/score/finding/hosting-finding.ts'
import { type AsFact, type AsFacts, asFeeds } from './as-facts.ts'
import type { AsTable, NetworkTables } from './network-tables.ts'

/** What there is to know of an AS beside its number and name. */
export interface NetworkTraits {
  readonly type: NetworkType
  readonly mobile: boolean
  readonly access: boolean
  readonly shared: boolean
  readonly corporate: boolean
  readonly cdn: boolean
  readonly anycast: boolean
}

/** An AS and who may be asked about it. */
export interface AsSubject {
  readonly asn: number
  readonly organization: string
  readonly facts: AsFacts
  readonly tables: NetworkTables
}

const nothing: NetworkTraits = {
  type: 'unknown',
  mobile: false,
  access: false,
  shared: false,
  corporate: false,
  cdn: false,
  anycast: false,
}

const isp: NetworkTraits = { ...nothing, type: 'isp', access: true }
const carrier: NetworkTraits = { ...nothing, type: 'isp' }
const hosting: NetworkTraits = { ...nothing, type: 'hosting' }
const business: NetworkTraits = { ...nothing, type: 'business' }
const education: NetworkTraits = { ...nothing, type: 'education', shared: true }
const government: NetworkTraits = { ...nothing, type: 'government' }

/** What a hand-kept table makes of its ASes; prefixes of mobile and corporate likewise. */
export const traitsOfTable: Readonly<Record<AsTable, NetworkTraits>> = {
  hosting,
  mobile: { ...nothing, type: 'mobile', mobile: true, access: true, shared: true },
  corporate: { ...business, corporate: true },
  satellite: { ...nothing, type: 'satellite', access: true, shared: true },
  cdn: { ...nothing, type: 'cdn', cdn: true },
  access: isp,
  education,
  government,
  business,
}

interface Evidence {
  readonly fact: AsFact
  readonly organization: string
  /** Independent voices that call it a hoster. */
  readonly hosters: number
}

interface Rule {
  readonly name: string
  readonly holds: (evidence: Evidence) => boolean
  readonly traits: NetworkTraits
}

/** In order of precedence, behind the hand-kept tables. */
const rules: readonly Rule[] = [
  { name: 'tag-dsl', holds: ({ fact }) => fact.tags.has('dsl'), traits: isp },
  {
    name: 'tag-satnet',
    holds: ({ fact, hosters }) => fact.tags.has('satnet') && hosters === 0,
    traits: { ...nothing, type: 'satellite', access: true },
  },
  {
    name: 'tag-uni',
    holds: ({ fact, hosters }) => fact.tags.has('uni') && hosters < 2,
    traits: education,
  },
  {
    name: 'tag-gov',
    holds: ({ fact, hosters }) => fact.tags.has('gov') && hosters < 2,
    traits: government,
  },
  {
    name: 'name-education',
    holds: ({ organization, hosters }) => hosters < 2 && typeOfName(organization) === 'education',
    traits: { ...education, shared: false },
  },
  {
    name: 'name-government',
    holds: ({ organization, hosters }) => hosters < 2 && typeOfName(organization) === 'government',
    traits: government,
  },
  // A carrier that sells servers too is a carrier: 20 points for all of its customers are wrong.
  {
    name: 'carrier',
    holds: ({ fact, hosters }) => hosters < 3 && isCarrier(fact) && !fact.peering.has('hosting'),
    traits: carrier,
  },
  // Small ISPs that rent a few servers say Content of themselves, and are tagged for it. Who has seen
  // eyeballs there, or reads an ISP's name, is a third word, and no list of hosters names them.
  {
    name: 'isp-with-servers',
    holds: ({ fact, organization, hosters }) =>
      hosters === 2 &&
      fact.lists.length === 0 &&
      !hosterWords.test(organization) &&
      (typeOfName(organization) === 'isp' || (fact.class === 'Eyeball' && !fact.tags.has('tor'))),
    traits: carrier,
  },
  { name: 'hosters-two', holds: ({ hosters }) => hosters >= 2, traits: hosting },
  {
    name: 'tag-cdn',
    holds: ({ fact }) => fact.tags.has('cdn') && fact.class !== 'Eyeball',
    traits: { ...nothing, type: 'cdn' },
  },
  { name: 'tag-corp', holds: ({ fact }) => fact.tags.has('corp'), traits: business },
  {
    name: 'tag-mobile',
    holds: ({ fact, hosters }) => fact.tags.has('mobile') && hosters === 0,
    traits: isp,
  },
  // One word for a hoster against two for people's lines: two win. Users of a VPN count as eyeballs
  // in the statistics behind the class, so its network needs a dsl tag to pass for people's own; so
  // does the network of a Tor exit.
  {
    name: 'class-eyeball',
    holds: ({ fact, hosters }) =>
      fact.class === 'Eyeball' &&
      !isVpnOrTorNetwork(fact) &&
      (hosters === 0 || fact.peering.has('access')),
    traits: isp,
  },
  // Hobby networks call themselves access too, and live on rented servers.
  {
    name: 'peering-access',
    holds: ({ fact, hosters }) =>
      fact.peering.has('access') &&
      hosters === 0 &&
      !fact.tags.has('perso') &&
      !fact.tags.has('vpn'),
    traits: isp,
  },
  // Carriers of business lines that also sell servers: neither people's lines nor a hoster.
  {
    name: 'eyeball-doubtful',
    holds: ({ fact }) =>
      fact.class === 'Eyeball' &&
      !isVpnOrTorNetwork(fact) &&
      !fact.peering.has('hosting') &&
      (isTransit(fact) || fact.lists.length === 0),
    traits: carrier,
  },
  {
    name: 'hosters-one',
    holds: ({ fact, hosters }) => hosters === 1 || fact.class === 'Content',
    traits: hosting,
  },
  { name: 'tag-biznet', holds: ({ fact }) => fact.tags.has('biznet'), traits: business },
  {
    name: 'peering-transit',
    holds: ({ fact }) => isCarrier(fact) || isTransit(fact),
    traits: carrier,
  },
  // Exits are hosted: what carries the tag and nothing better stands in a datacentre.
  { name: 'tag-vpn', holds: ({ fact }) => fact.tags.has('vpn'), traits: hosting },
  {
    name: 'name-hoster',
    holds: ({ organization }) => isHosterName(organization),
    traits: hosting,
  },
  {
    name: 'name-business',
    holds: ({ organization }) => typeOfName(organization) === 'business',
    traits: business,
  },
  {
    name: 'name-isp',
    holds: ({ organization }) => typeOfName(organization) === 'isp',
    traits: carrier,
  },
]

/** Users of a VPN or of Tor come out of its network, and count as its eyeballs. */
function isVpnOrTorNetwork(fact: AsFact): boolean {
  return fact.tags.has('vpn') || fact.tags.has('tor')
}

function isCarrier(fact: AsFact): boolean {
  return fact.class === 'T1' || fact.class === 'Carrier'
}

function isTransit(fact: AsFact): boolean {
  return fact.peering.has('transit') || fact.peering.has('network-service')
}

const noFact: AsFact = {
  class: 'Unknown',
  tags: new Set(),
  peering: new Set(),
  lists: [],
  name: '',
}

/**
 * The traits of an AS, and the rule that gave them: `table-mobile`, `tag-dsl`; for tests, reports
 * and those who ask why.
 */
export function classifyNetwork(subject: AsSubject): NetworkTraits & { readonly rule: string } {
  const { asn, organization, facts, tables } = subject
  const named = tables.asRow(asn)
  if (named !== undefined) return { ...traitsOfTable[named.table], rule: `table-${named.table}` }
  // Users come out of a VPN's servers, and feeds take them for eyeballs.
  if (isVpnOperator(subject)) return { ...hosting, rule: 'table-vpn-operators' }
  const fact = facts.get(asn) ?? noFact
  const evidence = { fact, organization, hosters: groupCount(hostingVoices(fact)) }
  const rule = rules.find((rule) => rule.holds(evidence))
  return rule === undefined ? { ...nothing, rule: 'none' } : { ...rule.traits, rule: rule.name }
}

/**
 * The voices that call the AS a hoster, for evidence of kind hosting with match `as` (rule 5: the
 * hand-kept table, or two groups by hostingGroup); [] for what the tables or rules know as
 * something else: people's lines, campuses, carriers, offices. The organization's own name is a
 * voice; alone, like any other, it gives a few points.
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
  // What gave it the type says so, if nobody else does.
  if (rule === 'hosters-one') return [asFeeds.classes]
  return rule === 'tag-vpn' ? [asFeeds.tags] : []
}

// What an organization's name alone gives away. The weakest of all hints: it sets the type of a
// network of which nothing else is known, and it is a second voice where another voice already
// calls the network a hoster; alone it never is evidence. For types only words that ISPs and
// hosters do not put into their names; cities and counties are left out, since many of them run
// access networks.

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

/** The type that the name suggests, if any. */
function typeOfName(organization: string): NetworkType | undefined {
  return patterns.find(([, pattern]) => pattern.test(organization))?.[0]
}

/**
 * What hosters call themselves. Measured on 2026-08-22: in 101 names of the 432 hand-kept hosters,
 * in 3 of the 687 ASes that the other tables know and in 6 of the 3,463 with the tag dsl.
 */
const hosterWords =
  /(?:(?<![\w-])[a-z0-9-]*(?:hosting|hoster|host|servers?|cloud|vps)|\b(?:(?:web)?hosting[a-z0-9-]*|hosts|clouds|serveurs?|servidores|hospedagem|h[eé]bergement|data ?cent(?:er|re)s?|datacent(?:er|re)[a-z]*|rechenzentrum|vds|colo|colocation|dedicated))\b/i

/** Words with such a word inside, and what people's lines and telephones are sold as. */
const otherWords =
  /\b(?:(?:st\.?|saint)[ -]cloud|mccloud|observers?|ghost|voip|voice[a-z]*|telephon[a-z]*|wireless|cable|fib(?:er|re)[a-z]*|exchange|city of|county)\b/i

/** Whether the organization calls itself a hoster, and nothing in its name says otherwise. */
export function isHosterName(organization: string): boolean {
  return (
    hosterWords.test(organization) &&
    !otherWords.test(organization) &&
    typeOfName(organization) === undefined
  )
}

/** Whether an organization's name holds the owner's; registries write one owner in several ways. */
export function isOwnedBy(organization: string, owner: string): boolean {
  const simple = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
  return simple(organization).includes(simple(owner))
}

/** By the hand-kept table, while the AS is registered to the row's owner: numbers change hands. */
function isVpnOperator({ asn, organization, tables }: AsSubject): boolean {
  return tables.vpnOperators.some((row) => row.asn === asn && isOwnedBy(organization, row.owner))
}

// Which independent voices call an AS a hoster. A voice is a hand-kept table, a feed or a feed's
// tag; voices that republish each other share a group and count as one (MODEL.md, rules 3 and 5).
// What that costs is src/score's.

/** The voice of data/tables/hosting.csv; the feeds go by their own ids. */
export const hostingTableVoice = hosterTableId

/** The voice of the name under which the registry knows the organization: what it calls itself. */
export const namesVoice = 'network-names'

/** The group of the lists that republish each other, and of what they may have been made from. */
export const badListGroup = 'bad-asn-list'

/**
 * Groups of the voices whose id is not their group. Measured on 2026-08-22: all 723 ASes of badlist
 * are in tn3w (724), 714 of them in x4b (892), with the same misspellings in the names.
 *
 * Names are one voice with these lists, which seem to have been gathered by name: others confirm
 * 48 % of their ASes whose name says so and 51 % of the rest, so the name adds nothing there. It
 * does beside the tag (46 % against 34 %) and beside PeeringDB (53 % against 24 %).
 */
const groups: Readonly<Record<string, string>> = {
  'hosting-asn-badlist': badListGroup,
  'hosting-asn-tn3w': badListGroup,
  'hosting-asn-x4b': badListGroup,
  [namesVoice]: badListGroup,
}

/** The independence group of a voice. */
export function hostingGroup(voice: string): string {
  return groups[voice] ?? voice
}

/**
 * The voices that call the AS a hoster, by the facts alone, ascending: feeds that list it, the tag
 * `vpsh` (sells virtual servers) of bgp.tools, the class `hosting` of PeeringDB.
 */
export function hostingVoices(fact: AsFact | undefined): readonly string[] {
  if (fact === undefined) return []
  const voices = [...fact.lists]
  if (fact.tags.has('vpsh')) voices.push('asn-bgptools-tags')
  if (fact.peering.has('hosting')) voices.push('asn-peeringdb-classes')
  return voices.sort()
}

/** How many of the voices are independent of each other. */
export function groupCount(voices: readonly string[]): number {
  return new Set(voices.map(hostingGroup)).size
}
