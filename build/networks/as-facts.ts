// What the AS feeds say of each AS, gathered by ASN. Raw: classes and tags as published, noise and
// all (AS tags call MIT "tor", Cloudflare "vpn", Apple "hosting"). What follows from them is
// decided in network-type.ts, never here.

import { cleanOrganization } from './organization-name.ts'

/** bgp.tools: the class of an AS, where it has one. `T1` is transit-free. */
export const asClasses = ['Eyeball', 'Content', 'Carrier', 'T1', 'Unknown'] as const
export type AsClass = (typeof asClasses)[number]

/** bgp.tools: tags, of which an AS may have many. */
export const asTags = [
  'dsl',
  'mobile',
  'uni',
  'gov',
  'cdn',
  'vpsh',
  'satnet',
  'corp',
  'biznet',
  'vpn',
  'tor',
  'perso',
  'ddosm',
  'anycast',
  'event',
] as const
export type AsTag = (typeof asTags)[number]

/** PeeringDB: what a network says that it is, as one class for each AS. */
export const peeringClasses = ['hosting', 'network-service', 'transit', 'access'] as const
export type PeeringClass = (typeof peeringClasses)[number]

/** ipverse: the category of an AS, from registries, routing and what it announces. */
const asCategories = ['hosting', 'isp', 'business', 'education_research', 'government_admin']

/** Feeds that give classes, tags and names; every other feed of AS facts is a list of hosters. */
export const asFeeds = {
  classes: 'asn-bgptools',
  tags: 'asn-bgptools-tags',
  peering: 'asn-peeringdb-classes',
  categories: 'asn-ipverse-metadata',
} as const

/** One AS as one feed has it. */
export interface AsEntry {
  readonly asn: number
  readonly source: string
  /** The class or tag. Lists of hosters have none. */
  readonly label?: string
  readonly name?: string
}

export interface AsFact {
  readonly class: AsClass
  readonly tags: ReadonlySet<AsTag>
  readonly peering: ReadonlySet<PeeringClass>
  /** Ids of the feeds that list it as a hoster, ascending. */
  readonly lists: readonly string[]
  /** Cleaned; '' where no feed names it. */
  readonly name: string
}

export interface AsFacts {
  readonly get: (asn: number) => AsFact | undefined
  readonly asnCount: number
  /** Labels of a class or tag feed that are none of the above, with how often they came. */
  readonly unknownLabels: ReadonlyMap<string, number>
}

interface Gathered {
  class: AsClass
  readonly tags: Set<AsTag>
  readonly peering: Set<PeeringClass>
  readonly lists: Set<string>
  /** The name in the class feed, and the longest in the others. */
  className: string
  otherName: string
}

const noTags: ReadonlySet<AsTag> = new Set()
const noClasses: ReadonlySet<PeeringClass> = new Set()
/** Labels of the hoster feeds for ASes that they list as something other than a hoster. */
const notHosting: ReadonlySet<string> = new Set(['vpn'])

/**
 * Gathers entries, in any order. Of several names of an AS, that of the class feed wins, else the
 * longest; of several classes the last.
 */
export function collectAsFacts(entries: Iterable<AsEntry>): AsFacts {
  const gathered = new Map<number, Gathered>()
  const unknownLabels = new Map<string, number>()
  for (const entry of entries) {
    let fact = gathered.get(entry.asn)
    if (fact === undefined) {
      const sets = {
        tags: new Set<AsTag>(),
        peering: new Set<PeeringClass>(),
        lists: new Set<string>(),
      }
      fact = { class: 'Unknown', ...sets, className: '', otherName: '' }
      gathered.set(entry.asn, fact)
    }
    if (!addLabel(fact, entry)) {
      const label = `${entry.source}: ${entry.label ?? ''}`
      unknownLabels.set(label, (unknownLabels.get(label) ?? 0) + 1)
    }
    // The hoster lists write handles and countries into the name: "VOXILITY, RO".
    if (entry.name !== undefined && !isHosterList(entry.source)) {
      const name = cleanOrganization(entry.name)
      if (entry.source === asFeeds.classes) fact.className = name
      else if (name.length > fact.otherName.length) fact.otherName = name
    }
  }
  const facts = new Map<number, AsFact>()
  for (const [asn, { tags, peering, lists, className, otherName, ...fact }] of gathered) {
    facts.set(asn, {
      class: fact.class,
      // Most ASes have a class and a name alone: they share the empty sets.
      tags: tags.size === 0 ? noTags : tags,
      peering: peering.size === 0 ? noClasses : peering,
      lists: [...lists].sort(),
      name: className || otherName,
    })
  }
  return { get: (asn) => facts.get(asn), asnCount: facts.size, unknownLabels }
}

/** No facts at all, for a build without AS feeds. */
export const noAsFacts: AsFacts = collectAsFacts([])

function isHosterList(source: string): boolean {
  return !(Object.values(asFeeds) as readonly string[]).includes(source)
}

/** Puts the entry's label where it belongs; false for a label that is not of its feed. */
function addLabel(fact: Gathered, entry: AsEntry): boolean {
  const { source, label } = entry
  if (isHosterList(source)) {
    if (label === undefined || !notHosting.has(label)) fact.lists.add(source)
    return true
  }
  if (label === undefined) return true
  if (source === asFeeds.classes)
    return isKnownLabel(asClasses, label) && ((fact.class = label), true)
  if (source === asFeeds.categories) {
    // One voice, of hosters alone: its other categories are coarser than what names and tags say.
    if (label === 'hosting') fact.lists.add(source)
    return asCategories.includes(label)
  }
  if (source === asFeeds.tags) return isKnownLabel(asTags, label) && (fact.tags.add(label), true)
  return isKnownLabel(peeringClasses, label) && (fact.peering.add(label), true)
}

function isKnownLabel<T extends string>(known: readonly T[], label: string): label is T {
  return (known as readonly string[]).includes(label)
}
