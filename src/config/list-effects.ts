// What an own list can do to a score (contract 5.3).

/** `none`: a list is only a fact. */
export const listEffects = ['none', 'allow', 'block'] as const
export type ListEffect = (typeof listEffects)[number]
