// The colour of a class, kind, level or reason: the name of a class of the style sheet, chosen from
// a closed list, for no text of a feed may become one.

const kindTones = [
  'residential_proxy',
  'known_bot',
  'blocklist',
  'hosting',
  'bogon',
  'clean',
  'mixed',
  'proxy',
  'relay',
  'bot',
  'tor',
  'vpn',
] as const

const levelTones = ['low', 'medium', 'high', 'very_high', 'critical'] as const

/** Of a classification or a kind. */
export function kindTone(name: string): string {
  const known = kindTones.find((one) => one === name)
  return `tone-${known ?? 'other'}`
}

export function levelTone(level: string): string {
  const known = levelTones.find((one) => one === level)
  return `level-${known ?? 'low'}`
}

/** Of a reason: that of the kind with which its code begins. */
export function reasonTone(code: string): string {
  return kindTone(kindTones.find((kind) => code.startsWith(kind)) ?? '')
}

const actionTones: Readonly<Record<string, string>> = {
  allow: 'tone-clean',
  challenge: 'tone-proxy',
  block: 'tone-blocklist',
}

export const actionTone = (action: string): string =>
  Object.hasOwn(actionTones, action) ? actionTones[action]! : 'tone-other'
