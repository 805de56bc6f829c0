// JSON Schema for the administrative API's answers in /admin/openapi.json.

export const text = { type: 'string' } as const
export const whole = { type: 'integer' } as const
export const truth = { type: 'boolean' } as const
export const anyObject = { type: 'object' } as const
export const textOrNull = { type: ['string', 'null'] } as const
export const wholeOrNull = { type: ['integer', 'null'] } as const
export const objectOrNull = { type: ['object', 'null'] } as const

export const listOf = (items: object) => ({ type: 'array', items }) as const

/** Without `required`, all members are. */
export function shape<Properties extends Readonly<Record<string, object>>>(
  properties: Properties,
  required: readonly (keyof Properties)[] = Object.keys(properties),
) {
  const always = required.length === 0 ? {} : { required }
  return { type: 'object', ...always, properties } as const
}
