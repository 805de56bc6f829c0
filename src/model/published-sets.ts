// The published sets (contract 6.3) that are built in, by their conditions. `bouncer` is what the
// policy `default` decides other than `allow`.

export const bouncerSetName = 'bouncer'

/** Of every set but the bouncers'. */
export const listPrefixesMax = 4_000_000

export const builtInSets: Readonly<Record<string, string>> = {
  tor: 'signals.tor',
  vpn: 'signals.vpn && !("vpn_inferred" in reasons)',
  proxy: 'signals.proxy',
  hosting: 'signals.hosting',
  'residential-proxy': 'signals.residential_proxy',
  'high-risk': 'risk_score >= 75',
}
