// Travel (contract 6.7): what is wrong with `previous`, the great circle against the slow formula by
// vectors, and what is said of two addresses of the small table.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contextAnswer, contextOf } from '../../src/context/context.ts'
import { distanceKm, unknownTravel } from '../../src/context/travel.ts'
import { newAddressWords } from '../../src/ip/address.ts'
import { parseAddress } from '../../src/ip/parse-address.ts'
import { locate, newLocated } from '../../src/table/lookup/locate.ts'
import { openTable } from '../../src/table/open-table.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { wrongPrevious } from './wrong-previous.ts'

const nowMs = Date.UTC(2026, 7, 22, 12)
const { reader } = openTable(writeSmallTable())

function travel(ip: string, previous: unknown) {
  const words = newAddressWords()
  const located = newLocated()
  locate(reader.views, parseAddress(ip, words) === 4 ? 4 : 6, words, located)
  return contextAnswer(contextOf({ previous }, nowMs)!, { reader, located })
}

describe('previous', () => {
  it('is wrong in the member that is to blame', () => {
    for (const [json, param] of wrongPrevious(nowMs)) {
      const { travel: said, context_errors: errors } = travel('9.1.2.3', JSON.parse(json))
      expect(said, json.slice(0, 60)).toEqual(unknownTravel)
      const message = expect.stringMatching(/^It .*\.$/)
      expect(errors, json.slice(0, 60)).toEqual([{ param, message }])
    }
  })

  it.each([
    ['2026-08-22T10:00:00Z', 2],
    ['2026-08-22t12:00:00.5+02:00', 1.9999],
    ['2026-08-22T12:01:00Z', 0.0167],
    ['2026-08-22T11:59:59Z', 0.0167],
    ['1970-01-01T00:00:00Z', 496_500],
  ])('was %s, %d hours before noon', (at, hours) => {
    expect(travel('9.1.2.3', { ip: '2a00::1', at })).toMatchObject({ travel: { hours } })
  })
})

describe('travel', () => {
  const at = '2026-08-22T10:00:00Z'

  it('is the distance less both radii, and says why it is not reliable', () => {
    expect(travel('9.5.0.1', { ip: '11.5.0.1', at })).toEqual({
      travel: {
        known: true,
        km: 17_556,
        hours: 2,
        kmh: 8778,
        same_country: true,
        same_asn: false,
        reliable: false,
        unreliable_because: ['hosting', 'country_only'],
      },
    })
  })

  it('is none at one place, in either direction', () => {
    for (const [from, to] of [
      ['9.5.0.1', '2a00::1'],
      ['2a00::1', '9.5.0.1'],
      ['9.5.0.1', '9.5.0.1'],
    ] as const) {
      const { travel: said } = travel(to, { ip: from, at })
      expect(said).toMatchObject({ known: true, km: 0, kmh: 0, same_asn: true, reliable: true })
    }
  })

  it.each(['10.0.0.1', '12.0.0.1', '13.0.0.1', '::1', '2001:db8::1'])(
    'is unknown from or to %s, which has no place',
    (ip) => {
      expect(travel('9.5.0.1', { ip, at })).toEqual({ travel: unknownTravel })
      expect(travel(ip, { ip: '9.5.0.1', at })).toEqual({ travel: unknownTravel })
    },
  )
})

describe('distanceKm', () => {
  const point = fc.record({
    latitude: fc.double({ min: -90, max: 90, noNaN: true }),
    longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  })
  type Point = (typeof point extends fc.Arbitrary<infer T> ? T : never) & object

  /** The angle between both as vectors. */
  function slowKm(from: Point, to: Point): number {
    const vector = ({ latitude, longitude }: Point) => {
      const [phi, lambda] = [latitude, longitude].map((degrees) => (degrees * Math.PI) / 180)
      const flat = Math.cos(phi!)
      return [flat * Math.cos(lambda!), flat * Math.sin(lambda!), Math.sin(phi!)] as const
    }
    const [a, b] = [vector(from), vector(to)]
    const cross = Math.hypot(
      a[1] * b[2] - a[2] * b[1],
      a[2] * b[0] - a[0] * b[2],
      a[0] * b[1] - a[1] * b[0],
    )
    return 6371.0088 * Math.atan2(cross, a[0] * b[0] + a[1] * b[1] + a[2] * b[2])
  }

  it('is what the vectors say, the same both ways, and zero for one place', () => {
    const isSame = (a: Point, b: Point): boolean =>
      // Near the antipode the haversine formula loses half of its digits.
      Math.abs(distanceKm(a, b) - slowKm(a, b)) < 0.5 &&
      distanceKm(a, b) === distanceKm(b, a) &&
      distanceKm(a, a) === 0
    expect(fc.check(fc.property(point, point, isSame), { numRuns: 5000 }).counterexample).toBe(null)
  })

  it.each([
    ['over the antimeridian', [0, 179.5], [0, -179.5], 111.2],
    ['from pole to pole', [90, 0], [-90, 120], 20_015.1],
    ['at a pole, whatever the longitude', [90, -170], [90, 10], 0],
    ['to the antipode', [10, 20], [-10, -160], 20_015.1],
    ['from London to New York', [51.5074, -0.1278], [40.7128, -74.006], 5570.2],
  ] as const)('%s', (_, [a, b], [c, d], km) => {
    const found = distanceKm({ latitude: a, longitude: b }, { latitude: c, longitude: d })
    expect(found).toBeCloseTo(km, 1)
  })
})
