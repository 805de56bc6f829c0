// Generates src/client/generated/wire-types.ts from the OpenAPI document, so that the client's
// types match what the server sends. `node deploy/write-client-types.mjs` writes the file; a test
// compares it. Only what our own schemas use is supported; the rest throws.

import { batchAddressesMax, paths } from '../../src/api/public-port.ts'

type Schema = Readonly<Record<string, unknown>>

const begin = `// Generated from the OpenAPI document by deploy/reference/client-types.ts; not to be changed by hand.
// Clients must ignore members that they do not know, and values of open-ended texts.
`

export function clientTypes(shapes: Readonly<Record<string, Schema>>): string {
  const constants = `export const checkPath = ${literal(paths.check)}
export const batchPath = ${literal(paths.batch)}
export const batchAddressesMax = ${batchAddressesMax}
`
  const types = Object.entries(shapes)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, shape]) => {
      const type = typeOf(shape, '')
      const isObject = shape['type'] === 'object'
      const declared = isObject ? `interface ${name} ${type}` : `type ${name} = ${type}`
      return `${comment(shape, '')}export ${declared}\n`
    })
  return [begin, constants, ...types].join('\n')
}

function typeOf(schema: Schema, indent: string): string {
  const { $ref, anyOf, oneOf, type } = schema
  if (typeof $ref === 'string') return $ref.split('/').at(-1) ?? ''
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices)) {
    return choices.map((choice: Schema) => typeOf(choice, indent)).join(' | ')
  }
  if ('const' in schema) return literal(schema['const'])
  if (Array.isArray(schema['enum'])) return schema['enum'].map(literal).join(' | ')
  if (Array.isArray(type)) {
    return type.map((one: string) => typeOf({ ...schema, type: one }, indent)).join(' | ')
  }
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return arrayType(schema, indent)
    case 'object':
      return objectType(schema, indent)
    default:
      throw new Error(`There is no TypeScript for the schema ${JSON.stringify(schema)}.`)
  }
}

function arrayType({ prefixItems, items }: Schema, indent: string): string {
  if (Array.isArray(prefixItems)) {
    const parts = prefixItems.map((item: Schema) => typeOf(item, indent))
    return `readonly [${parts.join(', ')}]`
  }
  const item = typeOf(items as Schema, indent)
  return `readonly ${item.includes(' | ') ? `(${item})` : item}[]`
}

function objectType({ properties, required = [] }: Schema, indent: string): string {
  const inner = `${indent}  `
  const members = Object.entries(properties as Readonly<Record<string, Schema>>).map(
    ([name, member]) => {
      const mark = (required as readonly string[]).includes(name) ? '' : '?'
      return `${comment(member, inner)}${inner}readonly ${/^\w+$/.test(name) ? name : `'${name}'`}${mark}: ${typeOf(member, inner)}\n`
    },
  )
  return `{\n${members.join('')}${indent}}`
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
}

function comment({ description }: Schema, indent: string): string {
  return typeof description === 'string' ? `${indent}/** ${description} */\n` : ''
}
