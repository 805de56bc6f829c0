// As much of JSON Schema as the OpenAPI document uses, and stricter than it in one point: members
// that the schema does not name are problems. The first problem as text, or `undefined`.

type Json = Readonly<Record<string, unknown>>

export function problemIn(
  value: unknown,
  schema: Json,
  schemas: Readonly<Record<string, Json>>,
  at = '$',
): string | undefined {
  const reference = schema['$ref']
  if (typeof reference === 'string') {
    const target = schemas[reference.replace('#/components/schemas/', '')]
    return target === undefined ? `${at}: no ${reference}` : problemIn(value, target, schemas, at)
  }
  const choices = schema['anyOf'] as readonly Json[] | undefined
  if (choices !== undefined) {
    const problems = choices.map((choice) => problemIn(value, choice, schemas, at))
    return problems.includes(undefined) ? undefined : problems.join(' and ')
  }
  const values = schema['enum'] as readonly unknown[] | undefined
  if (values !== undefined && !values.includes(value)) return `${at}: ${String(value)}`
  return problemOfType(value, schema, schemas, at)
}

function problemOfType(
  value: unknown,
  schema: Json,
  schemas: Readonly<Record<string, Json>>,
  at: string,
): string | undefined {
  const wrong = `${at} is no ${String(schema['type'])}: ${JSON.stringify(value)}`
  switch (schema['type']) {
    case 'null':
      return value === null ? undefined : wrong
    case 'string':
      if (typeof value !== 'string') return wrong
      return schema['format'] === 'date' && !/^\d{4}-\d\d-\d\d$/.test(value) ? wrong : undefined
    case 'boolean':
      return typeof value === 'boolean' ? undefined : wrong
    case 'integer':
    case 'number': {
      if (typeof value !== 'number' || !Number.isFinite(value)) return wrong
      if (schema['type'] === 'integer' && !Number.isInteger(value)) return wrong
      const { minimum = -Infinity, maximum = Infinity } = schema as {
        minimum?: number
        maximum?: number
      }
      return value < minimum || value > maximum ? wrong : undefined
    }
    case 'array': {
      if (!Array.isArray(value)) return wrong
      const items = schema['items'] as Json
      return value
        .map((item, i) => problemIn(item, items, schemas, `${at}[${i}]`))
        .find((problem) => problem !== undefined)
    }
    case 'object':
      return problemInObject(value, schema, schemas, at)
    default:
      return `${at}: a schema without a type`
  }
}

function problemInObject(
  value: unknown,
  schema: Json,
  schemas: Readonly<Record<string, Json>>,
  at: string,
): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${at}: no object`
  const properties = schema['properties'] as Readonly<Record<string, Json>>
  const missing = (schema['required'] as readonly string[]).find((name) => !(name in value))
  if (missing !== undefined) return `${at}: ${missing} is missing`
  for (const [name, inner] of Object.entries(value)) {
    const property = properties[name]
    if (property === undefined) return `${at}: ${name} is not described`
    const problem = problemIn(inner, property, schemas, `${at}.${name}`)
    if (problem !== undefined) return problem
  }
  return undefined
}
