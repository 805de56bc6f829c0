// Parts of a condition that can never match, or always do: each is reported at its place, and
// nothing is reported that an answer can satisfy.

import { array, assert, constantFrom, integer, property, tuple } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileCondition } from '../../../src/policy/condition/condition.ts'

function warningsOf(text: string): readonly string[] {
  const compiled = compileCondition(text)
  if (compiled.kind === 'fault') throw new Error(`${text}: ${compiled.message}`)
  return compiled.warnings.map(({ message, line, column }) => `${line}:${column} ${message}`)
}

describe('a condition with a part that never matches', () => {
  it.each([
    ['location.country_code == "UK"', '1:26 location.country_code is never "UK"; did you mean GB?'],
    ['"UK" == location.country_code', '1:1 location.country_code is never "UK"; did you mean GB?'],
    ['location.country_code != "UK"', '1:26 location.country_code is never "UK"; did you mean GB?'],
    [
      'location.country_code in ["DE", "gb"]',
      '1:33 location.country_code is never "gb"; did you mean GB?',
    ],
    [
      'location.country_code == "USA"',
      '1:26 location.country_code is never "USA"; did you mean US?',
    ],
    ['location.country_code == "EN"', '1:26 location.country_code is never "EN"; did you mean GB?'],
    [
      '[location.country_code] == ["UK"]',
      '1:29 location.country_code is never "UK"; did you mean GB?',
    ],
    [
      'reasons == ["tor_exit_listd"]',
      '1:13 reasons never has "tor_exit_listd"; did you mean tor_exit_listed?',
    ],
    ['location.country_code in []', '1:26 nothing is in `[]`'],
    ['lists.exists(l, l.startsWith("VIP-"))', '1:30 nothing in lists starts with "VIP-"'],
    [
      'proxy.last_seen_at > "2026-08-22" && proxy.last_seen_at < "2026-08-01"',
      '1:1 no value of proxy.last_seen_at satisfies all these comparisons; did you mean || or in?',
    ],
    [
      'location.country_code == "Germany"',
      '1:26 location.country_code is never "Germany"; did you mean DE?',
    ],
    [
      'location.country_code == "Burma"',
      '1:26 location.country_code is never "Burma"; did you mean MM?',
    ],
    [
      'location.country_code == "EU"',
      '1:26 location.country_code is never "EU"; did you mean location.continent_code EU?',
    ],
    [
      'location.country_code == "XX"',
      '1:26 location.country_code is never "XX"; an unknown country reads as ""',
    ],
    [
      'location.country_code == "QQ"',
      '1:26 location.country_code is never "QQ"; it is an ISO 3166-1 code such as GB',
    ],
    [
      'location.continent_code == "Europe"',
      '1:28 location.continent_code is never "Europe"; did you mean EU?',
    ],
    [
      'location.continent_code == "US"',
      '1:28 location.continent_code is never "US"; did you mean location.country_code US?',
    ],
    ['location.continent == "EU"', '1:23 location.continent is never "EU"; did you mean Europe?'],
    [
      'location.country == "UK"',
      '1:21 location.country is never "UK"; did you mean United Kingdom?',
    ],
    [
      'location.country == "Germny"',
      '1:21 location.country is never "Germny"; did you mean Germany?',
    ],
    [
      'location.currency_code == "eur"',
      '1:27 location.currency_code is never "eur"; did you mean EUR?',
    ],
    [
      'location.currency_code == "Euro"',
      '1:27 location.currency_code is never "Euro"; it is an ISO 4217 code such as EUR',
    ],
    [
      'location.timezone == "europe/berlin"',
      '1:22 location.timezone is never "europe/berlin"; did you mean Europe/Berlin?',
    ],
    [
      'location.timezone == "US/Pacific"',
      '1:22 location.timezone is never "US/Pacific"; did you mean America/Los_Angeles?',
    ],
    [
      'location.timezone == "+01:00"',
      '1:22 location.timezone is never "+01:00"; it is an IANA name such as Europe/Berlin',
    ],
    ['location.timezone.startsWith("Europ/")', '1:30 location.timezone never starts with "Europ/"'],
    [
      '"tor_exit_listd" in reasons',
      '1:1 reasons never has "tor_exit_listd"; did you mean tor_exit_listed?',
    ],
    [
      'reasons.exists(r, r == "tor_exit_listd")',
      '1:24 reasons never has "tor_exit_listd"; did you mean tor_exit_listed?',
    ],
    [
      'reasons.filter(r, r != "clamp_100").exists(r, r in ["tor_exit_listd"])',
      '1:53 reasons never has "tor_exit_listd"; did you mean tor_exit_listed?',
    ],
    ['reasons.exists(r, r.startsWith("torr"))', '1:32 nothing in reasons starts with "torr"'],
    [
      'reasons.exists(r, r.contains("TOR_"))',
      '1:30 nothing in reasons contains "TOR_"; case matters, as in tor_exit_listed',
    ],
    ['"" in reasons', '1:1 reasons never has ""'],
    ['"Office" in lists', '1:1 lists never has "Office"; did you mean office?'],
    [
      '"9-to-5" in lists',
      '1:1 lists never has "9-to-5"; list names have a–z, 0–9 and -, and begin with a letter',
    ],
    ['location.country_code in lists', '1:1 lists never contains location.country_code'],
    ['classification == risk_level', '1:1 classification is never equal to risk_level'],
    [
      '["vnp"].exists(c, classification == c)',
      '1:2 classification is never "vnp"; did you mean vpn?',
    ],
    [
      'location.country_code == (signals.vpn ? "UK" : "FR")',
      '1:41 location.country_code is never "UK"; did you mean GB?',
    ],
    ['classification.startsWith("hosted")', '1:27 classification never starts with "hosted"'],
    ['network.type.endsWith("")', '1:23 every text ends with ""'],
    ['lists.exists(l, l.startsWith(""))', '1:30 every text starts with ""'],
    ['proxy.type.contains("datacenter")', '1:21 proxy.type never contains "datacenter"'],
    [
      'risk_level >= "high"',
      '1:15 risk_level would be compared alphabetically; compare risk_score instead, or list the words with in',
    ],
    [
      '"medium" <= proxy.confidence',
      '1:1 proxy.confidence would be compared alphabetically; list the words with in',
    ],
    [
      'proxy.last_seen_at == "22.08.2026"',
      '1:23 proxy.last_seen_at is never "22.08.2026"; it is a day such as 2026-08-22',
    ],
    [
      'proxy.last_seen_at >= "2026-8-1"',
      '1:23 proxy.last_seen_at is never "2026-8-1"; did you mean 2026-08-01?',
    ],
    [
      'proxy.last_seen_at > "2026-08-22T00:00:00Z"',
      '1:22 proxy.last_seen_at is never "2026-08-22T00:00:00Z"; did you mean 2026-08-22?',
    ],
    ['proxy.last_seen_at.startsWith("22-")', '1:31 proxy.last_seen_at never starts with "22-"'],
    [
      'bot.provider == "Googlebot "',
      '1:17 bot.provider is never "Googlebot "; did you mean "Googlebot"?',
    ],
    ['risk_score > 100', '1:14 this is never true: risk_score is from 0 to 100'],
    ['101 <= risk_score', '1:1 this is never true: risk_score is from 0 to 100'],
    ['risk_score < 101', '1:14 this is always true: risk_score is from 0 to 100'],
    ['risk_score > -1', '1:14 this is always true: risk_score is from 0 to 100'],
    ['risk_score == 150', '1:15 risk_score is never 150: risk_score is from 0 to 100'],
    ['risk_score in [50, 500]', '1:20 risk_score is never 500: risk_score is from 0 to 100'],
    ['version == 5', '1:12 version is never 5: version is 4 or 6'],
    ['version != 16', '1:12 version is never 16: version is 4 or 6'],
    ['version > 6', '1:11 this is never true: version is 4 or 6'],
    ['network.asn == -1', '1:16 network.asn is never -1: network.asn is from 0 to 4294967295'],
    [
      'proxy.percent_days_seen > 100.0',
      '1:27 this is never true: proxy.percent_days_seen is from 0 to 100',
    ],
    ['location.latitude < -90.5', '1:21 this is never true: location.latitude is from -90 to 90'],
    [
      'risk_score + (signals.hosting ? 25 : 0) >= 126',
      '1:44 this is never true: the sum is from 0 to 125',
    ],
    ['size(lists) > 1000', '1:15 this is never true: the size is from 0 to 1000'],
    ['size(location.country_code) == 3', '1:32 the size is never 3: the size is from 0 to 2'],
    [
      'signals.tor &&\n  !(location.country_code == "uk")',
      '2:30 location.country_code is never "uk"; did you mean GB?',
    ],
  ])('%s', (text, expected) => {
    expect(warningsOf(text)).toEqual([expected])
  })

  it.each([
    ['location.country_code == "GB" && location.country_code == "IE"', /^1:1 no value of location/],
    ['location.country_code != "GB" || location.country_code != "IE"', /^1:1 every value of .*&&/],
    [
      'classification == "tor" && signals.vpn && classification in ["vpn", "proxy"]',
      /^1:1 no value/,
    ],
    ['risk_score >= 90 && risk_score < 50', /^1:1 no value of risk_score/],
    ['risk_score > 10 && risk_score < 11', /^1:1 no value of risk_score/],
    ['risk_score < 90 || risk_score > 50', /^1:1 every value of risk_score/],
    ['signals.tor && !signals.tor', /^1:1 no value of signals.tor/],
    ['signals.tor != true && signals.tor != false', /^1:1 no value of signals.tor/],
    ['signals.tor || signals.tor == false', /^1:1 every value of signals.tor/],
    ['!(version == 4) && !(6 == version)', /^1:1 no value of version/],
    [
      'signals.vpn || (network.asn == 1 && network.asn == 2)',
      /^1:17 no value of network.asn satisfies all/,
    ],
    ['network.organization == "A" && network.organization == "B"', /^1:1 no value/],
  ])('%s contradicts itself', (text, expected) => {
    expect(warningsOf(text)).toEqual([expect.stringMatching(expected)])
  })

  it('is reported with each of its parts, in the order of the text', () => {
    const text = 'location.country_code in ["UK", "FR", "usa"] || risk_score > 100'
    expect(warningsOf(text).map((one) => one.split(' ')[0])).toEqual(['1:27', '1:39', '1:62'])
  })
})

