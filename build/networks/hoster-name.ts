// One name for one hoster: feeds and tables write the same company in several ways, and who counts
// answers by provider would count it twice. Not a database of companies: only names that the
// catalogue's feeds and the hand-kept tables give to the same hoster.

const names: Readonly<Record<string, string>> = {
  'Amazon AWS': 'Amazon Web Services',
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
