// A table of Markdown, for every report: its first columns stand left, its figures right.

export function markdownTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  leftCount = 1,
): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const rule = heads.map((_, column) => (column < leftCount ? '---|' : '---:|'))
  return [line(heads), `|${rule.join('')}`, ...rows.map(line)]
}
