// Cleans the name of an AS's organization: damage is repaired, nothing translated, abbreviated or
// looked up.

import { cleanText, foldControls, trimEnd } from '../../src/base/text/clean-text.ts'

/**
 * Removes double quotes, control characters, a leading AS handle (`SKIPLLC-AS-AP - SKIP LLC`) and
 * repetition (`Limelight - Limelight`); names that only repeat the number (`AS44477`) become ''.
 */
export function cleanOrganization(written: string): string {
  const plain = foldControls(written.replaceAll('"', '')).replaceAll(' ,', ',').trim()
  let name = withoutHandle(trimEnd(plain, ',;'))
  const half = (name.length - 3) / 2
  if (
    half > 0 &&
    name.slice(half, half + 3) === ' - ' &&
    name.slice(0, half) === name.slice(half + 3)
  ) {
    name = name.slice(0, half)
  }
  if (/^(?:AS ?\d+|-|unknown|none|null|n\/a)$/i.test(name)) return ''
  return cleanText(name)
}

function withoutHandle(name: string): string {
  const dash = name.indexOf(' - ')
  const handle = name.slice(0, Math.max(0, dash))
  if (!/^[A-Z0-9][A-Z0-9_-]*$/.test(handle) || name[dash + 3] === ' ') return name
  const parts = handle.split('-')
  const as = parts.lastIndexOf('AS')
  const isHandle = as > 0 && parts.slice(as + 1).every((part) => /^[A-Z0-9]+$/.test(part))
  return isHandle && dash + 3 < name.length ? name.slice(dash + 3) : name
}

/**
 * The longest cleaned spelling, the least abbreviated; of equal lengths the first in code unit
 * order, whatever the order of rows and files.
 */
export function pickOrganization(spellings: readonly string[]): string {
  let best = ''
  for (const spelling of spellings) {
    const name = cleanOrganization(spelling)
    if (name.length > best.length || (name.length === best.length && name < best)) best = name
  }
  return best
}

/** Some files cut names off at this length. */
const cutLengthMin = 78

/** Registries' own names, on numbers that were assigned long ago. */
const registryNames: ReadonlySet<string> = new Set([
  'RIPE Network Coordination Centre',
  'American Registry for Internet Numbers',
  'Asia Pacific Network Information Centre',
])

/** The range file's name; the feeds' if that is empty, a registry's or cut off. */
export function completeOrganization(options: {
  readonly fromRanges: string
  readonly fromFeeds: string
}): string {
  const { fromRanges, fromFeeds } = options
  if (fromFeeds === '') return fromRanges
  if (fromRanges === '' || registryNames.has(fromRanges)) return fromFeeds
  const wasCut = fromRanges.length >= cutLengthMin && fromFeeds.startsWith(fromRanges)
  return wasCut ? fromFeeds : fromRanges
}

// One name per hoster: feeds and tables spell the same company differently, and answers by provider
// would count it twice. Only names that occur in our feeds and tables.

const names: Readonly<Record<string, string>> = {
  'Amazon AWS': 'Amazon Web Services',
  AWS: 'Amazon Web Services',
  Azure: 'Microsoft Azure',
  CloudFlare: 'Cloudflare',
  'Cloudflare Inc': 'Cloudflare',
  GCP: 'Google Cloud',
  Microsoft: 'Microsoft Azure',
  'Microsoft Azure ExpressRoute': 'Microsoft Azure',
  Linode: 'Linode / Akamai Cloud',
  'IBM Cloud (SoftLayer)': 'IBM Cloud',
  SoftLayer: 'IBM Cloud',
  OVH: 'OVHcloud',
  'Hetzner Cloud': 'Hetzner',
  'Hetzner Online AG': 'Hetzner',
}

export const canonicalHoster = (name: string): string =>
  Object.hasOwn(names, name) ? (names[name] ?? name) : name
