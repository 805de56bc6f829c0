// Long lists in messages: the first ones as they are, the others as their number.

/** `and 3 more`; `''` where none is left. */
export function moreText(left: number, numberText: (left: number) => string = String): string {
  return left > 0 ? `and ${numberText(left)} more` : ''
}

/** `a, b and 3 more`; `total` where `texts` are the first of more. */
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

/** And one for the others: `  and 3 more`; `total` where `lines` are the first of more. */
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
