// Long lists in messages: the first ones as they are, the others as their number.

/** `and 3 more`; `''` where none is left. */
export function moreText(left: number, numberText: (left: number) => string = String): string {
  return left > 0 ? `and ${numberText(left)} more` : ''
}

/** `a, b and 3 more`. */
export function joinFew(
  texts: readonly string[],
  max: number,
  { between = ', ', last = ' ' }: { readonly between?: string; readonly last?: string } = {},
): string {
  const shown = texts.slice(0, max).join(between)
  return texts.length > max ? `${shown}${last}${moreText(texts.length - max)}` : shown
}

/** The first `max` lines, and one for the others: `  and 3 more`. */
export function fewLines(lines: readonly string[], max: number, indent = '  '): readonly string[] {
  const shown = lines.slice(0, max)
  return lines.length > max ? [...shown, `${indent}${moreText(lines.length - max)}`] : shown
}
