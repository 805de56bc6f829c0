// Text in aligned columns, for people who read a terminal or a log.

/** One line a row; columns from `rightFrom` on are figures, aligned right. */
export function alignColumns(
  rows: readonly (readonly string[])[],
  rightFrom: number,
): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  return rows.map((row) =>
    row
      .map((text, column) => {
        const width = widths[column] ?? 0
        return column < rightFrom ? text.padEnd(width) : text.padStart(width)
      })
      .join('  ')
      .trimEnd(),
  )
}
