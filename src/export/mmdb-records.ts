// Records of an MMDB file: the answer of `check`, flat fields, or the layouts that readers of
// GeoIP2 files expect. Members without a value are absent: MMDB has no null.
//
//   iprisk         classification, risk_level, risk_score, network, location, proxy, bot, signals, reasons
//   with fields    classification: …, asn: …, flat, by the names of `check --format csv`
//   anonymous-ip   GeoIP2-Anonymous-IP   is_anonymous, is_anonymous_vpn, is_hosting_provider,
//                                        is_public_proxy, is_residential_proxy, is_tor_exit_node
//   anonymous-plus      GeoIP-Anonymous-Plus     those, anonymizer_confidence, network_last_seen,
//                                                provider_name
//   residential-proxy   GeoIP-Residential-Proxy  the last three, of residential proxies alone
//   country        GeoLite2-Country      continent, country
//   city           GeoIP2-City           city, continent, country, location, postal, subdivisions
//   asn            GeoLite2-ASN          autonomous_system_number, autonomous_system_organization

import type { Location, NetworkAnswer, ProxyAnswer } from '../api/check-answer.ts'
import type { MmdbLayoutName } from '../config/export-formats.ts'
import { signalNames } from '../model/kind.ts'
import type { VerdictPart } from '../table/answer/answer-reader.ts'
import type { ExportField, FieldType, FieldValue, PartName } from '../bulk/rows/answer-fields.ts'
import { type MmdbValue, double, map, uint, uint16 } from './mmdb-encoding.ts'

export interface DatabaseMember<Part> {
  readonly name: string
  readonly part: PartName
  readonly of: (part: Part) => MmdbValue | undefined
  /** Equal for equal members, if different parts may share a member. */
  readonly key?: ((part: Part) => string) | undefined
}

export interface DatabaseLayout {
  readonly databaseType: string
  readonly members: readonly DatabaseMember<never>[]
}

type Of<Part> = DatabaseMember<Part>['of']

const membersOf =
  <Part>(part: PartName) =>
  (name: string, of: Of<Part>, key?: DatabaseMember<Part>['key']): DatabaseMember<Part> => ({
    name,
    part,
    of,
    key,
  })
const ofVerdict = membersOf<VerdictPart>('verdict')
const ofNetwork = membersOf<NetworkAnswer>('network')
const ofLocation = membersOf<Location>('location')

/** `undefined` if all members are. */
function mapOf(
  members: readonly (readonly [key: string, value: MmdbValue | undefined])[],
): MmdbValue | undefined {
  const said = members.flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  )
  return said.length === 0 ? undefined : map(said)
}

const text = (value: string): string | undefined => (value === '' ? undefined : value)
const truth = (value: boolean): true | undefined => (value ? true : undefined)
const names = (name: string): MmdbValue | undefined => mapOf([['en', text(name)]])
const named = (name: string): MmdbValue | undefined => mapOf([['names', names(name)]])

const answer: DatabaseLayout = {
  databaseType: 'iprisk',
  members: [
    ofVerdict('classification', ({ classification }) => classification),
    ofVerdict('risk_level', ({ risk_level }) => risk_level),
    ofVerdict('risk_score', ({ risk_score }) => uint(risk_score)),
    ofNetwork('network', ({ asn, organization, type, mobile }) =>
      map([
        ['asn', uint(asn)],
        ['organization', organization],
        ['type', type],
        ['mobile', mobile],
      ]),
    ),
    ofLocation('location', (place) =>
      map(
        Object.entries(place).map(([key, value]) => [
          key,
          typeof value === 'number' ? double(value) : value,
        ]),
      ),
    ),
    ofVerdict('proxy', ({ proxy }) =>
      proxy === null
        ? undefined
        : map([
            ['confidence', proxy.confidence],
            ['type', proxy.type],
            ['provider', proxy.provider],
            ['last_seen_at', proxy.last_seen_at],
            ['percent_days_seen', double(proxy.percent_days_seen)],
          ]),
    ),
    ofVerdict('bot', ({ bot }) =>
      bot === null
        ? undefined
        : map([
            ['confidence', bot.confidence],
            ['provider', bot.provider],
            ['category', bot.category],
          ]),
    ),
    ofVerdict('signals', ({ signals }) => map(signalNames.map((name) => [name, signals[name]]))),
    ofVerdict('reasons', ({ reasons }) => reasons),
  ],
}

/** Includes hosting, as MaxMind does: no household is in a data centre. */
const isAnonymous = ({ signals }: VerdictPart): boolean =>
  signals.vpn || signals.proxy || signals.residential_proxy || signals.tor || signals.hosting

