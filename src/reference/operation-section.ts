// The requests of the OpenAPI document, one section each: what to send, and what comes back.

import type { Node } from './described-document.ts'
import { type Html, code, html, prose, table } from './html.ts'
import type { Section } from './page-frame.ts'

interface Response {
  readonly description: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, { readonly schema: Node }>>
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly description: string
  }[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Node }>>
  }
  readonly responses: Readonly<Record<string, Response>>
}

function shapeLink(content: Response['content']): Html {
  const reference = content?.['application/json']?.schema['$ref']
  const name = typeof reference === 'string' ? (reference.split('/').at(-1) ?? '') : ''
  if (name !== '') return html`<a href="#shape-${name}">${name}</a>`
  return html`${Object.keys(content ?? {}).join(', ')}`
}

/** The paragraphs of a description, each code at the head of one as a link to its error. */
function meaning({ description }: Response): Html {
  const paragraphs = description.split('\n\n').map((text) => {
    const [, name, rest = ''] = /^`(\w+)`: ([^]*)$/.exec(text) ?? []
    if (name === undefined) return prose(text)
    return html`<a href="docs/errors#${name}">${code(name)}</a>: ${prose(rest)}`
  })
  return html`${paragraphs.map((one, i) => (i === 0 ? one : html`<br />${one}`))}`
}

function operationSection(method: string, path: string, operation: Operation): Section {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation
  const needsKey = operation.security === undefined
  const body =
    requestBody === undefined ? html`` : html` The body is ${shapeLink(requestBody.content)}.`
  return {
    id: `request-${operationId}`,
    title: summary,
    body: html`<p class="path"><strong>${method.toUpperCase()}</strong> ${code(path)}</p>
      <p>${needsKey ? 'It needs a key.' : 'It needs no key.'}${body} ${prose(description ?? '')}</p>
      ${
        parameters.length === 0
          ? html``
          : table(
              `Parameters of ${summary}`,
              ['parameter', 'in', 'meaning'],
              parameters.map((one) => ({
                cells: [code(one.name), html`${one.in}`, prose(one.description)],
              })),
            )
      }
      ${table(
        `Responses of ${summary}`,
        ['status', 'body', 'meaning', 'headers'],
        Object.entries(responses).map(([status, response]) => ({
          cells: [
            html`${status}`,
            shapeLink(response.content),
            meaning(response),
            html`${Object.keys(response.headers ?? {}).map(
              (name) => html`<a href="#header-${name.toLowerCase()}">${name}</a> `,
            )}`,
          ],
        })),
      )}`,
  }
}

export function operationSections(document: Node): readonly Section[] {
  const items = document['paths'] as Readonly<Record<string, Readonly<Record<string, Operation>>>>
  return Object.entries(items).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => operationSection(method, path, operation)),
  )
}
