// An optional member that is absent, not `undefined` (exactOptionalPropertyTypes), in an object
// literal: `{ ...optionalMember('name', name) }`.

/** `{ [name]: value }`, or nothing for `undefined`. */
export function optionalMember<K extends string, V>(
  name: K,
  value: V | undefined,
): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [P in K]: V })
}
