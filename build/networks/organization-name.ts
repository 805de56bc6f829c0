// The name of an AS's organization, from what files make of it. Not a database of companies: only
// damage is mended, and no name is translated, abbreviated or looked up.

import { cleanText, foldControls, trimEnd } from '../../src/base/text/clean-text.ts'

/**
 * What is mended: double quotes (some files quote a part twice over, `"""Cogent Communications",
 * LLC"`, and in a name they carry no meaning), white space of any kind and length, a leading AS
 * handle (`SKIPLLC-AS-AP - SKIP LLC`), a name said twice (`Limelight - Limelight`), and names that
 * only repeat the number (`AS44477`), which become ''.
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

/** `SKIPLLC-AS-AP - SKIP LLC` as `SKIP LLC`: what stands before is the handle of an AS. */
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
 * Of several spellings: cleaned, then the longest, of equal lengths the first in code unit order.
 * The longest is the least abbreviated, and the rule does not hang on the order of rows or files.
 */
export function pickOrganization(spellings: readonly string[]): string {
  let best = ''
  for (const spelling of spellings) {
    const name = cleanOrganization(spelling)
    if (name.length > best.length || (name.length === best.length && name < best)) best = name
  }
  return best
}

/** Files that cut names at this length: a longer spelling of the same name mends them. */
const cutLengthMin = 78

/** A registry's own name, on numbers that it has long assigned to somebody else. */
const registryNames: ReadonlySet<string> = new Set([
  'RIPE Network Coordination Centre',
  'American Registry for Internet Numbers',
  'Asia Pacific Network Information Centre',
])

/**
 * The name from the range file, or, where that has none, a registry's, or one cut off at its
 * column's width, the name that the AS feeds give.
 */
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

// One name for one hoster: feeds and tables write the same company in several ways, and who counts
// answers by provider would count it twice. Not a database of companies: only names that the
// catalogue's feeds and the hand-kept tables give to the same hoster.

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

/** The name that answers give; any other name as it is. */
export function canonicalHoster(name: string): string {
  return Object.hasOwn(names, name) ? (names[name] ?? name) : name
}
