// Long lists in messages: the first items, then a count.

/** `and 3 more`; `''` for none. */
export const moreText = (left: number, numberText: (left: number) => string = String): string =>
  left > 0 ? `and ${numberText(left)} more` : ''

/** `a, b and 3 more`; `total` if `texts` are only the first. */
export function joinFew(
  texts: readonly string[],
  max: number,
  how: { readonly between?: string; readonly last?: string; readonly total?: number } = {},
): string {
  const { between = ', ', last = ' ', total = texts.length } = how
  const shown = texts.slice(0, max)
  const more = moreText(total - shown.length)
  return more === '' ? shown.join(between) : `${shown.join(between)}${last}${more}`
}

/** The last line may be `  and 3 more`; `total` if `lines` are only the first. */
export function fewLines(
  lines: readonly string[],
  max: number,
  indent = '  ',
  total = lines.length,
): readonly string[] {
  const shown = lines.slice(0, max)
  const more = moreText(total - shown.length)
  return more === '' ? shown : [...shown, `${indent}${more}`]
}
