// The countries that an answer can name, with common other names. Tables get code, name and
// currency from countries-list (build/places/countries.ts); this copy is for installations without
// the compiler. test/policy/condition/member-values.test.ts compares both.

import rows from './countries.json' with { type: 'json' }

export interface Country {
  /** ISO 3166-1 alpha-2, with the reserved AC and TA and the user-assigned XK. */
  readonly code: string
  /** ISO 3166-1 alpha-3. */
  readonly alpha3: string
  /** ISO 4217; '' in Antarctica. */
  readonly currency: string
  readonly name: string
  /** Other current and former names. */
  readonly aliases: readonly string[]
}

export const countries: readonly Country[] = rows

export const continents = {
  AF: 'Africa',
  AN: 'Antarctica',
  AS: 'Asia',
  EU: 'Europe',
  NA: 'North America',
  OC: 'Oceania',
  SA: 'South America',
} as const
