// What an MMDB of each layout must say of an answer, written out once more: null where it says
// nothing.

import type { CheckAnswer } from '../../src/api/check-answer.ts'

/** What is said of `answer`, without members that are undefined or empty. */
type Said = Readonly<Record<string, unknown>> | null

function known(record: Readonly<Record<string, unknown>>): Said {
  const members = Object.entries(record).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  )
  return members.length === 0 ? null : Object.fromEntries(members)
}

export function fullOf(answer: CheckAnswer): Said {
  const { classification, risk_level, risk_score, network, location } = answer
  const { proxy, bot, signals, reasons } = answer
  return known({
    classification,
    risk_level,
    risk_score,
    network,
    location,
    proxy,
    bot,
    signals,
    reasons,
  })
}

export function anonymousIpOf({ signals }: CheckAnswer): Said {
  const { vpn, hosting, proxy, residential_proxy, tor } = signals
  const anonymous = vpn || hosting || proxy || residential_proxy || tor
  return known({
    is_anonymous: anonymous || undefined,
    is_anonymous_vpn: vpn || undefined,
    is_hosting_provider: hosting || undefined,
    is_public_proxy: proxy || undefined,
    is_residential_proxy: residential_proxy || undefined,
    is_tor_exit_node: tor || undefined,
  })
}

const confidences = { low: 30, medium: 50, high: 99 }

export function anonymousPlusOf(answer: CheckAnswer): Said {
  const anonymous = anonymousIpOf(answer)
  const { proxy } = answer
  if (anonymous === null) return null
  return known({
    ...anonymous,
    anonymizer_confidence: proxy && confidences[proxy.confidence],
    network_last_seen: proxy?.last_seen_at,
    provider_name: proxy?.provider,
  })
}

export function residentialProxyOf({ signals, proxy }: CheckAnswer): Said {
  if (!signals.residential_proxy || proxy === null) return null
  return known({
    anonymizer_confidence: confidences[proxy.confidence],
    network_last_seen: proxy.last_seen_at,
    provider_name: proxy.provider,
  })
}

export function countryOf(answer: CheckAnswer): Said {
  const { continent, country } = cityOf(answer) ?? {}
  return known({ continent, country })
}

const names = (text: string): Said => (text === '' ? null : { names: { en: text } })

export function cityOf({ location }: CheckAnswer): Said {
  if (location === null) return null
  const { city, continent, country, state, zip, latitude, longitude, timezone } = location
  const subdivision = names(state)
  return known({
    city: names(city),
    continent: known({ code: location.continent_code, names: names(continent)?.['names'] }),
    country: known({ iso_code: location.country_code, names: names(country)?.['names'] }),
    location: known({ latitude, longitude, time_zone: timezone }),
    postal: known({ code: zip }),
    subdivisions: subdivision === null ? undefined : [subdivision],
  })
}

export function asnOf({ network }: CheckAnswer): Said {
  if (network === null) return null
  return known({
    autonomous_system_number: network.asn,
    autonomous_system_organization: network.organization,
  })
}
