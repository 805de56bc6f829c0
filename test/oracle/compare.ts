// One answer beside what the inputs say, part by part. Each part returns what is wrong, as
// `part: expected …, got …`, or `undefined`.

import { memoise } from '../../src/base/memoise.ts'
import type { Location } from '../../src/api/check-answer.ts'
import type { Network } from '../../src/model/network.ts'
import type { AsRow, PlainPlace } from './world.ts'

const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
/** Codes that Intl names, but which are no country. */
const noCountries = new Set(['EU', 'EZ', 'UN', 'QO', 'ZZ', 'XA', 'XB'])

const isCountry = memoise(
  (code: string) =>
    /^[A-Z]{2}$/.test(code) && !noCountries.has(code) && regions.of(code) !== undefined,
)

/** One line without what nobody sees: soft hyphens, marks of direction; joiners are letters. */
const oneLine = memoise((text: string) => {
  const seen = Array.from(text).filter((one) => !/\p{Cf}/u.test(one) || /[\u200C\u200D]/.test(one))
  return seen.join('').replaceAll(/\s+/g, ' ').trim()
})

export function placeDifference(
  expected: PlainPlace | null,
  got: Location | undefined,
  /** Announced in many places: its country is all that may be said. */
  anycast = false,
): string | undefined {
  const code = expected?.country_code?.trim() ?? ''
  if (expected === null || !isCountry(code)) {
    return got === undefined ? undefined : `place: expected none (${code}), got ${got.country_code}`
  }
  if (got === undefined) return `place: expected ${code} ${expected.city}, got none`
  if (got.country_code !== code) return `country: expected ${code}, got ${got.country_code}`
  if (anycast && got.accuracy === 'country' && got.city === '') return undefined
  const city = oneLine(expected.city ?? '')
  if (got.city !== city) return `city: expected ${city}, got ${got.city}`
  const state = oneLine(expected.state1 ?? '')
  if (got.state !== state) return `state: expected ${state}, got ${got.state}`
  const { latitude = 0, longitude = 0 } = expected
  if (latitude === 0 && longitude === 0) {
    return got.accuracy === 'country'
      ? undefined
      : `accuracy: expected country, got ${got.accuracy}`
  }
  if (isRounded(latitude, got.latitude) && isRounded(longitude, got.longitude)) return undefined
  return `coordinates: expected ${latitude} ${longitude}, got ${got.latitude} ${got.longitude}`
}

/** `rounded` is `exact` to four decimals. A file keeps halves of floats, hence the tolerance. */
function isRounded(exact: number, rounded: number): boolean {
  return rounded === Number(rounded.toFixed(4)) && Math.abs(rounded - exact) <= 0.00005 + 1e-9
}

/** How a table may spell an organization, and how often it did. */
export type Spelling = 'as written' | 'mended' | 'completed' | 'wrong'

/** Every spelling that the rows of an AS give its organization. */
export function spellingsOf(rows: readonly AsRow[]): ReadonlyMap<number, ReadonlySet<string>> {
  const spellings = new Map<number, Set<string>>()
  for (const { asn, organization } of rows) {
    const known = spellings.get(asn)
    if (known === undefined) spellings.set(asn, new Set([organization]))
    else known.add(organization)
  }
  return spellings
}

/** What stands in place of a name where nobody wrote one: nothing, the number, the registry. */
const stopgap =
  /^(?:|-|n\/a|none|null|unknown|AS ?\d+|RIPE Network Coordination Centre|Asia Pacific Network Information Centre)$/i

/**
 * As written in the CSV; or mended: without the quotes, the handle before ` - ` or the half of a
 * name that is said twice; or completed from the AS feeds, where the CSV has none or was cut off.
 */
export function spellingOf(network: Network, written: ReadonlySet<string>): Spelling {
  const { organization } = network
  if (written.has(organization)) return 'as written'
  let completed = false
  for (const spelling of written) {
    const plain = oneLine(spelling.replaceAll('"', '')).replaceAll(' ,', ',')
    if (plain.replace(/[,;]$/, '') === organization) return 'mended'
    if (organization !== '' && plain.endsWith(` - ${organization}`)) return 'mended'
    const wasCut = plain.length >= 78 && organization.startsWith(plain.slice(0, 40))
    if (stopgap.test(plain) || wasCut) completed = true
  }
  return completed ? 'completed' : 'wrong'
}
