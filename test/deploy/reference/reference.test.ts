// The reference against what it is made of: every part of the OpenAPI document is described, every
// example is one that the server could send, every word of an answer has its place on the page, and
// every link leads somewhere. Two validators that are not ours find the document right.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, describe, expect, it } from 'vitest'
import { apiErrorCodes, apiErrors, docUrl } from '../../../src/api/api-error.ts'
import { openApiDocument } from '../../../deploy/reference/openapi.ts'
import { classifications, signalNames, valueLists } from '../../../src/model/kind.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import {
  type Node,
  describedDocument,
  visitNodes,
} from '../../../deploy/reference/described-document.ts'
import { errorsPage } from '../../../deploy/reference/errors-page.ts'
import { examples } from '../../../deploy/reference/examples.ts'
import { escapeText, html, prose } from '../../../deploy/reference/html.ts'
import { pageText } from '../../../deploy/reference/page-frame.ts'
import { referencePage } from '../../../deploy/reference/reference-page.ts'
import { reasonCodes, reasonTexts } from '../../../src/score/points/reason-codes.ts'

const document = describedDocument()
const components = document['components'] as { readonly schemas: Record<string, Node> }
const paths = document['paths'] as Record<string, Record<string, Node>>
const assets = { style: 'docs.css', scripts: ['page.js', 'try-it.js'] }
const errorsText = readFileSync(join(packageRoot, 'docs/errors.md'), 'utf8')
const pages = {
  reference: pageText(referencePage(document), assets),
  errors: pageText(errorsPage(errorsText), assets),
}

const folder = mkdtempSync(join(tmpdir(), 'iprisk-reference-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function lint(api: object): { readonly status: number | null; readonly isValid: boolean } {
  const program = join(packageRoot, 'node_modules/@redocly/cli/bin/cli.js')
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(api))
  // It asks no other host.
  const environment = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const { status, stderr } = spawnSync(
    process.execPath,
    [program, 'lint', 'openapi.json', '--extends', 'recommended-strict'],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, ...environment } },
  )
  return { status, isValid: stderr.includes('Your API description is valid') }
}

/** Pairs of a name and a schema that stands there as a member. */
function membersWithin(value: unknown): readonly (readonly [string, Node])[] {
  const members: [string, Node][] = []
  visitNodes(value, (node) => {
    const { properties } = node
    if (node['type'] === 'object' && properties !== undefined) {
      members.push(...Object.entries(properties as Record<string, Node>))
    }
  })
  return members
}

/** The headers of all responses. */
const headers = Object.values(paths)
  .flatMap((item) => Object.values(item))
  .flatMap((operation) => Object.values(operation['responses'] as Record<string, Node>))
  .flatMap((response) => Object.entries((response['headers'] ?? {}) as Record<string, Node>))

describe('the OpenAPI document', () => {
  it('allows what src/api says, and only says more of it', () => {
    const bare = JSON.parse(
      JSON.stringify(document, (name, value: unknown) =>
        ['description', 'examples', 'x-enumDescriptions'].includes(name) ? undefined : value,
      ),
    ) as unknown
    const before = JSON.parse(
      JSON.stringify(openApiDocument, (name, value: unknown) =>
        ['description', 'examples'].includes(name) ? undefined : value,
      ),
    ) as unknown
    expect(bare).toEqual(before)
  })

  it('describes every member of every shape', () => {
    const members = membersWithin(components.schemas)
    expect(members.length).toBeGreaterThan(100)
    // What stands for a shape with a name is described there.
    const isSilent = ({ description, $ref, anyOf, oneOf }: Node): boolean =>
      description === undefined && $ref === undefined && anyOf === undefined && oneOf === undefined
    const shapes = Object.entries(components.schemas)
    expect(shapes.filter(([, { description }]) => !description).map(([name]) => name)).toEqual([])
    expect(members.filter(([, schema]) => isSilent(schema)).map(([name]) => name)).toEqual([])
  })

  it('describes every value of every list', () => {
    const silent: unknown[] = []
    let count = 0
    visitNodes(document, (node) => {
      const values = node['enum']
      if (!Array.isArray(values)) return
      count += 1
      const texts = Object.keys(node['x-enumDescriptions'] ?? {})
      if (values.some((value: unknown) => !texts.includes(String(value)))) silent.push(values)
    })
    expect(count).toBeGreaterThan(20)
    expect(silent).toEqual([])
  })

  it('describes every header, and names those of limits and errors', () => {
    expect(headers.filter(([, { description }]) => !description)).toEqual([])
    expect([...new Set(headers.map(([name]) => name))].toSorted()).toEqual([
      'Allow',
      'ETag',
      'Last-Modified',
      'RateLimit',
      'RateLimit-Policy',
      'Retry-After',
      'WWW-Authenticate',
      'X-Request-Id',
    ])
  })

  it('has an example for each classification, of its own shape', () => {
    const ajv = new Ajv2020({ strict: false, formats: { date: true, 'date-time': true } })
    ajv.addSchema({ components }, 'document')
    const isAnswer = ajv.getSchema('document#/components/schemas/CheckAnswer')!
    const isError = ajv.getSchema('document#/components/schemas/Error')!
    for (const { answer } of examples) {
      expect({ answer, right: isAnswer(answer) }).toEqual({ answer, right: true })
    }
    expect(new Set(examples.map(({ answer }) => answer.classification))).toEqual(
      new Set(classifications),
    )
    const shown: unknown[] = []
    visitNodes(paths, (node) => {
      const values = Object.values(
        (node['examples'] ?? {}) as Record<string, { value?: object | string }>,
      )
      for (const { value } of values)
        if (typeof value === 'object' && 'error' in value) shown.push(value)
    })
    const codes = new Set(shown.map((value) => (value as { error: { code: string } }).error.code))
    expect([...codes].toSorted()).toEqual(apiErrorCodes.toSorted())
    expect(shown.filter((value) => isError(value) !== true)).toEqual([])
  })

  it('is valid for openapi-schema-validator', async () => {
    const result = await new Validator().validate(JSON.parse(JSON.stringify(document)))
    expect(result).toMatchObject({ valid: true })
    const wrong = await new Validator().validate({ ...document, paths: { check: {} } })
    expect(wrong.valid).toBe(false)
  })

  it(
    'is clean for redocly, which finds an operation that nobody described',
    { timeout: 120_000 },
    () => {
      expect(lint(document)).toEqual({ status: 0, isValid: true })
      const silent = structuredClone(document)
      visitNodes(silent['paths'], (node) => {
        delete node['summary']
        delete node['operationId']
      })
      expect(lint(silent)).toEqual({ status: 1, isValid: false })
    },
  )
})

