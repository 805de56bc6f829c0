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

/** IPv4, in the registry's order. */
export const ipv4Registry = [
  { prefix: '0.0.0.0/8', name: '"This network"', rfc: 'RFC791, Section 3.2', reachable: false },
  {
    prefix: '0.0.0.0/32',
    name: '"This host on this network"',
    rfc: 'RFC1122, Section 3.2.1.3',
    reachable: false,
  },
  { prefix: '10.0.0.0/8', name: 'Private-Use', rfc: 'RFC1918', reachable: false },
  { prefix: '100.64.0.0/10', name: 'Shared Address Space', rfc: 'RFC6598', reachable: false },
  { prefix: '127.0.0.0/8', name: 'Loopback', rfc: 'RFC1122, Section 3.2.1.3', reachable: false },
  { prefix: '169.254.0.0/16', name: 'Link Local', rfc: 'RFC3927', reachable: false },
  { prefix: '172.16.0.0/12', name: 'Private-Use', rfc: 'RFC1918', reachable: false },
  {
    prefix: '192.0.0.0/24',
    name: 'IETF Protocol Assignments',
    rfc: 'RFC6890, Section 2.1',
    reachable: false,
  },
  {
    prefix: '192.0.0.0/29',
    name: 'IPv4 Service Continuity Prefix',
    rfc: 'RFC7335',
    reachable: false,
  },
  { prefix: '192.0.0.8/32', name: 'IPv4 dummy address', rfc: 'RFC7600', reachable: false },
  {
    prefix: '192.0.0.9/32',
    name: 'Port Control Protocol Anycast',
    rfc: 'RFC7723',
    reachable: true,
  },
  {
    prefix: '192.0.0.10/32',
    name: 'Traversal Using Relays around NAT Anycast',
    rfc: 'RFC8155',
    reachable: true,
  },
  {
    prefix: '192.0.0.170/32',
    name: 'NAT64/DNS64 Discovery',
    rfc: 'RFC8880, RFC7050, Section 2.2',
    reachable: false,
  },
  {
    prefix: '192.0.0.171/32',
    name: 'NAT64/DNS64 Discovery',
    rfc: 'RFC8880, RFC7050, Section 2.2',
    reachable: false,
  },
  { prefix: '192.0.2.0/24', name: 'Documentation (TEST-NET-1)', rfc: 'RFC5737', reachable: false },
  { prefix: '192.31.196.0/24', name: 'AS112-v4', rfc: 'RFC7535', reachable: true },
  { prefix: '192.52.193.0/24', name: 'AMT', rfc: 'RFC7450', reachable: true },
  {
    prefix: '192.88.99.0/24',
    name: 'Deprecated (6to4 Relay Anycast)',
    rfc: 'RFC7526',
    reachable: undefined,
  },
  {
    prefix: '192.88.99.2/32',
    name: '6a44-relay anycast address',
    rfc: 'RFC6751',
    reachable: false,
  },
  { prefix: '192.168.0.0/16', name: 'Private-Use', rfc: 'RFC1918', reachable: false },
  {
    prefix: '192.175.48.0/24',
    name: 'Direct Delegation AS112 Service',
    rfc: 'RFC7534',
    reachable: true,
  },
  { prefix: '198.18.0.0/15', name: 'Benchmarking', rfc: 'RFC2544', reachable: false },
  {
    prefix: '198.51.100.0/24',
    name: 'Documentation (TEST-NET-2)',
    rfc: 'RFC5737',
    reachable: false,
  },
  {
    prefix: '203.0.113.0/24',
    name: 'Documentation (TEST-NET-3)',
    rfc: 'RFC5737',
    reachable: false,
  },
  { prefix: '240.0.0.0/4', name: 'Reserved', rfc: 'RFC1112, Section 4', reachable: false },
  {
    prefix: '255.255.255.255/32',
    name: 'Limited Broadcast',
    rfc: 'RFC8190, RFC919, Section 7',
    reachable: false,
  },
] as const satisfies readonly SpecialPurposeEntry[]

/** IPv6, in the registry's order. */
export const ipv6Registry = [
  { prefix: '::1/128', name: 'Loopback Address', rfc: 'RFC4291', reachable: false },
  { prefix: '::/128', name: 'Unspecified Address', rfc: 'RFC4291', reachable: false },
  { prefix: '::ffff:0:0/96', name: 'IPv4-mapped Address', rfc: 'RFC4291', reachable: false },
  { prefix: '64:ff9b::/96', name: 'IPv4-IPv6 Translat.', rfc: 'RFC6052', reachable: true },
  { prefix: '64:ff9b:1::/48', name: 'IPv4-IPv6 Translat.', rfc: 'RFC8215', reachable: false },
  { prefix: '100::/64', name: 'Discard-Only Address Block', rfc: 'RFC6666', reachable: false },
  { prefix: '100:0:0:1::/64', name: 'Dummy IPv6 Prefix', rfc: 'RFC9780', reachable: false },
  { prefix: '2001::/23', name: 'IETF Protocol Assignments', rfc: 'RFC2928', reachable: false },
  { prefix: '2001::/32', name: 'TEREDO', rfc: 'RFC4380, RFC8190', reachable: undefined },
  {
    prefix: '2001:1::1/128',
    name: 'Port Control Protocol Anycast',
    rfc: 'RFC7723',
    reachable: true,
  },
  {
    prefix: '2001:1::2/128',
    name: 'Traversal Using Relays around NAT Anycast',
    rfc: 'RFC8155',
    reachable: true,
  },
  {
    prefix: '2001:1::3/128',
    name: 'DNS-SD Service Registration Protocol Anycast',
    rfc: 'RFC9665',
    reachable: true,
  },
  {
    prefix: '2001:2::/48',
    name: 'Benchmarking',
    rfc: 'RFC5180, RFC Errata 1752',
    reachable: false,
  },
  { prefix: '2001:3::/32', name: 'AMT', rfc: 'RFC7450', reachable: true },
  { prefix: '2001:4:112::/48', name: 'AS112-v6', rfc: 'RFC7535', reachable: true },
  {
    prefix: '2001:10::/28',
    name: 'Deprecated (previously ORCHID)',
    rfc: 'RFC4843',
    reachable: undefined,
  },
  { prefix: '2001:20::/28', name: 'ORCHIDv2', rfc: 'RFC7343', reachable: true },
  {
    prefix: '2001:30::/28',
    name: 'Drone Remote ID Protocol Entity Tags (DETs) Prefix',
    rfc: 'RFC9374',
    reachable: true,
  },
  { prefix: '2001:db8::/32', name: 'Documentation', rfc: 'RFC3849', reachable: false },
  { prefix: '2002::/16', name: '6to4', rfc: 'RFC3056', reachable: undefined },
  {
    prefix: '2620:4f:8000::/48',
    name: 'Direct Delegation AS112 Service',
    rfc: 'RFC7534',
    reachable: true,
  },
  { prefix: '3fff::/20', name: 'Documentation', rfc: 'RFC9637', reachable: false },
  { prefix: '5f00::/16', name: 'Segment Routing (SRv6) SIDs', rfc: 'RFC9602', reachable: false },
  { prefix: 'fc00::/7', name: 'Unique-Local', rfc: 'RFC4193, RFC8190', reachable: false },
  { prefix: 'fe80::/10', name: 'Link-Local Unicast', rfc: 'RFC4291', reachable: false },
] as const satisfies readonly SpecialPurposeEntry[]
