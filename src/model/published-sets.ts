// The built-in published sets, by condition. `bouncer` is what policy `default` does not allow.

export const bouncerSetName = 'bouncer'

/** For every set except the bouncers'. */
export const listPrefixesMax = 4_000_000

export const builtInSets: Readonly<Record<string, string>> = {
  tor: 'signals.tor',
  vpn: 'signals.vpn && !("vpn_inferred" in reasons)',
  proxy: 'signals.proxy',
  hosting: 'signals.hosting',
  'residential-proxy': 'signals.residential_proxy',
  'high-risk': 'risk_score >= 75',
}
