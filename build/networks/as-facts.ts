// What AS feeds say about each AS, as published, noise included (tags call MIT "tor", Cloudflare
// "vpn", Apple "hosting"); network-type.ts judges it.

import { cleanOrganization } from './organization-name.ts'

/** bgp.tools: an AS's class. `T1` is transit-free. */
export const asClasses = ['Eyeball', 'Content', 'Carrier', 'T1', 'Unknown'] as const
export type AsClass = (typeof asClasses)[number]

/** bgp.tools: an AS may have many tags. */
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

/** PeeringDB: what a network calls itself. */
export const peeringClasses = ['hosting', 'network-service', 'transit', 'access'] as const
export type PeeringClass = (typeof peeringClasses)[number]

/** ipverse: an AS's category, from registries and routing. */
const asCategories = ['hosting', 'isp', 'business', 'education_research', 'government_admin']

/** Feeds with classes, tags and names; other feeds of AS facts list hosters. */
export const asFeeds = {
  classes: 'asn-bgptools',
  tags: 'asn-bgptools-tags',
  peering: 'asn-peeringdb-classes',
  categories: 'asn-ipverse-metadata',
} as const

export interface AsEntry {
  readonly asn: number
  readonly source: string
  /** A class or tag; lists of hosters have none. */
  readonly label?: string
  readonly name?: string
}

export interface AsFact {
  readonly class: AsClass
  readonly tags: ReadonlySet<AsTag>
  readonly peering: ReadonlySet<PeeringClass>
  /** Feeds that list it as a hoster, ascending. */
  readonly lists: readonly string[]
  /** '' if no feed names it. */
  readonly name: string
}

export interface AsFacts {
  readonly get: (asn: number) => AsFact | undefined
  readonly asnCount: number
  /** Unexpected labels of class and tag feeds, with counts. */
  readonly unknownLabels: ReadonlyMap<string, number>
}

interface Gathered {
  class: AsClass
  readonly tags: Set<AsTag>
  readonly peering: Set<PeeringClass>
  readonly lists: Set<string>
  /** From the class feed, and the longest of the others. */
  className: string
  otherName: string
}

const noTags: ReadonlySet<AsTag> = new Set()
const noClasses: ReadonlySet<PeeringClass> = new Set()
/** Labels in hoster feeds for ASes that are not hosters. */
const notHosting: ReadonlySet<string> = new Set(['vpn'])

/** In any order. The class feed's name wins, else the longest; of several classes the last. */
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
    // Hoster lists write handles and countries into names: "VOXILITY, RO".
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
      // Most ASes have only a class and a name.
      tags: tags.size === 0 ? noTags : tags,
      peering: peering.size === 0 ? noClasses : peering,
      lists: [...lists].sort(),
      name: className || otherName,
    })
  }
  return { get: (asn) => facts.get(asn), asnCount: facts.size, unknownLabels }
}

/** For a build without AS feeds. */
export const noAsFacts: AsFacts = collectAsFacts([])

function isHosterList(source: string): boolean {
  return !(Object.values(asFeeds) as readonly string[]).includes(source)
}

/** Returns false for a label that its feed does not have. */
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
    // Counts only for hosters: names and tags are finer than its other categories.
    if (label === 'hosting') fact.lists.add(source)
    return asCategories.includes(label)
  }
  if (source === asFeeds.tags) return isKnownLabel(asTags, label) && (fact.tags.add(label), true)
  return isKnownLabel(peeringClasses, label) && (fact.peering.add(label), true)
}

function isKnownLabel<T extends string>(known: readonly T[], label: string): label is T {
  return (known as readonly string[]).includes(label)
}
