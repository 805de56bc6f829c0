// Style classes for colours, from a closed list: no text of a feed may become one.

import { classifications, kinds, levels } from '../../../model/kind.ts'

const kindTones: readonly string[] = [...classifications, ...kinds]

export const kindTone = (name: string): string =>
  `tone-${kindTones.includes(name) ? name : 'other'}`

export const levelTone = (level: string): string =>
  `level-${levels.find((one) => one === level) ?? 'low'}`

/** Keyed by the kind that begins the code. */
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
