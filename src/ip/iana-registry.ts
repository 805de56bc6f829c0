// IANA's special-purpose address registries as a table: which prefixes are set apart, by which RFC,
// and whether they are Globally Reachable (RFC 6890, 2.2.1). The committed registry is
// data/iana/*.csv; a test compares this table with it row for row. Deliberately not here: what
// follows from an entry (special-purpose.ts), multicast, and the space that IANA never gave to
// anybody.

/** One entry of a registry; `reachable` is undefined where it says N/A or nothing (terminated). */
export interface SpecialPurposeEntry {
  readonly prefix: string
  readonly name: string
  readonly rfc: string
  readonly reachable: boolean | undefined
}

type Row = readonly [prefix: string, name: string, rfc: string, reachable: boolean | undefined]

function registryOf(rows: readonly Row[]): readonly SpecialPurposeEntry[] {
  return rows.map(([prefix, name, rfc, reachable]) => ({ prefix, name, rfc, reachable }))
}

/** IPv4, in the registry's order. */
export const ipv4Registry = registryOf([
  ['0.0.0.0/8', '"This network"', 'RFC791, Section 3.2', false],
  ['0.0.0.0/32', '"This host on this network"', 'RFC1122, Section 3.2.1.3', false],
  ['10.0.0.0/8', 'Private-Use', 'RFC1918', false],
  ['100.64.0.0/10', 'Shared Address Space', 'RFC6598', false],
  ['127.0.0.0/8', 'Loopback', 'RFC1122, Section 3.2.1.3', false],
  ['169.254.0.0/16', 'Link Local', 'RFC3927', false],
  ['172.16.0.0/12', 'Private-Use', 'RFC1918', false],
  ['192.0.0.0/24', 'IETF Protocol Assignments', 'RFC6890, Section 2.1', false],
  ['192.0.0.0/29', 'IPv4 Service Continuity Prefix', 'RFC7335', false],
  ['192.0.0.8/32', 'IPv4 dummy address', 'RFC7600', false],
  ['192.0.0.9/32', 'Port Control Protocol Anycast', 'RFC7723', true],
  ['192.0.0.10/32', 'Traversal Using Relays around NAT Anycast', 'RFC8155', true],
  ['192.0.0.170/32', 'NAT64/DNS64 Discovery', 'RFC8880, RFC7050, Section 2.2', false],
  ['192.0.0.171/32', 'NAT64/DNS64 Discovery', 'RFC8880, RFC7050, Section 2.2', false],
  ['192.0.2.0/24', 'Documentation (TEST-NET-1)', 'RFC5737', false],
  ['192.31.196.0/24', 'AS112-v4', 'RFC7535', true],
  ['192.52.193.0/24', 'AMT', 'RFC7450', true],
  ['192.88.99.0/24', 'Deprecated (6to4 Relay Anycast)', 'RFC7526', undefined],
  ['192.88.99.2/32', '6a44-relay anycast address', 'RFC6751', false],
  ['192.168.0.0/16', 'Private-Use', 'RFC1918', false],
  ['192.175.48.0/24', 'Direct Delegation AS112 Service', 'RFC7534', true],
  ['198.18.0.0/15', 'Benchmarking', 'RFC2544', false],
  ['198.51.100.0/24', 'Documentation (TEST-NET-2)', 'RFC5737', false],
  ['203.0.113.0/24', 'Documentation (TEST-NET-3)', 'RFC5737', false],
  ['240.0.0.0/4', 'Reserved', 'RFC1112, Section 4', false],
  ['255.255.255.255/32', 'Limited Broadcast', 'RFC8190, RFC919, Section 7', false],
])

/** IPv6, in the registry's order. */
export const ipv6Registry = registryOf([
  ['::1/128', 'Loopback Address', 'RFC4291', false],
  ['::/128', 'Unspecified Address', 'RFC4291', false],
  ['::ffff:0:0/96', 'IPv4-mapped Address', 'RFC4291', false],
  ['64:ff9b::/96', 'IPv4-IPv6 Translat.', 'RFC6052', true],
  ['64:ff9b:1::/48', 'IPv4-IPv6 Translat.', 'RFC8215', false],
  ['100::/64', 'Discard-Only Address Block', 'RFC6666', false],
  ['100:0:0:1::/64', 'Dummy IPv6 Prefix', 'RFC9780', false],
  ['2001::/23', 'IETF Protocol Assignments', 'RFC2928', false],
  ['2001::/32', 'TEREDO', 'RFC4380, RFC8190', undefined],
  ['2001:1::1/128', 'Port Control Protocol Anycast', 'RFC7723', true],
  ['2001:1::2/128', 'Traversal Using Relays around NAT Anycast', 'RFC8155', true],
  ['2001:1::3/128', 'DNS-SD Service Registration Protocol Anycast', 'RFC9665', true],
  ['2001:2::/48', 'Benchmarking', 'RFC5180, RFC Errata 1752', false],
  ['2001:3::/32', 'AMT', 'RFC7450', true],
  ['2001:4:112::/48', 'AS112-v6', 'RFC7535', true],
  ['2001:10::/28', 'Deprecated (previously ORCHID)', 'RFC4843', undefined],
  ['2001:20::/28', 'ORCHIDv2', 'RFC7343', true],
  ['2001:30::/28', 'Drone Remote ID Protocol Entity Tags (DETs) Prefix', 'RFC9374', true],
  ['2001:db8::/32', 'Documentation', 'RFC3849', false],
  ['2002::/16', '6to4', 'RFC3056', undefined],
  ['2620:4f:8000::/48', 'Direct Delegation AS112 Service', 'RFC7534', true],
  ['3fff::/20', 'Documentation', 'RFC9637', false],
  ['5f00::/16', 'Segment Routing (SRv6) SIDs', 'RFC9602', false],
  ['fc00::/7', 'Unique-Local', 'RFC4193, RFC8190', false],
  ['fe80::/10', 'Link-Local Unicast', 'RFC4291', false],
])
