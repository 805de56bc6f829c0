// Text in aligned columns.

/** Columns from `rightFrom` on are right-aligned figures. */
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

/** Shortens one column with `…`, to `least` or more, so that aligned lines fit into `width`. */
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
