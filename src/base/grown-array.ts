// Longer copies of typed arrays, which cannot grow in place.

/** A copy with `length` elements. */
export function grown<Column extends Uint32Array | Int32Array | Uint8Array>(
  column: Column,
  length: number,
): Column {
  const larger = new (column.constructor as new (length: number) => Column)(length)
  larger.set(column)
  return larger
}