describe('a condition that some answers satisfy and others do not has no warning', () => {
  it.each([
    'true',
    'false',
    'classification in reasons && classification != "proxy"',
    'location.country == location.country_code',
    'risk_score >= 0',
    'risk_score <= 100',
    'risk_score <= 0',
    'risk_score >= 100',
    'version >= 4',
    'size(lists) >= 0',
    'location.country_code == ""',
    'location.country_code in ["GB", "XK", "AC", "AQ"]',
    'location.country == "Türkiye" || location.country == "Bonaire"',
    'location.currency_code == "XCG" || location.currency_code == ""',
    'location.timezone in ["Asia/Kolkata", "Europe/Kyiv", "America/Argentina/Ushuaia", "Etc/GMT-5", ""]',
    'location.timezone.startsWith("America/") || location.timezone.startsWith("Eu")',
    'location.city == "Zürich" || location.state == "\'Asir Region" || location.zip >= "10000"',
    '"vpn_trace" in reasons || "list_blocked" in reasons || "residential_proxy_trace" in reasons',
    'reasons.exists(r, r.startsWith("blocklist_")) && !reasons.all(r, r.endsWith("_listed"))',
    'lists.exists(l, l.startsWith("off")) && "reported" in lists',
    'proxy.last_seen_at >= "2026" && proxy.last_seen_at < "2026-08" || proxy.last_seen_at == ""',
    'proxy.last_seen_at.startsWith("2026-1") || proxy.last_seen_at.contains("-08-")',
    'proxy.last_seen_at != "" && proxy.last_seen_at < "2026-01-01"',
    'proxy.percent_days_seen > 0.1 && proxy.percent_days_seen < 0.2',
    'risk_score > 10 && risk_score < 12',
    'risk_score > 80.5 && risk_score < 81.5',
    'risk_score + (signals.hosting ? 25 : 0) >= 75',
    'network.asn > 0 && network.asn != 64496 && network.asn != 64497',
    'network.asn in [64496, 64511, 4294967295]',
    'location.latitude < -89.9 && location.longitude > 179.9',
    '(signals.vpn || classification == "vpn") && classification != "tor"',
    'classification == "tor" || classification == "vpn"',
    'location.country_code != "GB" && location.country_code != "IE"',
    'location.country < "B"',
    '["FR", "GB"].exists(version, location.country_code == version)',
    'size(reasons.filter(r, r.contains("tor"))) > 5',
    'bot.provider.startsWith("Example") && network.organization.endsWith("GmbH")',
    '"office" in lists && !("home" in lists)',
  ])('%s', (text) => {
    expect(warningsOf(text)).toEqual([])
  })
})

