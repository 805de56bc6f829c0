// Checks options when a client or a middleware is created. A wrong one throws a TypeError with a
// stable code and a message that names the option and what it accepts, and never repeats a key.

export function optionError(sentence: string): TypeError {
  return Object.assign(new TypeError(`iprisk: ${sentence}`), { code: 'usage' })
}

/** Throws if `options` is not an object, or if a given option has the wrong type. */
export function checkOptionTypes(
  options: unknown,
  types: Readonly<Record<string, 'boolean' | 'function' | 'object' | 'string'>>,
): void {
  if (typeof options !== 'object' || options === null) {
    throw optionError('the options must be an object.')
  }
  for (const [name, type] of Object.entries(types)) {
    const value = (options as Readonly<Record<string, unknown>>)[name]
    if (value !== undefined && (typeof value !== type || value === null)) {
      throw optionError(`\`${name}\` must be of type ${type}; leave it out for the default.`)
    }
  }
}
