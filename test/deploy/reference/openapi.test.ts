// The OpenAPI document against what really goes out, and against the tables that it is built from.

import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decisionJson } from '../../../src/adapters/crowdsec/decision.ts'
import { apiErrorCodes, apiErrors, errorBody } from '../../../src/api/api-error.ts'
import { openApiDocument } from '../../../deploy/reference/openapi.ts'
import { metaOf } from '../../../src/http/endpoint/meta-endpoint.ts'
import { cutBatchBody } from '../../../src/pool/batch-body.ts'
import { answerBatchPiece } from '../../../src/pool/run-task.ts'
import { answerWithInsights } from '../../../src/table/explain/insights.ts'
import { type OpenTable, openTable } from '../../../src/table/open-table.ts'
import { writeSmallTable } from '../../table/small-table.ts'

const document = JSON.parse(JSON.stringify(openApiDocument)) as typeof openApiDocument
const { schemas } = document.components

/** Stricter than the document in one point: a member that it does not name is an error. */
const strict = JSON.parse(JSON.stringify(document), (_name, value) =>
  value?.type === 'object' && 'properties' in value
    ? { ...value, additionalProperties: false }
    : value,
) as typeof openApiDocument

const ajv = new Ajv2020({
  keywords: ['components'],
  formats: {
    date: /^\d{4}-\d\d-\d\d$/,
    'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
  },
})
  .addSchema({ components: document.components }, 'document')
  .addSchema({ components: strict.components }, 'strict')

/** What is wrong with a value, by its shape's name; `undefined` where nothing is. */
function problem(
  value: unknown,
  name: keyof typeof schemas,
  by: 'document' | 'strict' = 'strict',
): string | undefined {
  const validate = ajv.getSchema(`${by}#/components/schemas/${name}`)!
  return validate(JSON.parse(JSON.stringify(value))) ? undefined : JSON.stringify(validate.errors)
}

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, { readonly description: string } | undefined>>
}

let table: OpenTable

beforeAll(() => {
  table = openTable(writeSmallTable())
})

afterAll(() => table.close())