const idsOf = (text: string): readonly string[] =>
  [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)

describe('the pages', () => {
  it('have a place for every word of an answer', () => {
    const ids = idsOf(pages.reference)
    for (const code of reasonCodes) {
      expect(ids).toContain(`reason-${code}`)
      expect(pages.reference).toContain(prose(reasonTexts[code]).html)
    }
    for (const name of signalNames) expect(ids).toContain(`signal-${name}`)
    for (const name of classifications) expect(ids).toContain(`classification-${name}`)
    for (const code of apiErrorCodes) expect(ids).toContain(`error-${code}`)
    for (const [name] of headers) expect(ids).toContain(`header-${name.toLowerCase()}`)
    for (const values of Object.values(valueLists)) {
      for (const value of values) expect(pages.reference).toContain(`<code>${value}</code>`)
    }
  })

  it.each(apiErrorCodes)('doc_url of %s is a paragraph', (code) => {
    const [path, anchor = ''] = docUrl(code).split('#')
    expect(path).toBe('/docs/errors')
    expect(idsOf(pages.errors)).toContain(anchor)
  })

  it('say all that docs/errors.md says', () => {
    const words = (text: string): readonly string[] => text.match(/[\p{L}\p{N}_]{3,}/gu) ?? []
    const said = new Set(words(pages.errors.replaceAll('&quot;', '"').replaceAll('&#39;', "'")))
    const plain = errorsText.replaceAll(/\]\([^)]*\)/g, ']')
    expect(words(plain).filter((word) => !said.has(word))).toEqual([])
  })

  it('say the status of an error in the text, not as the number of a list', () => {
    for (const { status } of Object.values(apiErrors)) {
      expect(pages.errors).toMatch(new RegExp(`<p>${status}[.,] `))
    }
    expect(pages.errors).not.toContain('<ol')
  })

  it('lead somewhere by every link', () => {
    const ids: Readonly<Record<string, readonly string[]>> = {
      '/docs': idsOf(pages.reference),
      '/docs/errors': idsOf(pages.errors),
    }
    const wrong: string[] = []
    for (const [here, text] of [
      ['/docs', pages.reference],
      ['/docs/errors', pages.errors],
    ]) {
      const all = ids[here!]!
      expect(new Set(all).size).toBe(all.length)
      for (const [, link = ''] of text!.matchAll(/<a [^>]*href="([^"]*)"/g)) {
        const { pathname, hash, host } = new URL(link, `http://here${here}`)
        const target = ids[pathname]
        const leads =
          hash === ''
            ? target !== undefined || pathname === '/openapi.json'
            : target?.includes(hash.slice(1))
        if (host !== 'here' || leads !== true) wrong.push(`${here}: ${link}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('hold no script, style or handler of their own, and name no other host', () => {
    for (const text of Object.values(pages)) {
      expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|javascript:/i)
      expect(text.match(/(?:href|src)="https?:/g)).toBeNull()
    }
  })

  it('are at most 350 kB in all, before they are gzipped', () => {
    const own = [assets.style, ...assets.scripts].map((name) =>
      readFileSync(join(packageRoot, 'deploy/reference/assets', name), 'utf8'),
    )
    const bytes = Buffer.byteLength([...Object.values(pages), ...own].join(''))
    expect(bytes).toBeLessThanOrEqual(350_000)
  })

  it('show a sample answer for each classification', () => {
    for (const name of classifications) {
      const { answer } = examples.find((one) => one.answer.classification === name)!
      const text = escapeText(JSON.stringify(answer, undefined, 2))
      expect(pages.reference).toContain(`<code id="answer-${name}">${text}</code>`)
    }
  })

  it('escape what is put in them', () => {
    const text = `<img src=x onerror="y">&`
    expect(html`<p>${text}</p>`.html).toBe('<p>&lt;img src=x onerror=&quot;y&quot;&gt;&amp;</p>')
    expect(prose('`<b>`').html).toBe('<code>&lt;b&gt;</code>')
    expect(escapeText('a')).toBe('a')
  })
})
