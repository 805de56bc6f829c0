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
import { type AsFact, type AsFacts, asFeeds } from './as-facts.ts'
import { groupCount, hostingTableVoice, hostingVoices, namesVoice } from './hosting-voices.ts'
import { isHosterName, typeOfName } from './name-hints.ts'
import type { AsTable, NetworkTables } from './network-tables.ts'
import { isVpnOperator } from './vpn-operator.ts'

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

export interface ClassifiedNetwork extends NetworkTraits {
  /** The rule that decided: `table-mobile`, `tag-dsl`; for tests, reports and those who ask why. */
  readonly rule: string
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

/** The traits of an AS, and the rule that gave them. */
export function classifyNetwork(subject: AsSubject): ClassifiedNetwork {
  const { asn, organization, facts, tables } = subject
  const named = tables.asRow(asn)
  if (named !== undefined) return { ...traitsOfTable[named.table], rule: `table-${named.table}` }
  // Users come out of a VPN's servers, and feeds take them for eyeballs.
  if (isVpnOperator(subject, tables)) return { ...hosting, rule: 'table-vpn-operators' }
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
