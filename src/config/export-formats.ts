// The values of options of `export`, and of a list's URL, that choose what is written.

export const exportFormats = [
  'mmdb',
  'csv',
  'parquet',
  'nginx',
  'haproxy',
  'ipset',
  'nft',
  'crowdsec',
  'cidr',
  'suricata',
  'zeek',
  'f5',
  'mikrotik',
  'rbldnsd',
] as const
export type ExportFormat = (typeof exportFormats)[number]

/** For list URLs: src/export/list-formats.ts. */
export const listFormats = [
  'plain',
  'range',
  'json',
  'f5',
  'checkpoint',
  'mikrotik',
  'nginx',
  'haproxy',
  'nft',
  'ipset',
  'mmdb',
] as const
export type ListFormat = (typeof listFormats)[number]

export const mmdbLayoutNames = [
  'iprisk',
  'anonymous-ip',
  'anonymous-plus',
  'residential-proxy',
  'country',
  'city',
  'asn',
] as const
export type MmdbLayoutName = (typeof mmdbLayoutNames)[number]
