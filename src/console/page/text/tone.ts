// The colour of a class, kind, level or reason: the name of a class of the style sheet, chosen from
// a closed list, for no text of a feed may become one.

import { classifications, kinds, levels } from '../../../model/kind.ts'

const kindTones: readonly string[] = [...classifications, ...kinds]

/** Of a classification or a kind. */
export const kindTone = (name: string): string =>
  `tone-${kindTones.includes(name) ? name : 'other'}`

export const levelTone = (level: string): string =>
  `level-${levels.find((one) => one === level) ?? 'low'}`

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
