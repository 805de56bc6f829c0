// The words by which `export` is told what to write.

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

/** src/export/mmdb-records.ts. */
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
