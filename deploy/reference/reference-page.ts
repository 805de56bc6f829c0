// /docs: the API's reference as one page, so that the browser's search finds everything. Most of it
// comes from the OpenAPI document.

import { apiErrorCodes, apiErrors } from '../../src/api/api-error.ts'
import { paths } from '../../src/api/public-port.ts'
import { reasonTexts } from '../../src/score/points/reason-codes.ts'
import type { Node } from './described-document.ts'
import { callsOf, curlPost } from './call-examples.ts'
import { addressOf, examples, testNumbers, testTexts } from './examples.ts'
import { code, codeBox, type Html, html, prose, table } from './html.ts'
import type { Page, Section } from './page-frame.ts'
import { classificationTexts, listOf, signalTexts, valueTexts } from './value-texts.ts'

const firstCall = `export IPRISK_KEY=irkt_…
${curlPost(paths.check, { ip: addressOf(6) })}`

const start: Section = {
  id: 'start',
  title: 'Quick start',
  body: html`<p>
      ${prose('`npx iprisk keys create --test` prints a test key. Send it as a bearer token, and the address as JSON:')}
    </p>
    ${codeBox(firstCall, 'curl')}
    <p>
      ${prose('`classification` names the kind of network, `risk_score` rates it from 0 to 100, and `signals` and `reasons` explain the score. Use them to decide when to ask a user for another factor. Set a short timeout, and never reject a login because this call failed.')}
    </p>
    <p>
      ${prose('The JavaScript examples on this page use `iprisk-client` and the Python examples `iprisk`; `npm run release:dry` in a clone of the project builds both packages. Every example reads the key from `IPRISK_KEY`.')}
    </p>
    <p>Answers gain members over time. Ignore members that you do not know.</p> `,
}

const keys: Section = {
  id: 'keys',
  title: 'Keys and test keys',
  body: html`<p>
      ${prose('The operator creates keys: `npx iprisk keys create --plan team` prints a key, `irk_…`, once. `npx iprisk keys create --test` prints a test key, `irkt_…`: it works on the same paths, allows ten requests a second without a quota, and refuses real addresses.')}
    </p>
    <p>
      ${prose('With a test key, the last number of an address in 198.18.0.0/24 or 2001:db8:0:1::/64 selects the answer, so you can test every path of your application:')}
    </p>
    ${table(
      'Test addresses',
      ['address', 'case', 'answers as'],
      testNumbers.map(([number, name]) => ({
        cells: [
          code(addressOf(number)),
          number === 99 ? html`all others` : code(name),
          prose(testTexts[name]),
        ],
      })),
    )}`,
}

const jsonOf = (value: unknown): string => JSON.stringify(value, undefined, 2)

function classifications(): Section {
  const names = Object.entries(classificationTexts)
  const parts = names.map(([name, text]) => {
    const example = examples.find(({ answer }) => answer.classification === name)
    return html`<h3 id="classification-${name}">${code(name)}</h3>
      <p>${prose(text)}</p>
      <details>
        <summary>Sample answer: ${name}</summary>
        ${codeBox(jsonOf(example?.answer), `Sample answer: ${name}`, { id: `answer-${name}` })}
      </details> `
  })
  return {
    id: 'classifications',
    title: 'Classifications',
    body: html`<p>
        Every answer has exactly one classification: the first that applies, in the order bogon,
        known_bot with high confidence, tor, mixed, residential_proxy, vpn, proxy, any other
        known_bot, hosting, clean.
      </p>
      ${parts}`,
    entries: names.map(([name]) => ({ id: `classification-${name}`, title: name })),
  }
}

function wordTable(
  label: string,
  heads: readonly [string, string],
  texts: Readonly<Record<string, string>>,
  prefix: string,
): Html {
  return table(
    label,
    heads,
    Object.entries(texts).map(([word, text]) => ({
      id: `${prefix}-${word === '' ? 'empty' : word.replace('/', '')}`,
      cells: [code(word === '' ? '""' : word), prose(text)],
    })),
  )
}