describe('the document', () => {
  it('describes every answer of a table', () => {
    const addresses = [
      ['9.1.2.3', '9.5.5.5', '9.9.9.9', '9.200.0.1', '9.77.0.1', '11.1.1.1', '11.2.2.2'],
      ['11.66.0.1', '12.0.0.5', '12.0.0.6', '127.0.0.1', '8.8.8.8', '::ffff:9.1.2.3', '::1'],
      ['2a00:1:2:3::9', '2a01:4f8::1', '2A01:4F8::2', '2a02::', '2002:0b01:0102::1'],
    ].flat()
    const kinds = new Set<string>()
    for (const address of addresses) {
      const answer = table.check(address)
      expect({ address, problem: problem(answer, 'CheckAnswer') }).toEqual({ address })
      kinds.add(answer!.classification)
    }
    expect(kinds.size).toBeGreaterThan(5)
  })

  it('describes insights and batches', () => {
    for (const address of [
      '9.1.2.3',
      '11.1.1.1',
      '12.0.0.5',
      '10.0.0.1',
      '2a01:4f8::3',
      '2c00::',
    ]) {
      const answer = answerWithInsights({ ...table, builtMs: 0 }, address)
      expect({ address, problem: problem(answer, 'CheckAnswer') }).toEqual({ address })
      const { insights } = answer!
      expect(problem({ ...insights, more: 1 }, 'Insights')).toContain('more')
    }
    const body = Buffer.from('{"ips":["9.1.2.3","x",7]}')
    const { json } = answerBatchPiece(table, cutBatchBody(body).rewritten!)
    const results = JSON.parse(`[${Buffer.from(json).toString()}]`) as object[]
    expect(problem({ results }, 'BatchAnswer')).toBeUndefined()
    expect(problem({ results: [{ ip: 'x' }] }, 'BatchAnswer')).toContain('results')
  })

  it('describes the meta answer', () => {
    const limits = {
      rate: { per_second: 1, burst: 2, remaining: 1, reset_seconds: 1 },
      quota: null,
    }
    const key = { id: 'a', plan: 'team', apis: ['ip-risk'], insights: 'never', limits }
    const answer = metaOf(table, key, Date.now())
    expect(problem(answer, 'Meta')).toBeUndefined()
  })

  it('describes decisions of bouncers, and their errors', () => {
    const decided = { action: 'block', rule: 'tor', value: '9.1.2.3', durationMs: 1000 }
    const one = JSON.parse(decisionJson(1, decided)) as object
    expect(problem(one, 'BouncerDecision')).toBeUndefined()
    expect(problem({ new: [one], deleted: null }, 'DecisionStream')).toBeUndefined()
    const error = errorBody('invalid_input', 'a', { isBouncers: true })
    expect(problem(JSON.parse(error), 'BouncerError')).toBeUndefined()
    expect(problem(JSON.parse(error), 'Error')).toContain('message')
  })

  it('describes every error', () => {
    for (const code of apiErrorCodes) {
      expect(problem(JSON.parse(errorBody(code, 'a')), 'Error')).toBeUndefined()
    }
  })

  it('would not pass an answer with a member too many, too few or of another type', () => {
    const answer = table.check('9.1.2.3')!
    expect(problem({ ...answer, more: 1 }, 'CheckAnswer')).toContain('more')
    expect(problem({ ...answer, ip: undefined }, 'CheckAnswer')).toContain("required property 'ip'")
    expect(problem({ ...answer, risk_score: 101 }, 'CheckAnswer')).toContain('risk_score')
    expect(problem({ ...answer, classification: 'x' }, 'CheckAnswer')).toContain('classification')
    expect(problem({ ...answer, network: { asn: 1 } }, 'CheckAnswer')).toContain('network')
  })

  it('lets answers gain members', () => {
    const answer = table.check('9.1.2.3')!
    expect(problem({ ...answer, more: 1 }, 'CheckAnswer', 'document')).toBeUndefined()
    expect(
      problem({ results: [{ ...answer, more: 1 }] }, 'BatchAnswer', 'document'),
    ).toBeUndefined()
    expect(JSON.stringify(document)).not.toContain('additionalProperties')
  })

  it('names every error status of the check, and its codes', () => {
    const { responses } = document.paths['/v1/intelligence/ip-risk/check'].post
    const texts = responses as Readonly<Record<string, { readonly description: string }>>
    const others = ['not_found', 'set_too_large']
    for (const code of apiErrorCodes.filter((code) => !others.includes(code))) {
      expect(texts[apiErrors[code].status]?.description).toContain(code)
    }
    expect(Object.keys(texts)).toEqual([
      '200',
      '400',
      '401',
      '403',
      '405',
      '413',
      '429',
      '500',
      '503',
    ])
  })

  it('says of every path, GETs too, that a body may be too large', () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
    for (const {
      operationId,
      responses,
    } of operations as readonly unknown[] as readonly Operation[]) {
      expect([operationId, responses['413']?.description]).toEqual([
        operationId,
        expect.stringContaining('payload_too_large'),
      ])
    }
  })

  it('refers only to schemas that exist', () => {
    const text = JSON.stringify(document)
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      expect(schemas).toHaveProperty(name!)
    }
  })
})

describe('errors', () => {
  it('have the statuses of the contract', () => {
    expect(Object.fromEntries(apiErrorCodes.map((code) => [code, apiErrors[code].status]))).toEqual(
      {
        invalid_input: 400,
        invalid_api_key: 401,
        api_not_enabled_for_plan: 403,
        token_not_allowed_for_api: 403,
        not_found: 404,
        method_not_allowed: 405,
        payload_too_large: 413,
        set_too_large: 422,
        rate_limit_exceeded: 429,
        api_quota_exceeded: 429,
        internal_error: 500,
        upstream_unavailable: 503,
      },
    )
  })
})