describe('a chain of comparisons of one member', () => {
  const compare = {
    '<': (value: number, literal: number) => value < literal,
    '<=': (value: number, literal: number) => value <= literal,
    '>': (value: number, literal: number) => value > literal,
    '>=': (value: number, literal: number) => value >= literal,
    '==': (value: number, literal: number) => value === literal,
    '!=': (value: number, literal: number) => value !== literal,
  } as const
  const operators = Object.keys(compare) as (keyof typeof compare)[]
  const scores = Array.from({ length: 101 }, (_, score) => score)

  it('has a warning exactly if it holds for all scores or for none', () => {
    const part = tuple(
      constantFrom(...operators),
      integer({ min: 1, max: 99 }),
      constantFrom('', '!'),
    )
    const parts = array(part, { minLength: 2, maxLength: 4 })
    assert(
      property(parts, constantFrom('&&', '||'), (chain, join) => {
        const text = chain.map(([op, literal, not]) => `${not}(risk_score ${op} ${literal})`)
        const holds = (score: number): boolean => {
          const each = chain.map(
            ([op, literal, not]) => compare[op](score, literal) !== (not === '!'),
          )
          return join === '&&' ? each.every(Boolean) : each.some(Boolean)
        }
        const isConstant = join === '&&' ? !scores.some(holds) : scores.every(holds)
        expect(warningsOf(text.join(` ${join} `)).length > 0, text.join(join)).toBe(isConstant)
      }),
      { numRuns: 2000 },
    )
  })
})
