// The OpenAPI document as served: openapi.ts with the meanings of values, signals and
// reasons, and with examples that a test key really gets. What schemas allow stays unchanged.

import { type ApiErrorCode, apiErrorCodes, apiErrors } from '../../src/api/api-error.ts'
import type { CheckAnswer } from '../../src/api/check-answer.ts'
import { invalidAddressJson } from '../../src/api/input-fault.ts'
import { paths as publicPaths } from '../../src/api/public-port.ts'
import { reasonTexts } from '../../src/score/points/reason-codes.ts'
import { batchIps } from './call-examples.ts'
import { decisionsExample, errorExample, examples, metaExample, testTexts } from './examples.ts'
import { openApiDocument } from './openapi.ts'
import { listOf, networkTypeTexts, signalTexts } from './value-texts.ts'

export interface Node {
  [name: string]: unknown
}

const errorTexts: Readonly<Record<string, string>> = Object.fromEntries(
  apiErrorCodes.map((code) => [code, apiErrors[code].message]),
)

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function visitNodes(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) for (const one of value) visitNodes(one, visit)
  else if (isNode(value)) {
    visit(value)
    for (const one of Object.values(value)) visitNodes(one, visit)
  }
}

/** In the description, and one by one for tools. */
function describeValues(schema: Node, texts: Readonly<Record<string, string>>): void {
  const rows = Object.entries(texts).map(([value, text]) => `- \`${value || '""'}\`: ${text}`)
  const { description } = schema
  schema['description'] = [description, rows.join('\n')].filter(Boolean).join('\n\n')
  schema['x-enumDescriptions'] = texts
}

function describeEnum(schema: Node): void {
  const values = schema['enum']
  if (!Array.isArray(values) || schema['x-enumDescriptions'] !== undefined) return
  const known = values.every((value: string) => Object.hasOwn(errorTexts, value))
  const texts = known
    ? Object.fromEntries(values.map((value: string) => [value, errorTexts[value] ?? '']))
    : listOf(values)?.texts
  if (texts !== undefined) describeValues(schema, texts)
}

/** Throws if there is none. */
function nodeAt(from: Node, ...names: readonly string[]): Node {
  let node = from
  for (const name of names) {
    const next = node[name]
    if (!isNode(next)) throw new Error(`The document has no ${names.join('.')}.`)
    node = next
  }
  return node
}

function describeAnswer(schemas: Node): void {
  const properties = nodeAt(schemas, 'CheckAnswer', 'properties')
  const signals = nodeAt(properties, 'signals', 'properties')
  for (const [name, text] of Object.entries(signalTexts)) {
    nodeAt(signals, name)['description'] = text
  }
  const reason = nodeAt(properties, 'reasons', 'items')
  describeValues(reason, reasonTexts)
  reason['examples'] = Object.keys(reasonTexts)
  describeValues(nodeAt(schemas, 'Network', 'properties', 'type'), networkTypeTexts)
}

function mediaOf(response: Node): Node | undefined {
  const content = response['content']
  const media = isNode(content) ? content['application/json'] : undefined
  return isNode(media) ? media : undefined
}

function exampleErrors(response: Node): void {
  const media = mediaOf(response)
  const schema = media?.['schema']
  if (media === undefined || !isNode(schema)) return
  const isBouncers = schema['$ref'] === '#/components/schemas/BouncerError'
  if (!isBouncers && schema['$ref'] !== '#/components/schemas/Error') return
  // The description names each code in backticks at the head of a paragraph.
  const errors = [...String(response['description']).matchAll(/^`(\w+)`: (.*)$/gm)]
  media['examples'] = Object.fromEntries(
    errors.map(([, code = '', message = '']) => [
      code,
      {
        summary: `${apiErrors[code as ApiErrorCode].status} ${code}`,
        value: errorExample(code as ApiErrorCode, { message, isBouncers }),
      },
    ]),
  )
}

function exampleAnswers(paths: Node): void {
  const examplesOf = (valueOf: (answer: CheckAnswer) => unknown): object =>
    Object.fromEntries(
      examples.map(({ name, answer }) => [
        name,
        { summary: testTexts[name], value: valueOf(answer) },
      ]),
    )
  const giveExamples = (
    path: string,
    status: string,
    examples: object,
    [method, type]: readonly [string, string] = ['post', 'application/json'],
  ): void => {
    nodeAt(paths, path, method, 'responses', status, 'content', type)['examples'] = examples
  }
  const { check, batch, feedback, meta, lists, decisions, decisionStream } = publicPaths
  nodeAt(paths, check, 'post', 'requestBody', 'content', 'application/json')['examples'] =
    examplesOf(({ ip }) => ({ ip }))
  giveExamples(
    check,
    '200',
    examplesOf((answer) => answer),
  )
  const results = batchIps.map((ip): unknown => {
    const example = examples.find(({ answer }) => answer.ip === ip)
    return example?.answer ?? JSON.parse(invalidAddressJson(ip))
  })
  giveExamples(batch, '200', {
    three: { summary: 'two answers, and an element that is not an address', value: { results } },
  })
  giveExamples(feedback, '202', { one: { summary: 'one outcome', value: { accepted: 1 } } })
  const get = ['get', 'application/json'] as const
  const stream = { new: decisionsExample, deleted: null }
  giveExamples(meta, '200', { team: { summary: 'a key of a team', value: metaExample } }, get)
  giveExamples(decisions, '200', { ban: { summary: 'a ban', value: decisionsExample } }, get)
  giveExamples(decisionStream, '200', { ban: { summary: 'a new ban', value: stream } }, get)
  const plain = { summary: 'lines', value: '198.51.100.7\n203.0.113.0/24\n' }
  giveExamples(`${lists}{name}`, '200', { plain }, ['get', 'text/plain'])
}

/** A new one at each call. */
export function describedDocument(): Node {
  // The copy shares no parts, so each can be described by itself.
  const own = JSON.parse(JSON.stringify(openApiDocument)) as Node
  describeAnswer(nodeAt(own, 'components', 'schemas'))
  visitNodes(own, describeEnum)
  const paths = nodeAt(own, 'paths')
  visitNodes(paths, exampleErrors)
  exampleAnswers(paths)
  return own
}
