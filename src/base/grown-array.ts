// Typed arrays have no room to grow: a longer one takes their place.

/** A copy of `length` elements, not fewer than it has. */
export function grown<Column extends Uint32Array | Int32Array | Uint8Array>(
  column: Column,
  length: number,
): Column {
  const larger = new (column.constructor as new (length: number) => Column)(length)
  larger.set(column)
  return larger
}