const signals: Section = {
  id: 'signals',
  title: 'Signals',
  body: html`<p>
      Signals are independent of each other: a VPN exit in a hosting network sets both vpn and
      hosting.
    </p>
    ${wordTable('Signals', ['signal', 'true when'], signalTexts, 'signal')}`,
}

const reasons: Section = {
  id: 'reasons',
  title: 'Reasons',
  body: html`<p>
      ${prose('Stable codes that explain the score. With `?include=insights`, each has its points.')}
    </p>
    ${wordTable('Reasons', ['reason', 'meaning'], reasonTexts, 'reason')}`,
}

const { classification: _shown, ...otherTexts } = valueTexts
const values: Section = {
  id: 'values',
  title: 'Other values',
  body: html`${Object.entries(otherTexts).map(
    ([name, texts]) =>
      html`<h3 id="values-${name}">${code(name)}</h3>
        ${wordTable(name, ['value', 'meaning'], texts, `value-${name}`)}`,
  )}`,
  entries: Object.keys(otherTexts).map((name) => ({ id: `values-${name}`, title: name })),
}

const errors: Section = {
  id: 'errors',
  title: 'Errors',
  body: html`<p>
      ${prose('An error is `{"error": {"code", "message", "param"?, "doc_url", "request_id"}}`. Branch on the code; the message is for people. `doc_url` is the path that the code links to below.')}
    </p>
    ${table(
      'Errors',
      ['code', 'status', 'meaning'],
      apiErrorCodes.map((name) => ({
        id: `error-${name}`,
        cells: [
          html`<a href="docs/errors#${name}">${code(name)}</a>`,
          html`${apiErrors[name].status}`,
          prose(apiErrors[name].message),
        ],
      })),
    )}
    <p>
      Errors are checked in this order: 404 and 405, 401, 403, 429 for the rate, 413 and 400, 429
      for the quota, 503. A rejected request spends no quota.
    </p>`,
}

function headers(operations: readonly NamedOperation[]): Section {
  const found = new Map<string, string>()
  for (const { operation } of operations) {
    for (const { headers = {} } of Object.values(operation.responses)) {
      for (const [name, { description }] of Object.entries(headers)) found.set(name, description)
    }
  }
  return {
    id: 'headers',
    title: 'Response headers',
    body: table(
      'Headers',
      ['header', 'meaning'],
      [...found].map(([name, text]) => ({
        id: `header-${name.toLowerCase()}`,
        cells: [code(name), prose(text)],
      })),
    ),
  }
}

/** The others follow. */
const shapesFirst = ['CheckAnswer', 'Network', 'Location', 'Proxy', 'Bot', 'Coverage', 'Insights']

function shapes(schemas: Shapes): Section {
  const names = [...new Set([...shapesFirst, ...Object.keys(schemas)])]
  return {
    id: 'shapes',
    title: 'Schemas',
    body: html`<p>
        A member is always present unless it is optional, and never null unless its type says so.
      </p>
      ${names.map(
        (name) =>
          html`<h3 id="shape-${name}">${name}</h3>
            ${shapeTable(name, schemas)}`,
      )}`,
    entries: names.map((name) => ({ id: `shape-${name}`, title: name })),
  }
}

export function referencePage(document: Node): Page {
  const { schemas } = document['components'] as { readonly schemas: Record<string, Schema> }
  const { summary } = document['info'] as { readonly summary: string }
  const operations = operationsOf(document)
  return {
    title: 'IP risk API reference',
    lead: html`<p class="lead">${summary}</p>
      <p>
        The OpenAPI 3.1 document is at
        <a href="${paths.openApi.slice(1)}">${paths.openApi}</a>.
      </p>`,
    sections: [
      start,
      keys,
      tryIt,
      ...operations.map(operationSection),
      classifications(),
      signals,
      reasons,
      values,
      headers(operations),
      errors,
      shapes(schemas),
    ],
    other: { href: paths.docsErrors.slice(1), title: 'All errors' },
    base: 'docs/',
  }
}

