// Text in aligned columns, for people who read a terminal or a log.

/** Columns from `rightFrom` on are figures, aligned right. */
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

/**
 * Cuts the texts of one column, with `…`, so that aligned lines fit into `width`; to no fewer than
 * `least`.
 */
export function fitColumn(
  rows: readonly (readonly string[])[],
  fit: { readonly column: number; readonly width: number; readonly least: number },
): readonly (readonly string[])[] {
  const { column, width, least } = fit
  const line = Math.max(...alignColumns(rows, Infinity).map(({ length }) => length))
  const widest = Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const most = Math.max(least, widest - Math.max(0, line - width))
  return rows.map((row) =>
    row.map((text, at) =>
      at === column && text.length > most ? `${text.slice(0, most - 1)}…` : text,
    ),
  )
}
