// How far and how fast a user would have travelled from a previous address to this one (contract
// 6.7: travel). Both locations are the table's, whose radius of accuracy is subtracted from the
// distance, so that speeds are lower bounds. `reliable` is false if an address does not show its
// user's location.

import type { Location, TravelAnswer } from '../api/check-answer.ts'
import { isJsonObject } from '../base/json-object.ts'
import { parseInstant } from '../base/time-text.ts'
import { newAddressWords } from '../ip/address.ts'
import { addressCharsMax, parseAddress } from '../ip/parse-address.ts'
import { type TravelDoubt, travelDoubts } from '../model/kind.ts'
import type { AnswerReader } from '../table/answer/answer-reader.ts'
import { readNetwork } from '../table/file/network-record.ts'
import { type Located, locate, newLocated } from '../table/lookup/locate.ts'

interface Previous {
  readonly ip: string
  readonly hours: number
}

const futureMsMax = 60_000
const hourMs = 3_600_000
const hoursMin = 1 / 60

export function parsePrevious(sent: unknown, nowMs: number) {
  const wrong = (param: string, message: string) => ({ error: { param, message } })
  if (!isJsonObject(sent)) return wrong('previous', 'It must be an object of "ip" and "at".')
  const { ip, at } = sent
  if (typeof ip !== 'string' || ip.length > addressCharsMax || parseAddress(ip, words) === 0) {
    return wrong('previous.ip', 'It must be one IPv4 or IPv6 address, as a string.')
  }
  const isTime = typeof at === 'string' && /^.{10}T/i.test(at)
  const atMs = isTime ? parseInstant(at.toUpperCase()) : undefined
  if (atMs === undefined) {
    return wrong('previous.at', 'It must be a time with a zone, such as 2026-08-22T10:00:00Z.')
  }
  if (atMs > nowMs + futureMsMax) {
    return wrong('previous.at', 'It is in the future; check the clocks of both machines.')
  }
  return { value: { ip, hours: Math.max(hoursMin, (nowMs - atMs) / hourMs) } }
}

export const unknownTravel: TravelAnswer = Object.freeze({
  known: false,
  km: 0,
  hours: 0,
  kmh: 0,
  same_country: false,
  same_asn: false,
  reliable: false,
  unreliable_because: Object.freeze([]),
})

const words = newAddressWords()
const there = newLocated()

/** `here` is the address that is checked. */
export function travelOf(reader: AnswerReader, here: Located, previous: Previous): TravelAnswer {
  locate(reader.views, parseAddress(previous.ip, words) === 4 ? 4 : 6, words, there)
  const from = sideOf(reader, there)
  const to = sideOf(reader, here)
  if (from === undefined || to === undefined) return unknownTravel
  const radii = radiusKm[from.place.accuracy] + radiusKm[to.place.accuracy]
  const km = Math.round(Math.max(0, distanceKm(from.place, to.place) - radii))
  const hours = Math.round(previous.hours * 10_000) / 10_000
  const doubts = travelDoubts.filter((doubt) => from.doubts[doubt] || to.doubts[doubt])
  return {
    known: true,
    km,
    hours,
    kmh: Math.round(km / hours),
    same_country: from.place.country_code === to.place.country_code,
    same_asn: from.asn !== 0 && from.asn === to.asn,
    reliable: doubts.length === 0,
    unreliable_because: doubts,
  }
}

/** Contract 6.7: travel. A location that is only a country is never reliable. */
const radiusKm = { city: 50, region: 200, country: 0 } as const

/** `undefined` for an address without a location. */
function sideOf(
  { parts, strings, views }: AnswerReader,
  { bogon, location, network: id, verdict }: Located,
) {
  if (bogon || location === 0) return undefined
  const place = parts.location(location)
  const { signals } = parts.verdict(verdict)
  const network = id === 0 ? undefined : readNetwork(views.networks, id, strings)
  const doubts: Readonly<Record<TravelDoubt, boolean>> = {
    relay: signals.relay,
    vpn: signals.vpn,
    tor: signals.tor,
    proxy: signals.proxy || signals.residential_proxy,
    hosting: signals.hosting || network?.type === 'hosting',
    satellite: network?.type === 'satellite',
    mobile: signals.mobile || network?.type === 'mobile',
    // An anycast address is near everyone.
    cdn: network?.type === 'cdn' || network?.anycast === true,
    corporate_egress: network?.corporate === true,
    country_only: place.accuracy === 'country',
  }
  return { place, asn: network?.asn ?? 0, doubts }
}

type Point = Pick<Location, 'latitude' | 'longitude'>

/** For a sphere with the mean radius of the earth (IUGG). */
const earthKm = 6371.0088

/** The great-circle distance, by the haversine formula. */
export function distanceKm(from: Point, to: Point): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180
  const half = (a: number, b: number): number => Math.sin(radians(b - a) / 2) ** 2
  const flat = Math.cos(radians(from.latitude)) * Math.cos(radians(to.latitude))
  const share = half(from.latitude, to.latitude) + flat * half(from.longitude, to.longitude)
  return 2 * earthKm * Math.asin(Math.sqrt(Math.min(1, share)))
}