// One section for each request.

interface Media {
  readonly schema?: Schema
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}
type Content = Readonly<Record<string, Media>>

interface Response {
  readonly description: string
  readonly headers?: Readonly<Record<string, { readonly description: string }>>
  readonly content?: Content
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly Readonly<Record<'name' | 'in' | 'description', string>>[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}

function shapeLink(content: Content = {}): Html {
  const schema = content['application/json']?.schema
  if (schema?.$ref !== undefined || schema?.anyOf !== undefined) return typeText(schema)
  return html`${Object.keys(content).join(', ')}`
}

/** The code at the head of a paragraph links to its error. */
function meaning({ description }: Response): Html {
  const paragraphs = description.split('\n\n').map((text) => {
    const [, name, rest = ''] = /^`(\w+)`: ([^]*)$/.exec(text) ?? []
    if (name === undefined) return prose(text)
    return html`<a href="docs/errors#${name}">${code(name)}</a>: ${prose(rest)}`
  })
  return html`${paragraphs.map((one, i) => (i === 0 ? one : html`<br />${one}`))}`
}

/** Scripts show one language at a time. */
function callBoxes(path: string): Html {
  const { curl, javascript, python } = callsOf(path)
  const box = (text: string, language: string, label: string): Html =>
    codeBox(text, label, { attribute: html`data-language="${language}"` })
  return html`<div class="calls">
    ${box(curl, 'curl', 'curl')} ${box(javascript, 'JavaScript', 'JavaScript (example.mjs)')}
    ${box(python, 'Python', 'Python (example.py)')}
  </div>`
}

/** Scripts let the reader choose the classification that a check answers. */
function sampleBox({ operationId, responses }: Operation): Html {
  const [status = '', response] = Object.entries(responses)[0] ?? []
  const samples = Object.values(response?.content ?? {})[0]?.examples
  if (samples === undefined) return html``
  const { value } = samples['tor'] ?? Object.values(samples)[0]!
  const options = Object.keys(classificationTexts).map(
    (name) => html`<option ${name === 'tor' ? 'selected' : ''}>${name}</option>`,
  )
  const control =
    operationId === 'checkAddress'
      ? html`<select id="sample-name" aria-label="Sample answer for" hidden>
          ${options}
        </select>`
      : html``
  return html`<div>
    ${codeBox(typeof value === 'string' ? value : jsonOf(value), `Response ${status}`, { id: `sample-${operationId}`, control })}
  </div>`
}

function operationSection({ method, path, operation }: NamedOperation): Section {
  const { operationId, summary, description, parameters = [], requestBody } = operation
  const needsKey = operation.security?.length !== 0
  const body =
    requestBody === undefined ? html`` : html` Request body: ${shapeLink(requestBody.content)}.`
  return {
    id: `request-${operationId}`,
    title: summary,
    body: html`<p class="path"><strong>${method.toUpperCase()}</strong> ${code(path)}</p>
      <div class="call">
        <div>
          <p>
            ${needsKey ? 'Requires a key.' : 'Requires no key.'}${body} ${prose(description ?? '')}
          </p>
          ${callBoxes(path)}
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
        </div>
        ${sampleBox(operation)}
      </div>
      ${responseTable(operation)}`,
  }
}

function responseTable({ summary, responses }: Operation): Html {
  return table(
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
  )
}

type NamedOperation = ReturnType<typeof operationsOf>[number]

function operationsOf(document: Node) {
  const items = document['paths'] as Readonly<Record<string, Readonly<Record<string, Operation>>>>
  return Object.entries(items).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  )
}

// A shape's members as a table. Nested members have paths (`evidence[].feed`), so that the page's
// search finds them.