const anonymousIp: DatabaseLayout = {
  databaseType: 'GeoIP2-Anonymous-IP',
  members: [
    ofVerdict('is_anonymous', (part) => truth(isAnonymous(part))),
    ofVerdict('is_anonymous_vpn', ({ signals }) => truth(signals.vpn)),
    ofVerdict('is_hosting_provider', ({ signals }) => truth(signals.hosting)),
    ofVerdict('is_public_proxy', ({ signals }) => truth(signals.proxy)),
    ofVerdict('is_residential_proxy', ({ signals }) => truth(signals.residential_proxy)),
    ofVerdict('is_tor_exit_node', ({ signals }) => truth(signals.tor)),
  ],
}

/** On a scale of 1 to 99; readers know these three. */
const confidences = { low: 30, medium: 50, high: 99 } as const

/** Members of proxy evidence, which a verdict may lack. */
function evidence(holds: (part: VerdictPart) => boolean): readonly DatabaseMember<VerdictPart>[] {
  const member = (name: string, of: Of<ProxyAnswer>): DatabaseMember<VerdictPart> =>
    ofVerdict(name, (part) => (part.proxy !== null && holds(part) ? of(part.proxy) : undefined))
  return [
    member('anonymizer_confidence', ({ confidence }) => uint16(confidences[confidence])),
    member('network_last_seen', ({ last_seen_at }) => last_seen_at),
    member('provider_name', ({ provider }) => text(provider)),
  ]
}

const anonymousPlus: DatabaseLayout = {
  databaseType: 'GeoIP-Anonymous-Plus',
  members: [...anonymousIp.members, ...evidence(isAnonymous)],
}

const residentialProxy: DatabaseLayout = {
  databaseType: 'GeoIP-Residential-Proxy',
  members: evidence(({ signals }) => signals.residential_proxy),
}

const city: DatabaseLayout = {
  databaseType: 'GeoIP2-City',
  members: [
    ofLocation(
      'city',
      (place) => named(place.city),
      (place) => place.city,
    ),
    ofLocation(
      'continent',
      ({ continent_code, continent }) =>
        mapOf([
          ['code', text(continent_code)],
          ['names', names(continent)],
        ]),
      ({ continent_code, continent }) => `${continent_code}\t${continent}`,
    ),
    ofLocation(
      'country',
      ({ country_code, country }) =>
        mapOf([
          ['iso_code', text(country_code)],
          ['names', names(country)],
        ]),
      ({ country_code, country }) => `${country_code}\t${country}`,
    ),
    ofLocation(
      'location',
      ({ latitude, longitude, timezone }) =>
        mapOf([
          ['latitude', double(latitude)],
          ['longitude', double(longitude)],
          ['time_zone', text(timezone)],
        ]),
      ({ latitude, longitude, timezone }) => `${latitude}\t${longitude}\t${timezone}`,
    ),
    ofLocation(
      'postal',
      ({ zip }) => mapOf([['code', text(zip)]]),
      ({ zip }) => zip,
    ),
    ofLocation(
      'subdivisions',
      ({ state }) => {
        const one = named(state)
        return one === undefined ? undefined : [one]
      },
      ({ state }) => state,
    ),
  ],
}

const country: DatabaseLayout = {
  databaseType: 'GeoLite2-Country',
  members: city.members.filter(({ name }) => name === 'continent' || name === 'country'),
}

const asn: DatabaseLayout = {
  databaseType: 'GeoLite2-ASN',
  members: [
    ofNetwork('autonomous_system_number', ({ asn }) => uint(asn)),
    ofNetwork('autonomous_system_organization', ({ organization }) => text(organization)),
  ],
}

const layouts: Readonly<Record<MmdbLayoutName, DatabaseLayout>> = {
  iprisk: answer,
  'anonymous-ip': anonymousIp,
  'anonymous-plus': anonymousPlus,
  'residential-proxy': residentialProxy,
  country,
  city,
  asn,
}

const valueOf: Readonly<Record<FieldType, (value: FieldValue) => MmdbValue | undefined>> = {
  text: (value) => text(String(value)),
  truth: (value) => Boolean(value),
  small: (value) => uint(Number(value)),
  whole: (value) => uint(Number(value)),
  decimal: (value) => double(Number(value)),
}

export function databaseLayout(
  name: MmdbLayoutName,
  fields: readonly ExportField[] | undefined,
): DatabaseLayout {
  if (fields === undefined) return layouts[name]
  const members = fields.map(({ name, part, type, of }) => {
    return { name, part, of: (said: never) => valueOf[type](of(said)) }
  })
  return { databaseType: 'iprisk', members }
}
