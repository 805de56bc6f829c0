// A place, as the contract's `location` object has it (2 and 3.4). Unknown text is ''.

export const accuracies = ['city', 'region', 'country'] as const
export type Accuracy = (typeof accuracies)[number]

export interface Location {
  readonly country_code: string
  readonly continent_code: string
  readonly continent: string
  readonly country: string
  readonly state: string
  readonly city: string
  readonly zip: string
  /** Degrees north, at most four decimals. */
  readonly latitude: number
  /** Degrees east, at most four decimals. */
  readonly longitude: number
  /** IANA name, or ''. */
  readonly timezone: string
  readonly currency_code: string
  readonly accuracy: Accuracy
}
