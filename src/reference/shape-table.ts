// The members of a shape as a table: one row each, members of members by their path
// (`evidence[].feed`), so that the whole shape is found by the page's own search.

import { type Html, code, html, prose, table } from './html.ts'
import { listOf } from './value-texts.ts'

/** What the shapes of the document use of JSON Schema. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly 'x-enumDescriptions'?: Readonly<Record<string, string>>
}

/** By name: a shape that is named in another one is described where it stands. */
type Shapes = Readonly<Record<string, Schema>>

interface Member {
  readonly path: string
  readonly type: Html
  readonly text: Html
}

/** A schema without what makes it null, and whether it may be. */
function unwrapped(schema: Schema): { readonly schema: Schema; readonly isNullable: boolean } {
  const { anyOf, oneOf, ...around } = schema
  const choices = anyOf ?? oneOf ?? []
  const others = choices.filter(({ type }) => type !== 'null')
  if (others.length !== 1) return { schema, isNullable: false }
  return { schema: { ...others[0], ...around }, isNullable: others.length < choices.length }
}

function nameOf({ $ref }: { readonly $ref?: string | undefined }): string | undefined {
  return $ref?.split('/').at(-1)
}

function typeText({ $ref, anyOf, oneOf, prefixItems, items, type, ...more }: Schema): Html {
  const name = nameOf({ $ref })
  if (name !== undefined) return html`<a href="#shape-${name}">${name}</a>`
  const choices = anyOf ?? oneOf
  if (choices !== undefined) {
    return choices.map(typeText).reduce((before, choice) => html`${before} or ${choice}`)
  }
  if (prefixItems !== undefined) return html`array of ${prefixItems.length}`
  if (items !== undefined) return html`array of ${typeText(items)}`
  const { format, minimum, maximum } = more
  const bounds = minimum === undefined || maximum === undefined ? '' : ` ${minimum}–${maximum}`
  const types = typeof type === 'string' ? type : (type ?? ['value']).join(' or ')
  return html`${format === 'date' ? 'day' : types}${bounds}`
}

/** Where the values of a schema are described on the page. */
function valuesText(schema: Schema): Html {
  const texts = schema['x-enumDescriptions'] ?? schema.items?.['x-enumDescriptions']
  if (texts === undefined) return html``
  const values = Object.keys(texts)
  if (values.length < 2) return html` ${values.map(code)}.`
  const list = listOf(values)?.name
  const isError = values.includes('rate_limit_exceeded')
  const others = isError ? 'errors' : 'reasons'
  const place = list === 'classification' ? 'classifications' : `values-${list}`
  return html` <a href="#${list === undefined ? others : place}">Its values</a>.`
}

function membersOf(
  { properties = {}, required = [] }: Schema,
  prefix: string,
  shapes: Shapes,
): readonly Member[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const { schema, isNullable } = unwrapped(property)
    const described = shapes[nameOf(schema) ?? '']?.description
    const [text = ''] = (schema.description ?? described ?? '').split('\n\n- ')
    const path = `${prefix}${name}`
    const always = required.includes(name) ? '' : ', where it applies'
    const row = {
      path,
      type: html`${typeText(schema)}${isNullable ? ' or null' : ''}${always}`,
      text: html`${prose(text)}${valuesText(schema)}`,
    }
    const { items } = schema
    const within =
      items === undefined
        ? membersOf(schema, `${path}.`, shapes)
        : membersOf(items, `${path}[].`, shapes)
    return [row, ...within]
  })
}

/** The table of a shape of the document's components. */
export function shapeTable(name: string, shapes: Shapes): Html {
  const rows = membersOf(shapes[name] ?? {}, '', shapes).map(({ path, type, text }) => ({
    cells: [code(path), type, text],
  }))
  return table(`Members of ${name}`, ['member', 'type', 'meaning'], rows)
}
