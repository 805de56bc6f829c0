// The words by which `check` and `summarize` are told what files look like and what to write.

/** Access logs by name. */
export const accessLogFormats = ['common', 'combined', 'vhost_combined'] as const
export type AccessLogFormat = (typeof accessLogFormats)[number]

export const checkFormats = ['json', 'csv', 'text'] as const
export type CheckFormat = (typeof checkFormats)[number]

/** Columns of CSV; src/bulk/rows/csv-row.ts says what each of them holds. */
export const checkFields = [
  'ip',
  'version',
  'classification',
  'risk_score',
  'risk_level',
  'provider',
  'proxy_type',
  'proxy_confidence',
  'bot_provider',
  'bot_category',
  'signals',
  'reasons',
  'lists',
  'asn',
  'organization',
  'network_type',
  'mobile',
  'country_code',
  'country',
  'state',
  'city',
  'zip',
  'latitude',
  'longitude',
  'timezone',
  'error',
] as const
export type CheckField = (typeof checkFields)[number]

export const defaultCheckFields: readonly CheckField[] = [
  'ip',
  'classification',
  'risk_score',
  'risk_level',
  'provider',
  'bot_provider',
  'signals',
  'asn',
  'organization',
  'network_type',
  'country_code',
  'city',
  'error',
]