interface Schema {
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

/** Named shapes are described where they are defined. */
type Shapes = Readonly<Record<string, Schema>>

/** Strips `null`, and reports whether it was there. */
function unwrapped(schema: Schema): { readonly schema: Schema; readonly isNullable: boolean } {
  const { anyOf, oneOf, ...around } = schema
  const choices = anyOf ?? oneOf ?? []
  const others = choices.filter(({ type }) => type !== 'null')
  if (others.length !== 1) return { schema, isNullable: false }
  return { schema: { ...others[0], ...around }, isNullable: others.length < choices.length }
}

function nameOf({ $ref }: { readonly $ref?: unknown }): string | undefined {
  return typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined
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

function valuesText(schema: Schema): Html {
  const texts = schema['x-enumDescriptions'] ?? schema.items?.['x-enumDescriptions']
  if (texts === undefined) return html``
  const values = Object.keys(texts)
  if (values.length < 2) return html` ${values.map(code)}.`
  const list = listOf(values)?.name
  const isError = values.includes('rate_limit_exceeded')
  const others = isError ? 'errors' : 'reasons'
  const place = list === 'classification' ? 'classifications' : `values-${list}`
  return html` <a href="#${list === undefined ? others : place}">Values</a>.`
}

function membersOf(
  { properties = {}, required = [] }: Schema,
  prefix: string,
  shapes: Shapes,
): readonly { readonly path: string; readonly cells: readonly Html[] }[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const { schema, isNullable } = unwrapped(property)
    const described = shapes[nameOf(schema) ?? '']?.description
    const [text = ''] = (schema.description ?? described ?? '').split('\n\n- ')
    const path = `${prefix}${name}`
    const always = required.includes(name) ? '' : ', optional'
    const type = html`${typeText(schema)}${isNullable ? ' or null' : ''}${always}`
    const cells = [type, html`${prose(text)}${valuesText(schema)}`]
    const [within, below] = schema.items ? [schema.items, '[].'] : [schema, '.']
    return [{ path, cells }, ...membersOf(within, `${path}${below}`, shapes)]
  })
}

function shapeTable(name: string, shapes: Shapes): Html {
  const rows = membersOf(shapes[name] ?? {}, '', shapes).map(({ path, cells }) => ({
    id: `member-${name}-${path.replaceAll('[]', '')}`,
    cells: [code(path), ...cells],
  }))
  return table(`Members of ${name}`, ['member', 'type', 'meaning'], rows)
}

// The form that assets/try-it.js drives. Its URLs are relative, so that a proxy's prefix is kept.

const tryItForm: Html = html`<p>
    Sends a check to the server that served this page. Only test keys are accepted: a production key
    does not belong in a web page. The key is discarded when you leave the page.
  </p>
  <form id="try-form" data-path="${paths.check.slice(1)}" hidden>
    <p>
      <label for="try-key">Test key</label>
      <input
        id="try-key"
        name="key"
        type="password"
        autocomplete="off"
        spellcheck="false"
        required
        aria-describedby="try-key-help"
      />
      <span id="try-key-help" class="help">From <code>npx iprisk keys create --test</code></span>
    </p>
    <p>
      <label for="try-case">Case</label>
      <select id="try-case">
        ${testNumbers.map(
          ([number, name]) =>
            html`<option value="${addressOf(number)}">
              ${addressOf(number)}: ${testTexts[name]}
            </option>`,
        )}
      </select>
    </p>
    <p>
      <label for="try-address">Address</label>
      <input
        id="try-address"
        name="address"
        autocomplete="off"
        spellcheck="false"
        required
        value="${addressOf(1)}"
      />
    </p>
    <p><button type="submit">Send</button></p>
  </form>
  <p id="try-status" role="status"></p>
  <div id="try-result" hidden>
    ${codeBox('', 'Status and headers', { id: 'try-headers' })}
    ${codeBox('', 'Body', { id: 'try-body' })}
  </div>
  <noscript><p>Scripts are off in this browser. Use the curl call above instead.</p></noscript> `

const tryIt: Section = { id: 'try', title: 'Try it', body: tryItForm }
