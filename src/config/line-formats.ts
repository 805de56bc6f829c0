// The values of options that tell `check` and `summarize` what files look like and what to write.

/** Logs by name; src/bulk/log-forms.ts has an example of each. */
export const logFormNames = [
  'common',
  'combined',
  'combined_forwarded',
  'vhost_combined',
  'gunicorn',
  'traefik',
  'haproxy',
  'alb',
  's3',
  'squid',
  'cloudfront',
  'iis',
  'w3c',
  'caddy',
  'traefik_json',
  'json',
  'logfmt',
] as const
export type LogFormName = (typeof logFormNames)[number]

/** `auto` looks at the first lines; `plain` takes each line for an address. */
export const logWords = ['auto', 'plain', ...logFormNames] as const

export const timeSpans = ['hour', 'day'] as const
export type TimeSpan = (typeof timeSpans)[number]

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
